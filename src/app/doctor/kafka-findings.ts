import { type Config } from '../../config/config.ts';
import { type ConnectionTrouble, type Named, troubleOf } from './connection-trouble.ts';
import { type Finding, ok, skipped, warn, wrong } from './finding.ts';
import { type AddressSeen, type ClusterSeen, type KafkaSeen, type StartSeen, type TopicSeen } from './seen.ts';

/** Copies with which the loss of one broker loses nothing and stops nothing. */
const SAFE_REPLICAS = 3;
const DAY_MS = 86_400_000;
/** Letters are for people to look at: after a week's holiday they should still be there. */
const LETTERS_LEAST_MS = 7 * DAY_MS;
/** What Kafka itself takes with a commit unless told otherwise. */
const OFFSET_METADATA_BYTES = 4096;
const DEFAULT_PARTITIONS = 12;

/** What is to be said of the brokers, the topics and the group. */
export function kafkaFindings(config: Config, { bootstrap, cluster }: KafkaSeen): readonly Finding[] {
  const addresses = bootstrapFindings(bootstrap);
  if (bootstrap.every(({ error }) => error !== null))
    return [...addresses, skipped('cluster', 'cluster, topics, group (no broker can be reached)')];
  if ('failed' in cluster)
    return [
      ...addresses,
      wrong('cluster', `Kafka does not answer as it should: ${cluster.failed}`, mendOf(cluster.failed)),
      skipped('topics', 'topics, group (Kafka does not answer)'),
    ];
  return [
    ...addresses,
    ...clusterFindings(cluster),
    ...topicFindings(config, cluster),
    metadataFinding(cluster.offsetMetadataMaxBytes),
    ...cluster.starts.map((start) => startFinding(config, start)),
  ];
}

function bootstrapFindings(bootstrap: readonly AddressSeen[]): readonly Finding[] {
  const dead = bootstrap.filter(({ error }) => error !== null);
  if (dead.length === 0)
    return [ok('brokers', `KAFKA_BROKERS: ${bootstrap.map(({ address }) => address).join(', ')} can be reached`)];
  return dead.map(({ address, error }) => {
    const trouble = brokerTrouble(String(error));
    const text = `KAFKA_BROKERS: ${address} cannot be ${trouble === null ? 'reached' : 'used'}: ${trouble === null ? '' : `${trouble.text}: `}${String(error)}`;
    const mend = trouble?.mend ?? 'look at the broker and the network between, or leave the address out';
    return dead.length === bootstrap.length ? wrong('brokers', text, mend) : warn('brokers', text, mend);
  });
}

const SASL = 'KAFKA_SASL_MECHANISM';
const BROKERS: Named = {
  url: 'KAFKA_BROKERS',
  authorities: 'KAFKA_TLS_CA_FILE',
  pair: 'KAFKA_TLS_CERT_FILE and KAFKA_TLS_KEY_FILE',
};

/** What is wrong with how brokers are spoken to; null: they cannot be reached at all. */
function brokerTrouble(error: string): ConnectionTrouble | null {
  switch (error) {
    case 'PEER_SPEAKS_TLS':
      return { text: 'it speaks TLS', mend: 'set KAFKA_TLS=true, or give the port of a listener without TLS' };
    case 'PEER_SPEAKS_PLAIN_TEXT':
      return { text: 'it speaks plain text', mend: 'give the port of a listener with TLS, or set KAFKA_TLS=false' };
    case 'EPROTO':
      return { text: 'what answers there does not speak TLS', mend: 'look at the port' };
    case 'PEER_ENDED_TLS_HANDSHAKE':
      return {
        text: 'it ended the TLS handshake',
        mend: 'look at the log of the broker: it may want a certificate (KAFKA_TLS_CERT_FILE), or speak no TLS at this port',
      };
    default:
      return troubleOf(BROKERS, error);
  }
}

/** Ends of what Kafka's client says, and what to do. */
const MENDS: readonly (readonly [error: RegExp, mend: string])[] = [
  [/missing ACL/, 'grant what is missing: docs/kafka-access.md has the rights of each command'],
  [/AUTHORIZATION_FAILED/, 'grant the rights of docs/kafka-access.md'],
  [
    /SASL_AUTHENTICATION_FAILED/,
    'give the right KAFKA_SASL_USERNAME and KAFKA_SASL_PASSWORD, or look at who may log in at the brokers',
  ],
  [/UNSUPPORTED_SASL_MECHANISM/, `give a ${SASL} that this listener has (sasl.enabled.mechanisms of the broker)`],
  [
    /ILLEGAL_SASL_STATE/,
    `this listener asks nobody who they are: leave ${SASL} out, or give the port of one that does`,
  ],
  [
    /OAUTH_TOKEN_REFUSED/,
    'give the right KAFKA_SASL_OAUTH_CLIENT_ID, KAFKA_SASL_OAUTH_CLIENT_SECRET and KAFKA_SASL_OAUTH_SCOPE',
  ],
  [/OAUTH_TOKEN_UNUSABLE/, 'look at KAFKA_SASL_OAUTH_TOKEN_URL: its answer holds no access_token that can be used'],
  [/OAUTH_TOKEN_UNREACHABLE/, 'look at KAFKA_SASL_OAUTH_TOKEN_URL and at the network between'],
  [/KafkaJSConnectionClosedError\.?$/, `the brokers end the connection: they may ask who we are (${SASL})`],
];

