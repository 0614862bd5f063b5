import { createHmac } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { ConnectorProcess } from '../support/connector-process.ts';
import { eventually } from '../support/eventually.ts';
import { type Access, ACCESS_LABELS, type AccessOf, KAFKA_ACCESS, resourceOf } from '../support/kafka-access.ts';
import { PaymentWorld, reckonPayments, recordsOf, somePayments } from '../support/payment-world.ts';
import { type Lane, SecuredKafka } from '../support/secured-kafka.ts';
import { reviewBody } from '../support/webhooks.ts';

const LIMIT_MS = 60_000;

let brokers: SecuredKafka;
beforeAll(async () => {
  brokers = await SecuredKafka.open({ registry: true });
}, 600_000);
afterAll(async () => {
  await brokers.close();
}, LIMIT_MS);

let world: PaymentWorld;
afterEach(async () => {
  await world.close();
  await brokers.takeAll();
  await brokers.renew();
}, LIMIT_MS);

function rightsOf(command: string): readonly Access[] {
  return KAFKA_ACCESS.find((of) => of.command === command)?.rights ?? [];
}

async function openWorld(...rights: readonly Access[]): Promise<void> {
  const { registryUrl } = brokers.kafka;
  const env = { FLOWS: 'scoring,sync,reviews', SYNC_BATCH_MAX_AGE_MS: '50', DEAD_LETTER_MAX_SHARE: '1' };
  world = await PaymentWorld.open({ brokers: [brokers.plain], registryUrl, env, service: { reviewAfterMs: 600_000 } });
  if (rights.length > 0) await brokers.grant(world.config, ...rights);
}

const payments = somePayments(120);
const records = recordsOf(payments);

async function sendPart(from: number, to: number): Promise<void> {
  await world.send(world.topics.created, ...records.created.slice(from, to));
  await world.send(world.topics.authorized, ...records.authorized.slice(from, to));
}

async function scored(count: number): Promise<void> {
  await eventually(
    `${String(count)} are scored and linked`,
    () => world.service.ledger().summary().transactionsWithStatus >= count,
    LIMIT_MS,
  );
}

/** What happens to the credentials of each way while traffic runs; the broker takes the old ones until the new ones count. */
const ROTATIONS: Readonly<Record<Lane, (connector: ConnectorProcess) => Promise<void>>> = {
  tls: async (connector) => {
    const { authority } = brokers;
    brokers.mount({ ca: `${authority.certificate}${brokers.stranger.certificate}` });
    await reloaded(connector, 'KAFKA_TLS_CA_FILE');
  },
  mtls: async (connector) => {
    brokers.mountPair(brokers.authority.issue({ name: 'connector' }));
    await reloaded(connector, 'KAFKA_TLS_KEY_FILE');
  },
  plain: async (connector) => {
    const { password } = brokers;
    brokers.mount({ password: 'wrong' });
    await reloaded(connector, 'KAFKA_SASL_PASSWORD');
    await eventually('the wrong one is refused', () => connector.said('source_failed').length > 0, LIMIT_MS);
    brokers.mount({ password });
  },
  'scram-sha-256': rotatePassword,
  'scram-sha-512': rotatePassword,
  oauthbearer: async (connector) => {
    brokers.tokens.secret = 'another-secret';
    brokers.mount({ secret: 'another-secret' });
    await reloaded(connector, 'KAFKA_SASL_OAUTH_CLIENT_SECRET');
    const { length } = brokers.tokens.requests;
    await eventually('tokens are renewed with it', () => brokers.tokens.requests.length > length, LIMIT_MS);
  },
};

async function rotatePassword(connector: ConnectorProcess): Promise<void> {
  await brokers.setPassword('another-password');
  brokers.mount({ password: 'another-password' });
  await reloaded(connector, 'KAFKA_SASL_PASSWORD');
}

async function reloaded(connector: ConnectorProcess, option: string): Promise<void> {
  await eventually('the change counts', () =>
    connector.said('secret_reloaded').some((line) => line['option'] === option),
  );
}

describe('payments are scored, their scores published, their statuses linked and all of it committed, over a change of credentials', () => {
  test.each(Object.keys(ROTATIONS) as Lane[])(
    '%s',
    async (lane) => {
      await openWorld(...rightsOf('run'));
      brokers.tokens.lifeSeconds = 20;
      const scores = await world.read(world.topics.scores);
      const connector = await (await world.start(brokers.env(lane))).ready();
      await sendPart(0, 40);
      await scored(40);
      await sendPart(40, 80);
      await ROTATIONS[lane](connector);
      await sendPart(80, payments.length);
      await scored(payments.length);
      await eventually(
        'scores are published',
        () => new Set(scores.records.map(({ key }) => String(key))).size >= payments.length,
      );
      await eventually(
        'all of it is committed',
        async () => (await connector.status())?.partitions.every(({ lag }) => lag === '0') === true,
        LIMIT_MS,
      );
      expect(reckonPayments(world, payments)).toMatchObject({ lost: 0, outOfOrder: 0 });
      expect(await connector.stop()).toMatchObject({ code: 0 });
      expect(connector.output).not.toContain('another-');
    },
    4 * LIMIT_MS,
  );
});

/** A review, and what becomes a letter of the kind. */
async function sendReviews(connector: ConnectorProcess): Promise<void> {
  for (const over of [{ trans_id: 'reviewed' }, { trans_id: 'odd', decision: 'never heard of' }]) {
    const body = reviewBody(over);
    const timestamp = new Date().toISOString();
    const signature = createHmac('sha256', world.service.webhookSecret).update(timestamp).update(body).digest('hex');
    await fetch(connector.webhookUrl, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'X-ServiceWebhook-Signature': signature,
        'X-ServiceWebhook-Timestamp': timestamp,
      },
      body: new Uint8Array(body),
    }).catch(() => undefined);
  }
}

