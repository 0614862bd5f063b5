import { createServer } from 'node:net';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { type Finding } from '../../src/app/doctor/finding.ts';
import { freePorts } from '../../src/sandbox/broker/ports.ts';
import { ConnectorProcess, type Environment } from '../support/connector-process.ts';
import { PaymentWorld, recordsOf, somePayments } from '../support/payment-world.ts';

let world: PaymentWorld;
beforeAll(async () => {
  world = await PaymentWorld.open({ ...inject('kafka'), partitions: 3, env: { FLOWS: 'scoring,sync,reviews' } });
});
afterAll(async () => {
  await world.close();
});

interface Checked {
  readonly code: number | null;
  readonly ok: boolean;
  readonly findings: readonly Finding[];
}

/** The doctor as it is started in production. */
async function check(over: Environment = {}): Promise<Checked> {
  const doctor = await ConnectorProcess.start({ ...world.env, ...over }, ['check', '--json']);
  const { code } = await doctor.ended;
  for (const secret of [world.service.password, world.service.webhookSecret])
    expect(doctor.output).not.toContain(secret);
  return { code, ...(JSON.parse(doctor.stdout.join('\n')) as Omit<Checked, 'code'>) };
}

function wrongs({ findings }: Checked): readonly string[] {
  return findings.flatMap(({ check: of, state }) => (state === 'wrong' ? [of] : []));
}

test('what is well is said to be so; it scores nothing and logs in once', async () => {
  const before = world.service.ledger().summary();
  const checked = await check();
  expect(checked).toMatchObject({ code: 0, ok: true });
  const well = checked.findings.flatMap(({ check: of, state }) => (state === 'ok' ? [of] : []));
  for (const of of [
    'configuration',
    'brokers',
    'cluster',
    'topics',
    'partitions',
    'offset_metadata',
    'group',
    'registry',
    'schemas',
    'login',
    'clock',
    'ports',
  ])
    expect(well).toContain(of);
  const after = world.service.ledger().summary();
  expect(after.logins - before.logins).toBe(1);
  expect(after.transactions).toBe(0);
});

test('a person reads a line for each, and what to do', async () => {
  const doctor = await ConnectorProcess.start({ ...world.env, TOPIC_SCORES: 'not.there' }, ['check']);
  expect(await doctor.ended).toMatchObject({ code: 1 });
  expect(doctor.stdout).toContain('✗ topic not.there is missing (scores)');
  expect(doctor.stdout).toContain('  → npx fraud-connector topics create --partitions 3');
  expect(doctor.stdout).toContain('  → npx fraud-connector schemas register');
  expect(doctor.stdout.at(-1)).toMatch(/^2 to mend \(✗\)/);
});

test('a wrong configuration is exit 2, with every problem', async () => {
  const checked = await check({ OPS_PORT: 'x', SCORING_CONCURRENCY: '0' });
  expect(checked).toMatchObject({ code: 2, ok: false });
  expect(wrongs(checked)).toEqual(['configuration', 'configuration']);
});

test('each neighbour that is away is told, the others all the same, within seconds', async () => {
  const [port = 0] = await freePorts(1);
  const nobody = `127.0.0.1:${String(port)}`;
  const startedMs = performance.now();
  const checked = await check({
    KAFKA_BROKERS: nobody,
    SCHEMA_REGISTRY_URL: `http://${nobody}`,
    SERVICE_BASE_URL: `http://${nobody}`,
  });
  expect(performance.now() - startedMs).toBeLessThan(25_000);
  expect(checked.code).toBe(1);
  expect(wrongs(checked)).toEqual(['brokers', 'registry', 'login']);
});

test('a server that takes connections and says nothing holds it up for no longer', async () => {
  const mute = createServer(() => undefined);
  await new Promise<void>((resolve) => {
    mute.listen(0, '127.0.0.1', resolve);
  });
  const address = mute.address();
  const port = address !== null && typeof address === 'object' ? address.port : 0;
  const startedMs = performance.now();
  const quiet = `127.0.0.1:${String(port)}`;
  const checked = await check({
    KAFKA_BROKERS: quiet,
    SCHEMA_REGISTRY_URL: `http://${quiet}`,
    SERVICE_BASE_URL: `http://${quiet}`,
  });
  mute.close();
  expect(performance.now() - startedMs).toBeLessThan(25_000);
  expect(wrongs(checked)).toEqual(['brokers', 'registry', 'login']);
});

test('a wrong password and a wrong path are told apart', async () => {
  expect(wrongs(await check({ SERVICE_PASSWORD: 'not-the-password' }))).toEqual(['login']);
  const elsewhere = await check({ SERVICE_BASE_URL: `${world.service.baseUrl}/elsewhere` });
  expect(wrongs(elsewhere)).toEqual(['login']);
  expect(elsewhere.findings.find(({ check: of }) => of === 'login')?.text).toContain('404');
});

test('partition counts that differ, and a port that somebody else has', async () => {
  const taken = createServer();
  await new Promise<void>((resolve) => {
    taken.listen(0, '127.0.0.1', resolve);
  });
  const address = taken.address();
  const port = address !== null && typeof address === 'object' ? String(address.port) : '';
  await world.createTopic(`${world.topics.authorized}.other`);
  await world.createTopic(`${world.topics.authorized}.other.dlq`);
  const checked = await check({ TOPIC_AUTHORIZED: `${world.topics.authorized}.other`, WEBHOOK_PORT: port });
  taken.close();
  expect(wrongs(checked)).toEqual(['partitions', 'ports']);
});

test('beside a running connector, with records in the topic, nothing is wrong', async () => {
  await world.send(world.topics.created, ...recordsOf(somePayments(5)).created);
  const connector = await (await world.start()).ready();
  const ports = {
    OPS_PORT: new URL(connector.opsUrl).port,
    WEBHOOK_PORT: new URL(connector.webhookUrl).port,
  };
  const checked = await check(ports);
  expect(wrongs(checked)).toEqual([]);
  const texts = checked.findings.flatMap(({ check: of, text }) => (of === 'ports' ? [text] : []));
  expect(texts).toHaveLength(2);
  for (const text of texts) expect(text).toContain('a connector runs on this machine');
});