function mendOf(failed: string): string {
  const known = MENDS.find(([error]) => error.test(failed))?.[1];
  return (
    known ??
    brokerTrouble(failed)?.mend ??
    'look at KAFKA_BROKERS, at their listeners (KAFKA_TLS, KAFKA_SASL_MECHANISM), and at the brokers'
  );
}

function clusterFindings({ id, brokers }: ClusterSeen): readonly Finding[] {
  const dead = brokers.filter(({ error }) => error !== null);
  const count = `${String(brokers.length)} broker${brokers.length === 1 ? '' : 's'}`;
  if (dead.length === 0) return [ok('cluster', `cluster ${id}: ${count}, each can be reached`)];
  return dead.map(({ address, error }) =>
    wrong(
      'cluster',
      `cluster ${id}: it sends clients to ${address}, which cannot be reached from here: ${String(error)}`,
      brokerTrouble(String(error))?.mend ??
        'look at that broker, and at its advertised.listeners: the address has to be right as seen from here',
    ),
  );
}

function topicFindings(config: Config, { topics, brokers }: ClusterSeen): readonly Finding[] {
  const there = topics.filter(({ partitions }) => partitions > 0);
  const missing = topics.filter(({ partitions }) => partitions === 0);
  const like = there.find(({ role }) => role === 'read')?.partitions ?? DEFAULT_PARTITIONS;
  return [
    ...missing.map(({ topic, for: use }) =>
      wrong(
        'topics',
        `topic ${topic} is missing (${use})`,
        `npx fraud-connector topics create --partitions ${String(like)}`,
      ),
    ),
    ...(there.length === 0
      ? []
      : [
          ok(
            'topics',
            `topics: ${there.map(({ topic, partitions }) => `${topic} (${String(partitions)})`).join(', ')}`,
          ),
        ]),
    ...partitionFindings(config, topics),
    ...replicationFindings(there, brokers.length),
    ...there.flatMap(insyncFindings),
    ...there.flatMap(sizeFindings),
    ...there.filter(({ role }) => role === 'letters').flatMap(letterFindings),
    ...there.flatMap((topic) => compactionFindings(config, topic)),
  ];
}

function partitionFindings({ flows, topics: names }: Config, topics: readonly TopicSeen[]): readonly Finding[] {
  if (!flows.has('scoring') || !flows.has('sync')) return [];
  const countOf = (name: string): number => topics.find(({ topic }) => topic === name)?.partitions ?? 0;
  const [created, authorized] = [countOf(names.created), countOf(names.authorized)];
  if (created === 0 || authorized === 0) return [skipped('partitions', 'partition counts (a topic is missing)')];
  if (created === authorized)
    return [ok('partitions', `${names.created} and ${names.authorized} have ${String(created)} partitions each`)];
  return [
    wrong(
      'partitions',
      `${names.created} has ${String(created)} partitions, ${names.authorized} ${String(authorized)}: status updates wait SYNC_SCORE_WAIT_MS and may overtake`,
      'give both the same number (docs/topics.md)',
    ),
  ];
}

function replicationFindings(topics: readonly TopicSeen[], brokers: number): readonly Finding[] {
  const few = topics.filter(({ replicas }) => replicas < SAFE_REPLICAS);
  if (few.length === 0)
    return topics.length === 0 ? [] : [ok('replication', `each topic has ${String(SAFE_REPLICAS)} copies or more`)];
  const names = few.map(({ topic, replicas }) => `${topic} (${String(replicas)})`).join(', ');
  return [
    warn(
      'replication',
      `fewer than ${String(SAFE_REPLICAS)} copies: ${names}: the loss of a broker can lose records, or stop the topic`,
      brokers < SAFE_REPLICAS
        ? `use a cluster of ${String(SAFE_REPLICAS)} brokers for what must not be lost`
        : `give each ${String(SAFE_REPLICAS)} replicas with kafka-reassign-partitions.sh`,
    ),
  ];
}

