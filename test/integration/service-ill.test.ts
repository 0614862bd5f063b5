import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, inject, test } from 'vitest';
import { type ShopPayment } from '../../src/sandbox/shops.ts';
import { type FraudScore, FRAUD_SCORE_SCHEMA } from '../../src/screening/avro.generated.ts';
import { type ConnectorProcess } from '../support/connector-process.ts';
import { eventually } from '../support/eventually.ts';
import { PaymentWorld, recordsOf, somePayments } from '../support/payment-world.ts';
import { headerTexts, type TopicLog } from '../support/topic-log.ts';

/** How long the service is ill: longer than a hold is young. */
const ILL_MS = 2500;
const EACH = 40;

let world: PaymentWorld;
let connector: ConnectorProcess;
let letters: TopicLog;
let scores: TopicLog;
let sent = 0;
const all = somePayments(8 * EACH);

beforeAll(async () => {
  const env = { SERVICE_TIMEOUT_MS: '400', SYNC_TIMEOUT_MS: '400', SYNC_BATCH_MAX_RECORDS: '10' };
  const service = { reviewAfterMs: 600_000 };
  world = await PaymentWorld.open({ ...inject('kafka'), partitions: 2, env, service });
  const { created, authorized } = world.topics;
  letters = await world.read(world.letters(created), world.letters(authorized));
  scores = await world.read(world.topics.scores);
  connector = await (await world.start()).ready();
});
afterEach(() => {
  world.service.faults.set({});
});
afterAll(async () => {
  await world.close();
});

/** Sends the next payments and their statuses. */
async function sendSome(): Promise<readonly ShopPayment[]> {
  const payments = all.slice(sent, sent + EACH);
  sent += EACH;
  const records = recordsOf(payments);
  await world.send(world.topics.created, ...records.created);
  await world.send(world.topics.authorized, ...records.authorized);
  return payments;
}

/** Every one of them is scored and published, its status is linked, and nothing has become a letter. */
async function expectAllDone(payments: readonly ShopPayment[]): Promise<readonly FraudScore[]> {
  const ledger = world.service.ledger();
  await eventually('every payment is scored and its status linked', () =>
    payments.every(({ transId }) => {
      const seen = ledger.transaction(transId);
      return seen !== null && seen.scored > 0 && seen.updates.some(({ linked }) => linked);
    }),
  );
  const published = await eventually('every score is published', () => {
    const found = payments.map(({ transId }) => scores.records.find(({ key }) => key?.toString() === transId));
    return found.every((record) => record !== undefined) && found;
  });
  expect(letters.records.map((letter) => headerTexts(letter)['dlq.reason'])).toEqual([]);
  expect(ledger.summary()).toMatchObject({ unlinked: 0, disorders: 0, overlaps: 0, backwardUpdates: 0 });
  return await Promise.all(
    published.map(async (record) => await world.decode<FraudScore>(FRAUD_SCORE_SCHEMA, record?.value ?? null)),
  );
}

describe('while the service is ill nothing is dead-lettered, and afterwards everything is scored', () => {
  test('when it answers 503 for a while, which is said as a hold', async () => {
    world.service.faults.set({ status: { code: 503, share: 1 } });
    const payments = await sendSome();
    await sleep(ILL_MS);
    expect((await connector.flow('scoring'))?.waits).toMatchObject([{ cause: 'service_down' }]);
    expect(connector.said('hold_started').some(({ cause }) => cause === 'service_down')).toBe(true);
    world.service.faults.set({});
    const found = await expectAllDone(payments);
    expect(found.every(({ failure, http_status_code: status }) => failure === null && status === 200)).toBe(true);
    expect(found.some(({ attempts }) => attempts > 1)).toBe(true);
    expect(world.service.ledger().summary().repeatedScorings).toBe(0);
    await eventually('the hold is over', async () => (await connector.status())?.holds.length === 0);
  });

  test('when it asks to come again later with 429', async () => {
    world.service.faults.set({ status: { code: 429, share: 0.5, retryAfter: '1' } });
    const payments = await sendSome();
    await sleep(500);
    world.service.faults.set({});
    const found = await expectAllDone(payments);
    expect(found.some(({ attempts }) => attempts > 1)).toBe(true);
  });

  test('when all tokens expire in mid-traffic, with one login for all', async () => {
    const before = world.service.ledger().summary();
    world.service.faults.set({ latencyMs: 20 });
    const first = sendSome();
    await eventually('traffic', () => world.service.ledger().summary().scorings > before.scorings);
    world.service.faults.set({ expireTokens: true });
    await expectAllDone([...(await first), ...(await sendSome())]);
    const after = world.service.ledger().summary();
    expect(after.unauthorised).toBeGreaterThan(before.unauthorised);
    expect(after.logins).toBe(before.logins + 1);
    expect(after.repeatedScorings).toBe(before.repeatedScorings);
  });

  test('when it resets connections after it has done its work: scores say that it may have scored before', async () => {
    world.service.faults.set({ resetShare: 0.5 });
    const payments = await sendSome();
    await eventually('a reset was felt', () =>
      payments.some(({ transId }) => (world.service.ledger().transaction(transId)?.scored ?? 0) > 1),
    );
    world.service.faults.set({});
    const found = await expectAllDone(payments);
    for (const score of found) expect(score.possibly_scored_before).toBe(score.attempts > 1);
    expect(found.some((score) => score.possibly_scored_before)).toBe(true);
  });

  test('when it takes longer than an attempt may', async () => {
    world.service.faults.set({ latencyMs: 700 });
    const payments = await sendSome();
    await sleep(ILL_MS);
    expect((await connector.flow('scoring'))?.waits.map(({ cause }) => cause)).toContain('service_down');
    world.service.faults.set({});
    const found = await expectAllDone(payments);
    expect(found.some((score) => score.possibly_scored_before)).toBe(true);
  });
});

test('a score is Avro of the registered schema, keyed by trans_id, a CloudEvent, and says whence it comes', async () => {
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
  const [payment] = all.slice(-1);
  await world.send(world.topics.created, {
    key: payment?.key ?? '',
    value: payment?.created ?? {},
    headers: { traceparent },
  });
  const record = await scores.find(world.topics.scores, ({ key }) => key?.toString() === payment?.transId);
  const score = await world.decode<FraudScore>(FRAUD_SCORE_SCHEMA, record.value);
  const seen = world.service.ledger().transaction(payment?.transId ?? '');
  expect(score).toMatchObject({
    account: 'test',
    trans_id: payment?.transId,
    frg_trans_id: seen?.frgTransId,
    decision_code: seen?.decision,
    http_status_code: 200,
    attempts: 1,
    possibly_scored_before: false,
    failure: null,
    source: { topic: world.topics.created },
  });
  expect(score.decision).toBe(['decline', 'approve', 'manual_review', 'custom'][seen?.decision ?? -1]);
  const { topic, partition, offset } = score.source;
  expect(headerTexts(record)).toEqual({
    ce_specversion: '1.0',
    ce_id: `${topic}/${String(partition)}/${String(offset)}`,
    ce_type: 'fraud.screening.score.v1',
    ce_source: '/fraud-screening-connector/test',
    ce_time: new Date(score.scored_at).toISOString(),
    'content-type': 'application/avro',
    traceparent,
  });
});
