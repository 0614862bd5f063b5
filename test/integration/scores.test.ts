import { createHash } from 'node:crypto';
import { Kafka, logLevel } from 'kafkajs';
import { afterAll, afterEach, beforeAll, expect, inject, test } from 'vitest';
import { type FraudScore, FRAUD_SCORE_SCHEMA } from '../../src/screening/avro.generated.ts';
import { type ConnectorProcess } from '../support/connector-process.ts';
import { eventually } from '../support/eventually.ts';
import { PaymentWorld } from '../support/payment-world.ts';
import { ServiceRelay } from '../support/service-relay.ts';
import { headerTexts, type LoggedRecord, type TopicLog } from '../support/topic-log.ts';

let world: PaymentWorld;
let connector: ConnectorProcess;
let log: TopicLog;
let relay: ServiceRelay;

beforeAll(async () => {
  const env = { SERVICE_FORWARD_IP: 'true', SERVICE_IDEMPOTENCY_HEADER: 'Idempotency-Key' };
  world = await PaymentWorld.open({ ...inject('kafka'), env, service: { reviewAfterMs: 3_600_000 } });
  log = await world.read(world.topics.scores, world.letters(world.topics.created));
  relay = await ServiceRelay.open(world.service.baseUrl);
  connector = await (await world.start({ SERVICE_BASE_URL: relay.url })).ready();
});
afterEach(() => {
  world.service.faults.set({});
});
afterAll(async () => {
  await world.close();
  await relay.close();
});

async function pay(transId: string, more: object = {}): Promise<void> {
  await world.send(world.topics.created, { key: transId, value: { trans_id: transId, trans_amt: 5, ...more } });
}

async function recordOf(transId: string, from = log): Promise<LoggedRecord> {
  return await from.find(world.topics.scores, ({ key }) => key?.toString() === transId);
}

async function read({ value }: LoggedRecord): Promise<FraudScore> {
  return await world.decode<FraudScore>(FRAUD_SCORE_SCHEMA, value);
}

async function scoreOf(transId: string, from = log): Promise<FraudScore> {
  return await read(await recordOf(transId, from));
}

const requestsOf = (transId: string): number => world.service.ledger().transaction(transId)?.requests ?? 0;

test('a refused payment has a score without a decision that says why, and a letter; both are of the same place', async () => {
  // A service that has refused everybody so far says nothing of a payment.
  await pay('good-1');
  await scoreOf('good-1');
  world.service.faults.set({ status: { code: 422, share: 1 }, operations: ['score'] });
  await pay('refused-1');
  const score = await scoreOf('refused-1');
  expect(score).toMatchObject({ decision: 'unknown', score: null, failure: 'status_422', http_status_code: 422 });
  const letter = await log.find(world.letters(world.topics.created), () => true);
  expect(headerTexts(letter)['dlq.source.offset']).toBe(String(score.source.offset));
  expect(requestsOf('refused-1')).toBe(1);
});

test("a request carries the payer's address, and in every attempt the same key of its place and id", async () => {
  let refusals = 0;
  relay.answer = ({ body }) => {
    if (!body.includes('"twice-1"') || refusals === 2) return null;
    refusals += 1;
    return { status: 503, body: '{"error_msg":"busy"}' };
  };
  await pay('twice-1', { ip: '2001:db8::7' });
  const { source, attempts } = await scoreOf('twice-1');
  await pay('twice-2', { ip: '198.51.100.7\r\nx-injected: 1' });
  await scoreOf('twice-2');
  relay.answer = () => null;
  const requests = relay.seen.filter(({ path, body }) => path.endsWith('/transaction') && body.includes('"twice-'));
  const key = createHash('sha256')
    .update(`${source.topic}/${String(source.partition)}/${String(source.offset)}/twice-1`)
    .digest('hex');
  const own = requests.map(({ headers }) => [headers['x-forwarded-for'], headers['idempotency-key']]);
  expect(attempts).toBe(3);
  expect(own.slice(0, 3)).toEqual(Array.from({ length: 3 }, () => ['2001:db8::7', key]));
  expect(own.slice(3)).toEqual([[undefined, expect.stringMatching(/^[0-9a-f]{64}$/)]]);
  expect(own[3]?.[1]).not.toBe(key);
  expect(requests.filter(({ headers }) => 'x-injected' in headers)).toEqual([]);
});

