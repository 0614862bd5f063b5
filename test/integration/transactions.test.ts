import { randomUUID } from 'node:crypto';
import { Kafka, logLevel, type Producer, type Transaction } from 'kafkajs';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { type NewRecord } from '../support/payment-world.ts';
import { expectAllSettled, StruckWorld } from './struck-world.ts';

const kafka = new Kafka({ brokers: [...inject('kafka').brokers], logLevel: logLevel.NOTHING });

let struck: StruckWorld;
const producers: Producer[] = [];

beforeAll(async () => {
  struck = await StruckWorld.open({ ...inject('kafka') });
});
afterAll(async () => {
  await Promise.all(
    producers.map(async (producer) => {
      await producer.disconnect();
    }),
  );
  await struck.close();
});

/** Begun, and open until somebody ends it. */
async function begin(): Promise<Transaction> {
  const producer = kafka.producer({ transactionalId: randomUUID(), maxInFlightRequests: 1, idempotent: true });
  producers.push(producer);
  await producer.connect();
  return await producer.transaction();
}

async function write(transaction: Transaction, of: 'created' | 'authorized', records: readonly NewRecord[]) {
  const messages = records.map(({ key = null, value }) => ({ key, value: JSON.stringify(value) }));
  await transaction.send({ topic: struck.world.topics[of], messages });
}

const newIds = (count: number): readonly string[] => Array.from({ length: count }, () => struck.newId());

/** Payments and their statuses, in a transaction that is open. */
async function writeAll(transaction: Transaction, ids: readonly string[]): Promise<void> {
  const payments = ids.map((id) => struck.payment(id));
  const updates = ids.map((id) => struck.update(id));
  await write(transaction, 'created', payments);
  await write(transaction, 'authorized', updates);
}

const lagOf = async (of: 'created' | 'authorized'): Promise<number> => {
  const partitions = (await struck.connector.status())?.partitions ?? [];
  return Number(partitions.find(({ topic }) => topic === struck.world.topics[of])?.lag ?? Number.NaN);
};

describe('payments that are written in transactions', () => {
  test('what was aborted is never sent, what was committed is, and neither is a reason to wait', async () => {
    const [aborted, committed, last] = [newIds(3), newIds(3), newIds(3)];
    const one = await begin();
    await writeAll(one, aborted);
    await one.abort();
    const other = await begin();
    await writeAll(other, committed);
    await other.commit();
    const [plain = ''] = await struck.pay(1);
    await struck.report(plain);
    // The log ends with what nobody is to see, and its marker.
    const third = await begin();
    await writeAll(third, last);
    await third.abort();
    await struck.reported(...committed, plain);
    await expectAllSettled(struck);
    // What a restart reads again is behind all of them.
    await struck.restart();
    const later = await struck.pay(1);
    await struck.report(...later);
    await struck.reported(...later);
    await expectAllSettled(struck);
    for (const id of [...aborted, ...last]) expect(struck.seen(id)).toBeNull();
    for (const id of [...committed, plain, ...later]) expect(struck.seen(id)).toMatchObject({ requests: 1, scored: 1 });
    expect(struck.reasons).toEqual([]);
  });

  test('what lies behind an open one waits, is lag, and no status goes out before its payment', async () => {
    const hidden = newIds(2);
    const open = await begin();
    await write(
      open,
      'created',
      hidden.map((id) => struck.payment(id)),
    );
    // Nobody's transaction, and nobody may read them before the open one has ended.
    const behind = await struck.pay(2);
    await struck.report(...behind);
    await eventually('it is lag', async () => (await lagOf('created')) === 4 && (await lagOf('authorized')) === 2);
    await eventually('the statuses wait', async () =>
      ((await struck.connector.flow('sync'))?.waits ?? []).some(({ cause }) => cause === 'not_scored_yet'),
    );
    for (const id of [...hidden, ...behind]) expect(struck.seen(id)).toBeNull();
    await open.abort();
    await struck.reported(...behind);
    await expectAllSettled(struck);
    for (const id of hidden) expect(struck.seen(id)).toBeNull();
    expect(struck.ledger.summary()).toMatchObject({ unlinked: 0 });
  });
});