const byName = (right: Access): [string, Access] => [`${right.operation} on ${ACCESS_LABELS[right.on]}`, right];

describe('run without one of its rights, but with the right to describe, says which one, waits, and goes on when it is there', () => {
  test.each(rightsOf('run').map(byName))(
    '%s',
    async (_, right) => {
      await openWorld(...rightsOf('run').filter((each) => each !== right), { ...right, operation: 'Describe' });
      const { name } = resourceOf(world.config, right.on);
      const letters = await world.read(world.letters(world.topics.created), world.letters(world.topics.authorized));
      const connector = await world.start(brokers.env('mtls'));
      await eventually('it takes webhooks', async () => (await connector.probe('/livez')) === 200);
      await sendPart(0, 20);
      await world.send(world.topics.created, { value: '[1]' });
      await world.send(world.topics.authorized, { value: '[1]' });
      await sendReviews(connector);
      await eventually(
        'it says what is missing',
        async () => {
          if (right.operation === 'Write' && right.on.startsWith('reviews')) await sendReviews(connector);
          const said = [...connector.said('hold_started'), ...connector.said('writer_retry')];
          return said.some((line) => {
            const error = String(line['error']);
            return right.operation === 'Write'
              ? error.includes('TOPIC_AUTHORIZATION_FAILED') && line['topic'] === name
              : error.includes(`(missing ACL: ${right.operation} on`) && error.includes(name);
          });
        },
        LIMIT_MS,
      );
      expect(connector.isAlive).toBe(true);
      await brokers.grant(world.config, right);
      await scored(20);
      await eventually('the letters are there', () => letters.records.length >= 2, LIMIT_MS);
      await eventually('no hold is left', async () => (await connector.status())?.holds.length === 0, LIMIT_MS);
      expect(world.service.ledger().summary()).toMatchObject({ repeatedUpdates: 0 });
      expect(await connector.stop()).toMatchObject({ code: 0 });
    },
    4 * LIMIT_MS,
  );
});

/** A command line that uses the rights of a row. */
const COMMANDS: Readonly<Record<string, readonly (readonly string[])[]>> = {
  replay: [
    ['replay', '--id', 'one'],
    ['replay', '--remove', 'one'],
  ],
  'dlq list, dlq show': [['dlq', 'list', '--topic', 'LETTERS', '--json']],
  'dlq redrive': [['dlq', 'redrive', '--topic', 'LETTERS', '--id', 'one']],
  'topics check': [['topics', 'check']],
  'topics create': [['topics', 'create', '--partitions', '1', '--replication', '1']],
  check: [['check', '--json']],
};

async function carryOut(
  command: string,
): Promise<{ readonly codes: readonly (number | null)[]; readonly output: string }> {
  const codes: (number | null)[] = [];
  let output = '';
  for (const args of COMMANDS[command] ?? []) {
    const named = args.map((each) => (each === 'LETTERS' ? world.letters(world.topics.authorized) : each));
    const running = await ConnectorProcess.start({ ...world.env, ...brokers.env('mtls') }, named);
    // Commands that wait for Kafka say what is missing, and would wait on.
    await eventually('it ends or says it', () => !running.isAlive || running.output.includes('missing ACL'), LIMIT_MS);
    running.signal('SIGTERM');
    const { code } = await running.ended;
    codes.push(code);
    output += running.output;
  }
  return { codes, output };
}

async function openWithLetters(of: AccessOf, ...without: readonly Access[]): Promise<void> {
  await openWorld();
  await world.send(world.topics.authorized, ...records.authorized.slice(0, 3));
  const headers = {
    'dlq.reason': 'status_422',
    'dlq.stage': 'sync',
    'dlq.source.topic': world.topics.authorized,
    'dlq.source.partition': '0',
    'dlq.source.offset': '0',
    'dlq.failed_at': new Date().toISOString(),
  };
  const [letter = { value: null }] = records.authorized;
  await world.send(world.letters(world.topics.authorized), { ...letter, headers });
  await brokers.grant(world.config, ...of.rights.filter((right) => !without.includes(right)));
}

const COMMAND_ROWS = KAFKA_ACCESS.filter(({ command }) => command !== 'run');

test.each(COMMAND_ROWS.map((of): [string, AccessOf] => [of.command, of]))(
  '%s does its work with its rights and no others',
  async (command, of) => {
    await openWithLetters(of);
    const { codes, output } = await carryOut(command);
    expect(output).not.toContain('AUTHORIZATION_FAILED');
    expect(codes).toEqual((COMMANDS[command] ?? []).map(() => 0));
  },
  4 * LIMIT_MS,
);

/** Letters are written when there are some, and only the topic in question is made or read. */
function isUsed({ operation, on, isOptional }: Access): boolean {
  const isOther = on.endsWith('letters') && on !== 'authorized letters';
  return isOptional !== true && operation !== 'Write' && operation !== 'Create' && !isOther;
}

const USED = COMMAND_ROWS.flatMap((of) =>
  of.rights
    .filter(isUsed)
    .map((right): [string, AccessOf, Access] => [
      `${of.command} without ${right.operation} on ${ACCESS_LABELS[right.on]}`,
      of,
      right,
    ]),
);

test.each(USED)(
  '%s says that it is missing',
  async (_, of, right) => {
    await openWithLetters(of, right);
    const { output } = await carryOut(of.command);
    expect(output).toContain('missing ACL');
    expect(output).toContain(resourceOf(world.config, right.on).name);
  },
  4 * LIMIT_MS,
);
