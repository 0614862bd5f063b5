import { afterAll, afterEach, beforeAll, expect, inject, test } from 'vitest';
import { type Finding } from '../../src/app/doctor/finding.ts';
import { ConnectorProcess, type Environment } from '../support/connector-process.ts';
import { eventually } from '../support/eventually.ts';
import { type Access, KAFKA_ACCESS } from '../support/kafka-access.ts';
import { PaymentWorld, reckonPayments, recordsOf, somePayments } from '../support/payment-world.ts';
import { type Lane, SecuredKafka } from '../support/secured-kafka.ts';

/** Only for what hangs: it comes within seconds, but on a busy machine. */
const LIMIT_MS = 120_000;

async function soon(what: string, ask: () => boolean | Promise<boolean>): Promise<void> {
  await eventually(what, ask, LIMIT_MS);
}

let brokers: SecuredKafka;
beforeAll(async () => {
  brokers = await SecuredKafka.open();
});
afterAll(async () => {
  await brokers.close();
});

let world: PaymentWorld;
afterEach(async () => {
  await world.close();
  await brokers.takeAll();
});

const RUN = KAFKA_ACCESS.find(({ command }) => command === 'run')?.rights ?? [];

async function openWorld(...without: readonly Access[]): Promise<void> {
  const { registryUrl } = inject('kafka');
  world = await PaymentWorld.open({
    brokers: [brokers.plain],
    registryUrl,
    env: { FLOWS: 'scoring,sync,reviews' },
    service: { reviewAfterMs: 600_000 },
  });
  await brokers.grant(world.config, ...RUN.filter((right) => !without.includes(right)));
}

const payments = somePayments(120);
const records = recordsOf(payments);

async function sendPart(from: number, to: number): Promise<void> {
  await world.send(world.topics.created, ...records.created.slice(from, to));
  await world.send(world.topics.authorized, ...records.authorized.slice(from, to));
}

async function scored(count: number): Promise<void> {
  await soon(`${String(count)} are scored and linked`, () => {
    const { transactionsWithStatus } = world.service.ledger().summary();
    return transactionsWithStatus >= count;
  });
}

/** What it says of waiting for Kafka. */
function holds(connector: ConnectorProcess): readonly string[] {
  return connector.said('hold_started').flatMap(({ cause, error }) => (cause === 'kafka' ? [String(error)] : []));
}

test('with a client certificate and the rights of the table it works; a new pair of files counts, a bad one does not, and nothing is lost', async () => {
  await openWorld();
  const connector = await (await world.start(brokers.env('mtls'))).ready();
  await sendPart(0, 40);
  await scored(40);
  // A file that is no key: the last good pair stays in use.
  const { authority } = brokers;
  brokers.mount({ key: 'no key' });
  await soon('that is told', () => connector.said('secret_reload_failed').length > 0);
  await sendPart(40, 80);
  brokers.mountPair(authority.issue({ name: 'connector', untilMs: Date.now() + 3 * 86_400_000 }));
  await soon('both files are in use', () => connector.said('secret_reloaded').length === 2);
  await soon('that it ends soon is told', () => connector.said('certificate_expiring').length > 0);
  expect(connector.said('certificate_expiring')).toMatchObject([{ option: 'KAFKA_TLS_CERT_FILE', daysLeft: 2 }]);
  await sendPart(80, payments.length);
  await scored(payments.length);
  expect(reckonPayments(world, payments)).toMatchObject({ lost: 0, doubled: 0, outOfOrder: 0 });
  expect(await connector.stop()).toMatchObject({ code: 0 });
});

