import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { nameOfKey, valueOf } from './backlog.ts';
import { BulkProducer } from './bulk-producer.ts';
import { BatchBuilder } from './record-batch.ts';

const TICK_MS = 2;
const BATCH_BYTES = 256 * 1024;
/** Of each partition. */
const KEYS = 800;

/** A load that goes on by itself. */
export interface LiveLoad {
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
}: {
  readonly broker: string;
  readonly topic: string;
  readonly partitions: number;
  /** Records a second. */
  readonly pace: number;
}): Promise<LiveLoad> {
  const producer = await BulkProducer.open(broker);
  const builder = new BatchBuilder(BATCH_BYTES);
  const stop = new AbortController();
  const beganMs = performance.now();
  const intendedMs = (record: number): number => beganMs + (1000 * record) / pace;
  const write = async (): Promise<void> => {
    let [record, tick] = [0, 0];
    while (!stop.signal.aborted) {
      const partition = tick % partitions;
      tick += 1;
      for (; intendedMs(record) <= performance.now(); record += 1) {
        const key = partition + partitions * (record % KEYS);
        if (!builder.add(nameOfKey(key), valueOf(record, key, false))) break;
      }
      if (builder.count > 0) await producer.send(topic, partition, builder.take(Date.now()));
      await sleep(TICK_MS, undefined, { signal: stop.signal }).catch(() => undefined);
    }
  };
  const writing = write();
  return {
    intendedMs,
    end: async () => {
      stop.abort();
      await writing;
      producer.close();
    },
  };
}
