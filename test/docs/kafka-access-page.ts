import { ACCESS_LABELS, type AccessOf, KAFKA_ACCESS } from '../support/kafka-access.ts';

const HEAD = '| right | on | why |\n| --- | --- | --- |';

function tableOf({ rights }: AccessOf): string {
  const rows = rights.map(({ operation, on, why, isOptional = false }) => {
    const note = isOptional ? ' (optional: without it the command says less)' : '';
    return `| ${operation} | ${ACCESS_LABELS[on]} | ${why}${note} |`;
  });
  return [HEAD, ...rows].join('\n');
}

/** Everything of docs/kafka-access.md behind its title: what to do, then a table a command. */
export function accessParts(): readonly string[] {
  return [
    [
      'Give the principal of the connector exactly these rights, where the brokers have an authorizer. Each table is all that the command needs: tests grant it and nothing else to a real broker with its `StandardAuthorizer`, and take each right of `run` away in turn. ',
      'Rights of flows that do not run can be left out (the first word of the reason names the flow). Read, Write and Delete include Describe. How to log in at the brokers: [Kafka security](kafka-security.md).',
    ].join(''),
    [
      'Nothing here wants more: no right on the cluster (but for one optional line of `check`), no Create, Alter or IdempotentWrite for `run`. Let `topics create` be run by somebody else, or make the topics your way ([topics](topics.md)).',
    ].join(''),
    [
      '```',
      'kafka-acls.sh --bootstrap-server kafka:9093 --command-config admin.properties --add \\',
      '  --allow-principal User:connector --operation Read --topic payments.created',
      'kafka-acls.sh --bootstrap-server kafka:9093 --command-config admin.properties --add \\',
      '  --allow-principal User:connector --operation Read --group fraud-connector',
      'kafka-acls.sh --bootstrap-server kafka:9093 --command-config admin.properties --add \\',
      '  --allow-principal User:connector --operation Read --group fraud-connector-replay- --resource-pattern-type prefixed',
      '```',
    ].join('\n'),
    [
      '## Where a right is missing\n\nNothing is lost and nothing ends: it is the hold `kafka` (for dead letters `dead_letter_topic`), and it ends by itself within 20 s of the right being granted. ',
      'The event `hold_started` names what is missing in `error`, for example `KafkaJSProtocolError TOPIC_AUTHORIZATION_FAILED (missing ACL: Describe on topic payments.created)`; for a topic that is written the event `writer_retry` does. Commands end with the same words and exit code 1; `replay` and `dlq redrive` wait for the right, as `run` does. ',
      'Read and Describe look alike until records are fetched: with Describe alone the connector joins, is refused at its first fetch, says `missing ACL: Read on topic` with the topics that it reads, and tries again.',
    ].join(''),
    ...KAFKA_ACCESS.flatMap((of) => [`## \`${of.command}\``, tableOf(of)]),
    [
      '## What it does not do\n\n`check` sees rights to describe only: whether records may be read and written shows when they are. ',
      'It cannot tell a topic that is missing from one that it may not describe where the brokers hide that.',
    ].join(''),
  ];
}
