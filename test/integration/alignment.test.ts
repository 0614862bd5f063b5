import { setTimeout as sleep } from 'node:timers/promises';
import { Kafka, logLevel } from 'kafkajs';
import { afterEach, describe, expect, inject, test } from 'vitest';
import { type ShopPayment } from '../../src/sandbox/shops.ts';
import { type ConnectorProcess, type Environment } from '../support/connector-process.ts';
import { eventually } from '../support/eventually.ts';
import { type NewRecord, PaymentWorld, reckonPayments, recordsOf, somePayments } from '../support/payment-world.ts';

/** Payments of the large test, and how long the service is away in it: `ALIGNMENT_PAYMENTS=100000 ALIGNMENT_AWAY_MS=60000` is the long version. */
const PAYMENTS = Number(process.env['ALIGNMENT_PAYMENTS'] ?? 4000);
const AWAY_MS = Number(process.env['ALIGNMENT_AWAY_MS'] ?? 5000);
const LARGE_MS = 60_000 + PAYMENTS * 5 + AWAY_MS;
const LOT = 1000;
const WAIT_MS = 2000;

let world: PaymentWorld;
afterEach(async () => {
  await world.close();
});

async function open(partitions: number, env: Environment = {}): Promise<void> {
  const service = { reviewAfterMs: 3_600_000 };
  world = await PaymentWorld.open({ ...inject('kafka'), partitions, env, service });
}

async function append(topic: string, records: readonly NewRecord[]): Promise<void> {
  for (let from = 0; from < records.length; from += LOT) await world.send(topic, ...records.slice(from, from + LOT));
}

/** No update was carried out before its transaction had been scored, and every one was. */
function expectAllLinked(payments: readonly ShopPayment[]): void {
  const ledger = world.service.ledger();
  const early = payments.filter(({ transId }) => {
    const seen = ledger.transaction(transId);
    return seen === null || seen.updates.length === 0 || seen.updates.some(({ sequence }) => sequence < seen.lastEnd);
  });
  expect(early.map(({ transId }) => transId)).toEqual([]);
  expect(ledger.summary()).toMatchObject({ unlinked: 0, disorders: 0, backwardUpdates: 0, updateOverlaps: 0 });
  expect(reckonPayments(world, payments)).toMatchObject({ lost: 0 });
}

const isLinked = ({ transId }: ShopPayment): boolean =>
  world.service.ledger().transaction(transId)?.updates[0]?.linked === true;

const beforeScore = async (connector: ConnectorProcess): Promise<number> => {
  const text = await connector.text('/metrics');
  return Number(/^fraud_connector_updates_before_score_total(?:\{[^}]*\})? (\d+)/m.exec(text)?.[1] ?? 0);
};

describe('topics that are partitioned alike', () => {
  test(
    'updates that were written before their payments, both topics from the start, and a service that goes away: none overtakes',
    async ({ annotate }) => {
      await open(4, { KAFKA_START_FROM: 'earliest' });
      const payments = somePayments(PAYMENTS, { customers: 2000 });
      const { created, authorized } = recordsOf(payments);
      await append(world.topics.authorized, authorized);
      await append(world.topics.created, created);
      const connector = await (await world.start()).ready();
      const startedMs = performance.now();
      const { faults } = world.service;
      const ledger = world.service.ledger();
      await eventually('a third is scored', () => ledger.summary().transactions > PAYMENTS / 3, LARGE_MS);
      faults.set({ status: { code: 503, share: 1 } });
      await sleep(AWAY_MS);
      faults.set({});
      await eventually('every status has come', () => ledger.summary().updates >= PAYMENTS, LARGE_MS);
      expectAllLinked(payments);
      expect(await beforeScore(connector)).toBe(0);
      const seconds = Math.round((performance.now() - startedMs) / 1000);
      await annotate(`scored and linked in ${String(seconds)} s; ${JSON.stringify(ledger.summary())}`);
    },
    2 * LARGE_MS,
  );

  test('an update of a payment with card data becomes a letter, not an update of nothing', async () => {
    await open(1);
    const { created, authorized } = world.topics;
    const letters = await world.read(world.letters(created), world.letters(authorized));
    await (await world.start()).ready();
    const status = { trans_id: 'card-1', status: 'error', ts: '2026-01-01T10:00:00Z' };
    await world.send(created, { key: 'c', value: { trans_id: 'card-1', cust_email: '4111 1111 1111 1111' } });
    await world.send(authorized, { key: 'c', value: status });
    const letter = await letters.find(world.letters(authorized), () => true);
    expect(letter.headers['dlq.reason']?.toString()).toBe('transaction_not_scored');
    expect(JSON.parse(String(letter.value))).toEqual(status);
    expect(letters.of(world.letters(created))[0]?.headers['dlq.reason']?.toString()).toBe('card_data');
    expect(world.service.ledger().summary()).toMatchObject({ updates: 0, scoreRequests: 0 });
  });
});

