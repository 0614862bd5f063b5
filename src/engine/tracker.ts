/** Offsets in a row; `from` counts from an origin that whoever hands it over names. */
export interface OffsetRange {
  readonly from: number;
  /** At least 1. */
  readonly length: number;
}

/** A record that was tracked; by it the tracker settles it. Nothing else reads it. */
export interface Tracked {
  /** Its offset, from the tracker's base; as all offsets there. */
  readonly at: number;
  readonly timestampMs: number;
  isSettled: boolean;
  /** The unsettled records on both sides of it. */
  before: Tracked | null;
  after: Tracked | null;
  /** Whether records between it and the next unsettled one are settled. */
  isFollowed: boolean;
}

/**
 * Which offsets of one partition are settled, from the first one that may not be passed yet.
 *
 * Algebra: every offset below `committable` is settled; `track` adds offsets in rising order, and offsets that are never
 * added (compaction, transaction markers) count as settled; `settle` may come in any order, once or more. Hence
 * `committable` never passes an unsettled offset, never goes back, and equals `next` when nothing is open.
 *
 * What an earlier owner had finished above its committed offset comes back by `restore`: such an offset is settled in the
 * moment it is tracked, and `isRestored` says so before. `finishedRanges` tells what is settled above `committable`, restored
 * offsets that were not read again included, so that a second crash loses no more than the first.
 *
 * Offsets are kept as a bigint base plus a number, so that offsets near 2^63 cost no more than small ones. Only records
 * that are not settled are kept, in a list: O(1) for each record, and millions that have settled behind one that has
 * not cost no more than none.
 */
export class Tracker {
  readonly #base: bigint;
  /** The offset to be tracked next, from the base; as all offsets here. */
  #nextOffset = 0;
  /** The unsettled records with the lowest and the highest offset; null: all are settled. */
  #first: Tracked | null = null;
  #last: Tracked | null = null;
  #restored: readonly OffsetRange[] = [];
  /** The first restored range that may lie ahead. */
  #ahead = 0;

  /** @param first the offset from which the partition is read. */
  constructor(first: bigint) {
    this.#base = first;
  }

  /**
   * Takes over what an earlier owner had finished; once, before anything is tracked.
   *
   * @param ranges rising, without overlap; `from` counts from the offset this tracker was built with.
   */
  restore(ranges: readonly OffsetRange[]): void {
    this.#restored = ranges;
    this.#ahead = 0;
  }

  /** By what it returns this offset is settled; null: it lies behind what has been tracked, a repeat of the source. */
  track(offset: bigint, timestampMs: number): Tracked | null {
    const at = Number(offset - this.#base);
    if (at < this.#nextOffset) return null;
    const tracked: Tracked = { at, timestampMs, isSettled: false, before: this.#last, after: null, isFollowed: false };
    if (this.#last === null) this.#first = tracked;
    else this.#last.after = tracked;
    this.#last = tracked;
    this.#nextOffset = at + 1;
    if (this.#isRestored(at)) this.settle(tracked);
    return tracked;
  }

  /** Counts every offset below `next` that was not tracked as settled (control records at the end of a batch). */
  passTo(next: bigint): void {
    this.#nextOffset = Math.max(this.#nextOffset, Number(next - this.#base));
  }

  /** How many offsets from `next` to before `offset` no earlier owner had finished. */
  missingTo(offset: bigint): number {
    const end = Number(offset - this.#base);
    let missing = Math.max(0, end - this.#nextOffset);
    for (const { from, length } of this.#restored)
      missing -= Math.max(0, Math.min(from + length, end) - Math.max(from, this.#nextOffset));
    return missing;
  }

  /** Counts every offset from `next` to before `offset` as settled, in the finished ranges as well. */
  skipTo(offset: bigint): void {
    // One settled record at the end stands for all: a hole beside it is in its range, one between unsettled records is in none.
    this.settle(this.track(offset - 1n, 0));
  }

  /** What `track` has returned is settled from now on; a repeat was before. */
  settle(tracked: Tracked | null): void {
    if (tracked === null || tracked.isSettled) return;
    tracked.isSettled = true;
    const { before, after } = tracked;
    if (before === null) this.#first = after;
    else {
      before.after = after;
      before.isFollowed = true;
    }
    if (after === null) this.#last = before;
    else after.before = before;
    // Who still holds it holds no others by it.
    tracked.before = null;
    tracked.after = null;
  }

  /** The next offset that may be committed: all below it are settled. */
  get committable(): bigint {
    return this.#base + BigInt(this.#committable);
  }

  /** How many offsets lie between `committable` and `next`. */
  get span(): number {
    return this.#nextOffset - this.#committable;
  }

  /** The next offset to be tracked. */
  get next(): bigint {
    return this.#base + BigInt(this.#nextOffset);
  }

  /** Timestamp of the first unsettled record; null: none is open. */
  get oldestMs(): number | null {
    return this.#first?.timestampMs ?? null;
  }

  /**
   * The settled offsets above `committable`, rising, `from` counted from `committable`; holes beside settled records are
   * in them, holes between unsettled ones are not. Two in a row may touch. Valid until the next `track` or `settle`.
   */
  *finishedRanges(): Generator<OffsetRange, void, undefined> {
    const origin = this.#committable;
    for (let open = this.#first; open !== null; open = open.after) {
      const from = open.at + 1;
      if (open.isFollowed) yield { from: from - origin, length: (open.after?.at ?? this.#nextOffset) - from };
    }
    for (const range of this.#restored) {
      const end = range.from + range.length;
      const from = Math.max(range.from, this.#nextOffset);
      if (from < end) yield { from: from - origin, length: end - from };
    }
  }

  /** Whether an earlier owner had finished this offset, which is not tracked yet. Ask in rising order. */
  isRestored(offset: bigint): boolean {
    return this.#isRestored(Number(offset - this.#base));
  }

  /** Whether this offset lies in a restored range. Offsets come in rising order, so ranges behind are never looked at again. */
  #isRestored(at: number): boolean {
    let range = this.#restored[this.#ahead];
    while (range !== undefined && at >= range.from + range.length) {
      this.#ahead += 1;
      range = this.#restored[this.#ahead];
    }
    return range !== undefined && at >= range.from;
  }

  get #committable(): number {
    return this.#first?.at ?? this.#nextOffset;
  }
}
