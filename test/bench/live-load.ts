import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { type KeyPlan, nameOfKey, valueOf } from './backlog.ts';
import { BulkProducer } from './bulk-producer.ts';
import { BatchBuilder } from './record-batch.ts';

const TICK_MS = 2;
/** So that they fit into one batch, should all be of one partition. */
const MOST_A_TURN = 256;
const BATCH_BYTES = 256 * 1024;
const KEYS = 9600;
/** Keys in turn, so that partitions have their records in turn, too. */
export const KEYS_IN_TURN: KeyPlan = { keys: KEYS, keyOf: (record) => record % KEYS };

/** A load that goes on by itself. */
export interface LiveLoad {
  /** The key of a record that has been sent. */
  readonly keyOf: (record: number) => number;
  /** When this record was meant to be sent, on the clock of `performance.now`. */
  readonly intendedMs: (record: number) => number;
  readonly end: () => Promise<void>;
}

/**
 * Writes records at an even pace, whether the broker keeps up or not: what is late is sent at once, and its intended time
 * stays the one it should have been sent at. Otherwise a slow broker would hide the waits that it causes.
 */
export async function loadLive({
  broker,
  topic,
  partitions,
  pace,
  plan,
}: {
  readonly broker: string;
  readonly topic: string;
  readonly partitions: number;
  /** Records a second. */
  readonly pace: number;
  readonly plan: KeyPlan;
}): Promise<LiveLoad> {
  const producer = await BulkProducer.open(broker);
  const builder = new BatchBuilder(BATCH_BYTES);
  const stop = new AbortController();
  const beganMs = performance.now();
  const intendedMs = (record: number): number => beganMs + (1000 * record) / pace;
  const keyOfRecord: number[] = [];
  /** What is due, one batch a partition; what does not fit waits for the next turn. */
  const due = (): ReadonlyMap<number, readonly number[]> => {
    const records: number[] = [];
    const most = keyOfRecord.length + MOST_A_TURN;
    for (; keyOfRecord.length < most && intendedMs(keyOfRecord.length) <= performance.now();) {
      records.push(keyOfRecord.length);
      keyOfRecord.push(plan.keyOf(keyOfRecord.length));
    }
    return Map.groupBy(records, (record) => (keyOfRecord[record] ?? 0) % partitions);
  };
  const write = async (): Promise<void> => {
    while (!stop.signal.aborted) {
      for (const [partition, records] of due()) {
        for (const record of records) {
          const key = keyOfRecord[record] ?? 0;
          builder.add(nameOfKey(key), valueOf(record, key, false));
        }
        await producer.send(topic, partition, builder.take(Date.now()));
      }
      await sleep(TICK_MS, undefined, { signal: stop.signal }).catch(() => undefined);
    }
  };
  const writing = write();
  return {
    keyOf: (record) => keyOfRecord[record] ?? 0,
    intendedMs,
    end: async () => {
      stop.abort();
      await writing;
      producer.close();
    },
  };
}