describe('while payments of other keys wait for a slow service', () => {
  /** Payments that are held at once are all read: fewer than 1,024 in a partition. */
  const HELD = 600;
  const UNREAD = 3000;

  test('statuses of what was scored go out, and of what was never in the log as soon as the log shows that', async () => {
    await open(1, { SCORING_CONCURRENCY: '2', SERVICE_TIMEOUT_MS: '1800' });
    const { created, authorized } = world.topics;
    const ledger = world.service.ledger();
    const connector = await (await world.start()).ready();
    const known = somePayments(30);
    await append(created, recordsOf(known).created);
    await eventually('they are scored', () => ledger.summary().transactions === known.length);

    world.service.faults.set({ latencyMs: 400, operations: ['score'] });
    await append(created, others('held', HELD));
    await eventually('all are read', async () => ((await connector.flow('scoring'))?.buffered ?? 0) > HELD / 2);
    await append(authorized, [...recordsOf(known).authorized, ...strangers('early')]);
    await eventually('they are sent', () => ledger.summary().updates === known.length + STRANGERS);
    expect((await connector.flow('scoring'))?.buffered).toBeGreaterThan(HELD / 2);
    expect(known.every(isLinked)).toBe(true);

    await append(created, others('unread', UNREAD));
    await append(authorized, [...strangers('late'), ...again(known)]);
    await eventually('what was scored is sent', () => ledger.summary().updates === 2 * known.length + STRANGERS);
    await eventually('the others wait', async () => (await connector.flow('sync'))?.buffered === STRANGERS);
    const { unlinked, transactions } = ledger.summary();
    expect([unlinked, transactions < known.length + HELD]).toEqual([STRANGERS, true]);
    world.service.faults.set({});
    await eventually('they are sent', () => ledger.summary().unlinked === 2 * STRANGERS, LARGE_MS);
    expect(ledger.summary().transactions).toBeGreaterThan(known.length + HELD);
    expect(await beforeScore(connector)).toBe(0);
  }, 60_000);
});

describe('topics that are not', () => {
  test('by their numbers of partitions: said at the start, an unknown update waits its time, and not while scoring is held', async () => {
    await open(2, { SYNC_SCORE_WAIT_MS: String(WAIT_MS) });
    await addPartition(world.topics.authorized, 3);
    const connector = await (await world.start()).ready();
    expect(connector.said('partition_counts_differ')).toMatchObject([{ created: 2, authorized: 3 }]);

    world.service.faults.set({ status: { code: 503, share: 1 }, operations: ['score'] });
    const held = somePayments(1);
    await append(world.topics.created, recordsOf(held).created);
    await eventually('scoring waits', async () => ((await connector.flow('scoring'))?.waits.length ?? 0) > 0);
    await append(world.topics.authorized, recordsOf(held).authorized);
    await sleep(WAIT_MS * 3);
    expect(world.service.ledger().summary().updates).toBe(0);
    world.service.faults.set({});
    await eventually('the status has come', () => held.every(isLinked));
    expectAllLinked(held);

    const sentMs = performance.now();
    await world.send(world.topics.authorized, {
      key: 'x',
      value: recordsOf(somePayments(1, { seed: 2 })).authorized[0]?.value ?? null,
    });
    await eventually('the unknown one goes out', () => world.service.ledger().summary().updates === 2);
    expect(performance.now() - sentMs).toBeGreaterThanOrEqual(WAIT_MS);
    expect(world.service.ledger().summary().unlinked).toBe(1);
    expect(await beforeScore(connector)).toBe(1);
  });

  test('by their keys: said at the first pair that shows it; from then on an unknown update waits its time', async () => {
    // Long: each payment comes within it, so it ends only where nothing wakes an update.
    await open(4, { SYNC_SCORE_WAIT_MS: String(10 * WAIT_MS) });
    const connector = await (await world.start()).ready();
    const all = somePayments(40);
    const [payments, late] = [all.slice(0, 20), all.slice(20)];
    await append(world.topics.created, recordsOf(payments).created);
    await eventually('all are scored', () => world.service.ledger().summary().transactions === payments.length);
    await append(world.topics.authorized, statusesByTransaction(payments));
    await eventually('every status has come', () => payments.every(isLinked));
    expect(connector.said('not_co_partitioned')).toHaveLength(1);
    expectAllLinked(payments);
    expect(await beforeScore(connector)).toBe(0);

    await append(world.topics.authorized, statusesByTransaction(late));
    await sleep(WAIT_MS / 4);
    await append(world.topics.created, recordsOf(late).created);
    await eventually('every status has come', () => late.every(isLinked));
    expectAllLinked(all);
    expect(await beforeScore(connector)).toBe(0);
  });
});

const STRANGERS = 5;

/** Payments of as many customers. */
function others(name: string, count: number): readonly NewRecord[] {
  return Array.from({ length: count }, (_, n) => ({
    key: `${name}-${String(n)}`,
    value: { trans_id: `${name}-${String(n)}`, note: 'x'.repeat(200) },
  }));
}

/** Statuses of transactions that were never written. */
function strangers(name: string): readonly NewRecord[] {
  return Array.from({ length: STRANGERS }, (_, n) => ({
    key: `stranger-${name}-${String(n)}`,
    value: { trans_id: `stranger-${name}-${String(n)}`, status: 'error', ts: '2026-01-01T00:00:05Z' },
  }));
}

/** Another status of each payment. */
function again(payments: readonly ShopPayment[]): readonly NewRecord[] {
  return payments.map(({ key, transId }) => ({
    key,
    value: { trans_id: transId, status: 'error', ts: '2026-01-01T00:00:09Z' },
  }));
}

/** Statuses as a producer writes them that keys by trans_id, unlike that of the payments. */
function statusesByTransaction(payments: readonly ShopPayment[]): readonly NewRecord[] {
  return payments.map((payment) => ({
    key: payment.transId,
    value: payment.authorized(Date.UTC(2026, 0, 1, 0, 0, 5)),
  }));
}

async function addPartition(topic: string, count: number): Promise<void> {
  const admin = new Kafka({ brokers: [...inject('kafka').brokers], logLevel: logLevel.NOTHING }).admin();
  await admin.connect();
  await admin.createPartitions({ topicPartitions: [{ topic, count }] });
  await admin.disconnect();
}
