import {
  type AssignedPartition,
  type LogRange,
  type Source,
  type SourceEvents,
  type SourceRecord,
  type TopicPartition,
} from '../engine/ports.ts';
import { type Clock, pause } from '../kernel/clock.ts';
import { Fault } from '../kernel/fault.ts';

/** Offsets of one topic, by partition. */
export type Wanted = ReadonlyMap<number, readonly bigint[]>;

export interface FetchParts {
  /** A member of a group of its own that reads one topic; started and stopped here. */
  readonly source: Source;
  readonly clock: Clock;
  /** True once a stop was asked for. */
  readonly isStopped: () => boolean;
  /** Of values that are kept at once. */
  readonly mostBytes: number;
}

const LOOK_EVERY_MS = 100;

/**
 * The records of a topic at these offsets, by `partition:offset`; what is not there any more is not among them. Jumps from
 * one to the next, so what lies between is hardly read. Null: a stop was asked for. Throws `INDEX_FULL` where they are too
 * much to be kept. Kafka being away is waited out.
 */
export async function fetchRecords(
  { source, clock, isStopped, mostBytes }: FetchParts,
  wanted: Wanted,
): Promise<ReadonlyMap<string, SourceRecord> | null> {
  const picking = new Picking(source, wanted);
  if (picking.isDone) return picking.found;
  await source.start(picking);
  try {
    while (!picking.isDone) {
      await pause(clock, LOOK_EVERY_MS);
      if (isStopped()) return null;
      if (picking.bytes > mostBytes)
        throw new Fault(
          'INDEX_FULL',
          `The records that letters point to are more than ${String(mostBytes)} bytes in all. Send them in parts: --limit, or --from and --to.`,
        );
    }
    return picking.found;
  } finally {
    await source.stop();
  }
}

/** How a record is named within its topic. */
export function placeOf({ partition, offset }: { readonly partition: number; readonly offset: bigint }): string {
  return `${String(partition)}:${String(offset)}`;
}

class Picking implements SourceEvents {
  readonly found = new Map<string, SourceRecord>();
  bytes = 0;
  readonly #source: Source;
  /** Offsets that have not been come to, ascending. */
  readonly #left: Map<number, readonly bigint[]>;

  constructor(source: Source, wanted: Wanted) {
    this.#source = source;
    this.#left = new Map([...wanted].map(([partition, offsets]) => [partition, [...new Set(offsets)].sort(ascending)]));
  }

  get isDone(): boolean {
    return [...this.#left.values()].every((offsets) => offsets.length === 0);
  }

  async barrier(): Promise<void> {
    await Promise.resolve();
  }

  assigned(partitions: readonly AssignedPartition[]): void {
    for (const partition of this.#left.keys())
      // The only member owns every partition there is.
      if (!partitions.some((at) => at.partition === partition)) this.#left.set(partition, []);
    for (const at of partitions) this.outOfRange(at, at);
  }

  outOfRange(at: TopicPartition, { low, high }: LogRange): void {
    const left = this.#left.get(at.partition) ?? [];
    this.#left.set(
      at.partition,
      left.filter((offset) => offset >= low && offset < high),
    );
    this.#goOn(at, null);
  }

  records(at: TopicPartition, _from: bigint, next: bigint, records: readonly SourceRecord[]): void {
    const left = this.#left.get(at.partition) ?? [];
    const wanted = new Set(left.filter((offset) => offset < next));
    for (const record of records) {
      if (!wanted.has(record.offset)) continue;
      this.found.set(placeOf(record), record);
      this.bytes += record.value?.length ?? 0;
    }
    this.#left.set(at.partition, left.slice(wanted.size));
    this.#goOn(at, next);
  }

  position(): void {}

  lost(): void {}

  #goOn(at: TopicPartition, next: bigint | null): void {
    const [first] = this.#left.get(at.partition) ?? [];
    if (first === undefined) {
      if (next !== null) this.#source.pause([at]);
      return;
    }
    if (first !== next) this.#source.seek(at, first);
    if (next === null) this.#source.resume([at]);
  }
}

function ascending(one: bigint, other: bigint): number {
  return one < other ? -1 : Number(one > other);
}