test('a score that was asked for again says so: attempts, and that it may have been scored before', async () => {
  world.service.faults.set({ resetShare: 1, next: 1, operations: ['score'] });
  await pay('again-1');
  expect(await scoreOf('again-1')).toMatchObject({ attempts: 2, possibly_scored_before: true, failure: null });
  world.service.faults.set({ status: { code: 503, share: 1 }, next: 1, operations: ['score'] });
  await pay('again-2');
  expect(await scoreOf('again-2')).toMatchObject({ attempts: 2, possibly_scored_before: false, failure: null });
});

test('a score too large for its topic goes without what is furthest from the decision, and is counted', async () => {
  world.service.faults.set({ answer: { as: 'unknown_fields' }, operations: ['score'] });
  await pay('large-000');
  const whole = await recordOf('large-000');
  const { extra, signals } = await read(whole);
  expect(extra.length).toBeGreaterThan(100);
  await setTopic({ 'max.message.bytes': String(batchBytes(whole) - Math.floor(extra.length / 2)) });
  // The setting reaches the broker's log a little later: until then scores are whole.
  let sent = 0;
  const trimmed = await eventually('a score is trimmed', async () => {
    sent += 1;
    const transId = `large-${String(sent).padStart(3, '0')}`;
    await pay(transId);
    const score = await scoreOf(transId);
    return score.extra === '{}' && score;
  });
  expect(trimmed).toMatchObject({ failure: null, signals });
  expect(trimmed.decision).not.toBe('unknown');
  expect(connector.said('score_trimmed')).toMatchObject([{ dropped: 'extra' }]);
  await setTopic({ 'max.message.bytes': '1048588' });
});

test('while Kafka does not take a score its offset stays; then the publication is repeated, never the request', async () => {
  await world.deleteTopic(world.topics.scores);
  await pay('kept-1');
  await eventually('it is scored', () => requestsOf('kept-1') === 1);
  await eventually('the hold is named', async () =>
    ((await connector.flow('scoring'))?.waits ?? []).some(({ cause }) => cause === 'kafka'),
  );
  const partition = (await connector.status())?.partitions.find(({ topic }) => topic === world.topics.created);
  expect(partition?.lag).toBe('1');
  await world.createTopic(world.topics.scores);
  const again = await world.read(world.topics.scores);
  const score = await scoreOf('kept-1', again);
  expect(score).toMatchObject({ attempts: 1, possibly_scored_before: false });
  await eventually('the offset has moved', async () =>
    ((await connector.status())?.partitions ?? []).every(({ lag }) => lag === '0'),
  );
  expect(requestsOf('kept-1')).toBe(1);
  const ids = again.of(world.topics.scores).map((record) => headerTexts(record)['ce_id']);
  expect(new Set(ids)).toEqual(new Set([`${score.source.topic}/0/${String(score.source.offset)}`]));
});

async function setTopic(config: Readonly<Record<string, string>>): Promise<void> {
  const admin = new Kafka({ brokers: [...inject('kafka').brokers], logLevel: logLevel.NOTHING }).admin();
  await admin.connect();
  const configEntries = Object.entries(config).map(([name, value]) => ({ name, value }));
  await admin.alterConfigs({ validateOnly: false, resources: [{ type: 2, name: world.topics.scores, configEntries }] });
  await admin.disconnect();
}

/** How long a batch is that holds this record alone, within a few bytes: Kafka's own 61, lengths of one or two bytes. */
function batchBytes({ key, value, headers }: LoggedRecord): number {
  const fields = Object.entries(headers).map(([name, text]) => name.length + String(text).length + 3);
  return 61 + 12 + (key?.length ?? 0) + (value?.length ?? 0) + fields.reduce((sum, bytes) => sum + bytes, 0);
}