function insyncFindings({ topic, role, replicas, minInsync }: TopicSeen): readonly Finding[] {
  const findings: Finding[] = [];
  if (minInsync === null) findings.push(skipped('min_insync', `min.insync.replicas of ${topic} (it may not be read)`));
  else if (replicas >= SAFE_REPLICAS && minInsync < 2) {
    const text = `topic ${topic}: min.insync.replicas is ${String(minInsync)}: one broker alone acknowledges, and what it acknowledged can be lost`;
    const mend = alter(topic, 'min.insync.replicas=2');
    findings.push(role === 'read' ? warn('min_insync', text, mend) : wrong('min_insync', text, mend));
  } else if (minInsync > 1 && minInsync >= replicas)
    findings.push(
      warn(
        'min_insync',
        `topic ${topic}: min.insync.replicas is ${String(minInsync)} of ${String(replicas)} copies: one broker away stops all writing`,
        alter(topic, `min.insync.replicas=${String(Math.max(1, replicas - 1))}`),
      ),
    );
  return findings;
}

function sizeFindings({ topic, role, needsBytes, needsOption, maxMessageBytes }: TopicSeen): readonly Finding[] {
  if (needsBytes === null || needsOption === null) return [];
  if (maxMessageBytes === null) return [skipped('message_size', `max.message.bytes of ${topic} (it may not be read)`)];
  if (maxMessageBytes >= needsBytes) return [];
  const then =
    role === 'letters' ? 'letters of larger records hold a pointer only' : 'larger ones lose parts or become letters';
  const text = `topic ${topic} takes ${String(maxMessageBytes)} bytes, ${needsOption} is ${String(needsBytes)}: ${then}`;
  return [warn('message_size', text, alter(topic, `max.message.bytes=${String(needsBytes)}`))];
}

function letterFindings({ topic, retentionMs, cleanupPolicy }: TopicSeen): readonly Finding[] {
  const findings: Finding[] = [];
  if (cleanupPolicy?.includes('compact') === true)
    findings.push(
      wrong(
        'letters',
        `topic ${topic} is compacted: of letters with the same key only the last stays`,
        alter(topic, 'cleanup.policy=delete'),
      ),
    );
  if (retentionMs === null) findings.push(skipped('letters', `retention of ${topic} (it may not be read)`));
  else if (retentionMs >= 0 && retentionMs < LETTERS_LEAST_MS && cleanupPolicy !== 'compact')
    findings.push(
      warn(
        'letters',
        `topic ${topic} keeps letters for ${hours(retentionMs)}: less than a week to look at them`,
        alter(topic, `retention.ms=${String(30 * DAY_MS)}`),
      ),
    );
  return findings;
}

/** Both topics are keyed by trans_id, and their newest record is not always the one that counts. */
function compactionFindings({ topics }: Config, { topic, cleanupPolicy }: TopicSeen): readonly Finding[] {
  if (cleanupPolicy?.includes('compact') !== true) return [];
  const mend = alter(topic, 'cleanup.policy=delete');
  if (topic === topics.reviews) {
    const text = `topic ${topic} is compacted: a late delivery of an older review removes the newest decision`;
    return [wrong('compaction', text, mend)];
  }
  if (topic !== topics.scores) return [];
  const text = `topic ${topic} is compacted: a later record with a failure removes the decision before it`;
  return [warn('compaction', text, mend)];
}

function hours(ms: number): string {
  return `${String(Math.floor(ms / 3_600_000))} h`;
}

function alter(topic: string, option: string): string {
  return `kafka-configs.sh --alter --entity-type topics --entity-name ${topic} --add-config ${option}`;
}

function metadataFinding(bytes: number | null): Finding {
  if (bytes === null)
    return skipped('offset_metadata', 'offset.metadata.max.bytes of the brokers (it may not be read)');
  if (bytes >= OFFSET_METADATA_BYTES) return ok('offset_metadata', `brokers take ${String(bytes)} bytes with a commit`);
  return warn(
    'offset_metadata',
    `brokers take ${String(bytes)} bytes with a commit: more may be repeated after a crash`,
    `set offset.metadata.max.bytes=${String(OFFSET_METADATA_BYTES)} on the brokers`,
  );
}

function startFinding({ kafka }: Config, { topic, committed, undecided }: StartSeen): Finding {
  const group = `group ${kafka.groupId}, topic ${topic}`;
  if (committed) return ok('group', `${group}: goes on where it was`);
  if (kafka.startFrom !== null) return ok('group', `${group}: new, begins at ${kafka.startFrom}`);
  if (undecided === 0n) return ok('group', `${group}: new, begins at the first record`);
  return wrong(
    'group',
    `${group}: new, and ${String(undecided)} records are there, some older than an hour: it would wait to be told whether to send them`,
    'set KAFKA_START_FROM=latest, earliest or a time',
  );
}
