import { Kafka, logLevel } from 'kafkajs';
import { afterAll, afterEach, beforeAll, expect, inject, test } from 'vitest';
import { type FraudScore, FRAUD_SCORE_SCHEMA } from '../../src/screening/avro.generated.ts';
import { type ConnectorProcess } from '../support/connector-process.ts';
import { eventually } from '../support/eventually.ts';
import { PaymentWorld } from '../support/payment-world.ts';
import { headerTexts, type TopicLog } from '../support/topic-log.ts';

let world: PaymentWorld;
let connector: ConnectorProcess;
let log: TopicLog;

beforeAll(async () => {
  const env = { SERVICE_FORWARD_IP: 'true', SERVICE_IDEMPOTENCY_HEADER: 'Idempotency-Key' };
  world = await PaymentWorld.open({ ...inject('kafka'), env, service: { reviewAfterMs: 3_600_000 } });
  log = await world.read(world.topics.scores, world.letters(world.topics.created));
  connector = await (await world.start()).ready();
});
afterEach(() => {
  world.service.faults.set({});
});
afterAll(async () => {
  await world.close();
});

async function pay(transId: string, more: object = {}): Promise<void> {
  await world.send(world.topics.created, { key: transId, value: { trans_id: transId, trans_amt: 5, ...more } });
}

async function scoreOf(transId: string, from = log): Promise<FraudScore> {
  const record = await from.find(world.topics.scores, ({ key }) => key?.toString() === transId);
  return await world.decode<FraudScore>(FRAUD_SCORE_SCHEMA, record.value);
}

const requestsOf = (transId: string): number => world.service.ledger().transaction(transId)?.requests ?? 0;

test('a refused payment has a score without a decision that says why, and a letter; both are of the same place', async () => {
  world.service.faults.set({ status: { code: 422, share: 1 }, operations: ['score'] });
  await pay('refused-1');
  const score = await scoreOf('refused-1');
  expect(score).toMatchObject({ decision: 'unknown', score: null, failure: 'status_422', http_status_code: 422 });
  const letter = await log.find(world.letters(world.topics.created), () => true);
  expect(headerTexts(letter)['dlq.source.offset']).toBe(String(score.source.offset));
  expect(requestsOf('refused-1')).toBe(1);
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
  await setTopic({ 'max.message.bytes': '1500' });
  // The setting reaches the broker's log a little later: until then scores are whole.
  const trimmed = await eventually('a score is trimmed', async () => {
    const transId = `large-${'x'.repeat(600)}-${String(log.of(world.topics.scores).length)}`;
    world.service.settings.set({ ruleHits: true, optInFeatures: true });
    await pay(transId, { colour: 'x', ip: 'unknown' });
    const score = await scoreOf(transId);
    return connector.said('score_trimmed').length > 0 && score;
  });
  expect(trimmed).toMatchObject({ extra: '{}', failure: null });
  expect(trimmed.decision).not.toBe('unknown');
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