test('a wrong password is a hold that names it, at the start and later, and the right one in the file ends it', async () => {
  await openWorld();
  const lane: Lane = 'scram-sha-512';
  brokers.mount({ password: 'wrong' });
  const connector = await world.start(brokers.env(lane));
  await soon('it says why it waits', () => holds(connector).some((error) => /SASL_AUTHENTICATION_FAILED/.test(error)));
  const first = 'first-canary-0123';
  await brokers.setPassword(first);
  brokers.mount({ password: first });
  await connector.ready();
  await sendPart(0, 40);
  await scored(40);

  // The broker first, then the file: in between the connection has to be shown anew, and is refused.
  const second = 'second-canary-0123';
  await brokers.setPassword(second);
  await sendPart(40, 80);
  await soon('it is refused', () => connector.said('source_failed').length > 0);
  brokers.mount({ password: second });
  await sendPart(80, payments.length);
  await scored(payments.length);
  expect(reckonPayments(world, payments)).toMatchObject({ lost: 0, outOfOrder: 0 });
  expect(await connector.stop()).toMatchObject({ code: 0 });
  for (const secret of [first, second]) expect(connector.output).not.toContain(secret);
});

test('a missing right is a hold that names it, and the right ends it', async () => {
  const missing = RUN.find(({ on }) => on === 'created');
  if (missing === undefined) throw new Error('no such right');
  await openWorld(missing);
  await sendPart(0, 20);
  const connector = await world.start(brokers.env('mtls'));
  const { created } = world.topics;
  await soon('it says what is missing', () =>
    holds(connector).some((error) =>
      error.includes(`TOPIC_AUTHORIZATION_FAILED (missing ACL: Describe on topic ${created})`),
    ),
  );
  await brokers.grant(world.config, { ...missing, operation: 'Describe' });
  await soon('it says what else is missing', () =>
    holds(connector).some((error) => error.includes(`(missing ACL: Read on topic ${created}`)),
  );
  expect(connector.isAlive).toBe(true);
  await brokers.grant(world.config, missing);
  await scored(20);
  await soon('the hold is over', async () => (await connector.status())?.holds.length === 0);
  expect(await connector.stop()).toMatchObject({ code: 0 });
});

/** What the doctor finds wrong, and what to do about it: a line each. */
async function check(env: Environment): Promise<string> {
  const doctor = await ConnectorProcess.start({ ...world.env, ...env }, ['check', '--json']);
  await doctor.ended;
  const { findings } = JSON.parse(doctor.stdout.join('\n')) as { readonly findings: readonly Finding[] };
  return findings
    .flatMap(({ state, text, mend }) => (state === 'wrong' ? [`${text} → ${String(mend)}`] : []))
    .join('\n');
}

test('the doctor tells what is wrong with how the brokers are reached', async () => {
  await openWorld();
  const tls = brokers.env('tls');
  const scram = brokers.env('scram-sha-512');
  const found = await Promise.all([
    check({ KAFKA_BROKERS: brokers.address('tls') }),
    check({ ...tls, KAFKA_BROKERS: brokers.plain }),
    check({ ...tls, KAFKA_BROKERS: brokers.address('mtls') }),
    check({ ...tls, KAFKA_TLS_CA_FILE: '' }),
    check({ ...scram, KAFKA_SASL_PASSWORD_FILE: '', KAFKA_SASL_PASSWORD: 'not-the-password' }),
    check({ ...brokers.env('oauthbearer'), KAFKA_SASL_OAUTH_CLIENT_ID: 'nobody' }),
  ]);
  expect(found.map((text) => text.split('\n')[0])).toEqual([
    expect.stringContaining('it speaks TLS: PEER_SPEAKS_TLS → set KAFKA_TLS=true'),
    expect.stringContaining('it speaks plain text: PEER_SPEAKS_PLAIN_TEXT → give the port of a listener with TLS'),
    expect.stringContaining('→ give KAFKA_TLS_CERT_FILE and KAFKA_TLS_KEY_FILE'),
    expect.stringContaining('→ put the certificate of that authority into the file of KAFKA_TLS_CA_FILE'),
    expect.stringContaining('SASL_AUTHENTICATION_FAILED. → give the right KAFKA_SASL_USERNAME and KAFKA_SASL_PASSWORD'),
    expect.stringContaining('OAUTH_TOKEN_REFUSED. → give the right KAFKA_SASL_OAUTH_CLIENT_ID'),
  ]);
});
