import { type LogRange, type SourceRecord, type TopicPartition } from '../../engine/ports.ts';
import { recordBytes } from '../../kernel/record-bytes.ts';
import { type Clock } from '../../kernel/clock.ts';
import { type Owned } from './owned.ts';

/** Records handed over in one turn: some milliseconds of work at most, whatever a fetch has brought. */
const AT_ONCE = 128;
/** Of one partition: what is kept beside it need not be fetched yet. */
const ENOUGH = 512;
/** What is kept for partitions that do not flow; beyond it their records are fetched again. */
const MOST_BYTES = 8 * 1024 * 1024;

/** What one fetch has brought of one partition. */
export interface Fetched {
  /** The offset it asked for. */
  readonly from: bigint;
  /** The offset after the last one fetched. */
  readonly next: bigint;
  readonly records: readonly SourceRecord[];
  /** There: the log does not hold `from`, but this, and there are no records. */
  readonly outOfRange?: LogRange;
}

interface Kept {
  readonly next: bigint;
  readonly records: readonly SourceRecord[];
  readonly outOfRange: LogRange | undefined;
  /** The first record that was not handed over; and the offset from which on none was. */
  index: number;
  from: bigint;
}

export interface HandOverOptions {
  readonly clock: Clock;
  /** Whether records of the partition may be handed over now. */
  readonly flows: (owned: Owned) => boolean;
  readonly give: (at: TopicPartition, part: Fetched) => void;
  /** There was enough of it, and is no more: it should be fetched again. */
  readonly onLow: (owned: Owned) => void;
}

/**
 * Records between their fetch and the engine. One fetch brings thousands: they are handed over by turns of the event loop,
 * a part at a time and the partitions one after another, so that the answers of the service, webhooks and heartbeats
 * come in between. What has come for a partition that is paused meanwhile is kept for when it flows again, and not thrown
 * away to be fetched and decoded once more.
 */
export class HandOver {
  readonly #options: HandOverOptions;
  /** In the order of their turns. */
  readonly #kept = new Map<Owned, Kept[]>();
  #bytes = 0;
  #isScheduled = false;

  constructor(options: HandOverOptions) {
    this.#options = options;
  }

  /** Keeps what comes next of a partition, until `go` or `wake`. False: there is no room for it. */
  add(owned: Owned, { from, next, records, outOfRange }: Fetched): boolean {
    const bytes = sizeOf(records);
    if (bytes > 0 && !this.#options.flows(owned) && this.#bytes + bytes > MOST_BYTES) return false;
    this.#bytes += bytes;
    const kept = { next, records, outOfRange, index: 0, from };
    const before = this.#kept.get(owned);
    if (before === undefined) this.#kept.set(owned, [kept]);
    else before.push(kept);
    return true;
  }

  /** Hands over what has come, now if nobody else's turn is due. */
  go(owned: Owned): void {
    if (!this.#isScheduled) this.#turn(owned);
  }

  /** Whether so much of the partition waits here that no more should be fetched. */
  hasEnough(owned: Owned): boolean {
    const waiting = this.#kept.get(owned) ?? [];
    return waiting.reduce((sum, { records, index }) => sum + records.length - index, 0) >= ENOUGH;
  }

  /** Something may flow again. */
  wake(): void {
    if (this.#isScheduled || this.#nextToFlow() === undefined) return;
    this.#isScheduled = true;
    this.#options.clock.soon(() => {
      this.#isScheduled = false;
      const owned = this.#nextToFlow();
      if (owned === undefined) return;
      const hadEnough = this.hasEnough(owned);
      this.#turn(owned);
      if (hadEnough && !this.hasEnough(owned)) this.#options.onLow(owned);
    });
  }

  /**
   * The partition is read on from `next`. What is kept stays if it begins there: it may have expired meanwhile. Returns
   * where more is to be fetched from.
   */
  readFrom(owned: Owned, next: bigint): bigint {
    const waiting = this.#kept.get(owned) ?? [];
    const records = waiting.filter(({ outOfRange }) => outOfRange === undefined);
    const last = records.at(-1);
    if (last === undefined || records[0]?.from !== next) {
      this.#drop(owned);
      return next;
    }
    this.#kept.set(owned, records);
    return last.next;
  }

  /** Forgets what is kept of all other partitions. */
  keepOnly(isKept: (owned: Owned) => boolean): void {
    for (const owned of this.#kept.keys()) if (!isKept(owned)) this.#drop(owned);
  }

  #drop(owned: Owned): void {
    for (const { records, index } of this.#kept.get(owned) ?? []) this.#bytes -= sizeOf(records.slice(index));
    this.#kept.delete(owned);
  }

  #nextToFlow(): Owned | undefined {
    for (const owned of this.#kept.keys()) if (this.#options.flows(owned)) return owned;
    return undefined;
  }

  /** Hands over a part of what is kept of one partition. */
  #turn(owned: Owned): void {
    const waiting = this.#kept.get(owned);
    const [kept] = waiting ?? [];
    if (waiting === undefined || kept === undefined || !this.#options.flows(owned)) return;
    const { from, index, outOfRange } = kept;
    const part = kept.records.slice(index, index + AT_ONCE);
    kept.index += part.length;
    const isWhole = kept.index === kept.records.length;
    kept.from = isWhole ? kept.next : (part.at(-1)?.offset ?? from) + 1n;
    this.#bytes -= sizeOf(part);
    // All of it before the records go: whoever gets them may pause the partition, or read it from elsewhere.
    this.#kept.delete(owned);
    if (isWhole) waiting.shift();
    if (waiting.length > 0) this.#kept.set(owned, waiting);
    const given = { from, next: kept.from, records: part };
    this.#options.give(owned.at, outOfRange === undefined ? given : { ...given, outOfRange });
    this.wake();
  }
}

function sizeOf(records: readonly SourceRecord[]): number {
  let bytes = 0;
  for (const record of records) bytes += recordBytes(record);
  return bytes;
}
