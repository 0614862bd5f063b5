import { type Keys } from './arguments.ts';
import { type Rival } from './rivals/roster.ts';

/** One kind of work that contestants do by turns. */
export interface CompareJob {
  /** As the table says it. */
  readonly name: string;
  /** Payments that are scored one by one, or status updates that go in batches. */
  readonly flow: 'scoring' | 'sync';
  readonly rivals: readonly Rival[];
  /** Until the service answers, in milliseconds. */
  readonly latencyMs: number;
  /** Requests at once; of status updates: batches. */
  readonly concurrency: number;
  readonly keys: Keys;
  readonly partitions: number;
  /** Of a record's value. */
  readonly valueBytes: number;
  /** Values in Avro; only the connector reads them. */
  readonly avro: boolean;
  readonly rounds: number;
}

/** Status updates in one batch, as the connector has it by default. */
export const UPDATES_PER_BATCH = 100;
export const SMALLEST_VALUE = 704;

/** The usual work at one latency, by which contestants are compared first of all. */
export const USUAL: Omit<CompareJob, 'name' | 'rivals' | 'latencyMs' | 'rounds'> = {
  flow: 'scoring',
  concurrency: 64,
  keys: 'even',
  partitions: 12,
  valueBytes: SMALLEST_VALUE,
  avro: false,
};

/** The name of the usual work at one latency. */
export function usualName(latencyMs: number): string {
  return `${String(latencyMs)} ms`;
}

/** Work of other kinds, measured once: what changes when one thing does. */
export function otherJobs(isQuick: boolean): readonly CompareJob[] {
  // Where time is short the connector is compared with itself at the usual work.
  const rivals: readonly Rival[] = isQuick ? ['connector'] : ['connector', 'bare-loop', 'parallel-consumer'];
  const of = (name: string, latencyMs: number, more: Partial<CompareJob> = {}): CompareJob => {
    return Object.assign({ ...USUAL, name, latencyMs, rivals, rounds: 1 }, more);
  };
  return [
    of(usualName(5), 5, { rivals: ['connector-scores'] }),
    of(usualName(0), 0, { rivals: ['connector-scores'] }),
    of('200 ms', 200),
    of('50 ms, 256 at once', 50, { concurrency: 256 }),
    of('50 ms, 1,024 at once', 50, { concurrency: 1024 }),
    of('5 ms, 300 partitions', 5, { partitions: 300 }),
    of('5 ms, 100 kB', 5, { valueBytes: 100_000 }),
    of('5 ms, Avro', 5, { avro: true, rivals: ['connector'] }),
    of('updates, 20 ms', 20, { flow: 'sync', concurrency: 4, rivals: ['connector-sync', 'joined-bytes'] }),
  ];
}
