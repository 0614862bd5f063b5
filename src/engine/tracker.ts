const UNFINISHED = 0;
const FINISHED = 1;

/** Offsets in a row; `from` counts from an origin that whoever hands it over names. */
export interface OffsetRange {
  readonly from: number;
  /** At least 1. */
  readonly length: number;
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
 * Offsets are kept as a bigint base plus a number, so that offsets near 2^63 cost no more than small ones. Rings hold
 * one slot for each record between `committable` and `next`: O(1) amortised per record, and holes cost nothing, however
 * wide they are.
 */
export class Tracker {
  readonly #base: bigint;
  /** Records are counted from 0: below `low` all are settled, from `next` on none is tracked. */
  #low = 0;
  #next = 0;
  /** The offset to be tracked next, from the base; as all offsets here. */
  #nextOffset = 0;
  #capacity: number;
  #states: Uint8Array;
  #offsets: Float64Array;
  #timestampsMs: Float64Array;
  #restored: readonly OffsetRange[] = [];
  /** The first restored range that may lie ahead. */
  #ahead = 0;

  /** @param first the offset from which the partition is read. */
  constructor(first: bigint, capacity = 1024) {
    this.#base = first;
    this.#capacity = capacity;
    this.#states = new Uint8Array(capacity);
    this.#offsets = new Float64Array(capacity);
    this.#timestampsMs = new Float64Array(capacity);
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

  /** The index by which this offset is settled, or -1 when it is behind what has been tracked: a repeat of the source. */
  track(offset: bigint, timestampMs: number): number {
    const at = Number(offset - this.#base);
    if (at < this.#nextOffset) return -1;
    if (this.#next - this.#low === this.#capacity) this.#grow();
    const index = this.#next;
    const slot = index % this.#capacity;
    this.#states[slot] = UNFINISHED;
    this.#offsets[slot] = at;
    this.#timestampsMs[slot] = timestampMs;
    this.#next = index + 1;
    this.#nextOffset = at + 1;
    if (this.#isRestored(at)) this.settle(index);
    return index;
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

  settle(index: number): void {
    if (index < this.#low || index >= this.#next) return;
    this.#states[index % this.#capacity] = FINISHED;
    while (this.#low < this.#next && this.#states[this.#low % this.#capacity] === FINISHED) this.#low += 1;
  }

  /** The next offset that may be committed: all below it are settled. */
  get committable(): bigint {
    return this.#base + BigInt(this.#offsetOf(this.#low));
  }

  /** The next offset to be tracked. */
  get next(): bigint {
    return this.#base + BigInt(this.#nextOffset);
  }

  /** Timestamp of the first unsettled record; null: none is open. */
  get oldestMs(): number | null {
    return this.#low === this.#next ? null : (this.#timestampsMs[this.#low % this.#capacity] ?? null);
  }

  /**
   * The settled offsets above `committable`, rising, `from` counted from `committable`; holes beside settled records are
   * in them, holes between unsettled ones are not. Two in a row may touch.
   *
   * Costs a native search for each range and stops when the caller stops; valid until the next `track` or `settle`.
   */
  *finishedRanges(): Generator<OffsetRange, void, undefined> {
    const origin = this.#offsetOf(this.#low);
    for (let first = this.#find(FINISHED, this.#low); first < this.#next;) {
      const end = this.#find(UNFINISHED, first);
      const from = this.#offsetOf(first - 1) + 1;
      yield { from: from - origin, length: this.#offsetOf(end) - from };
      first = this.#find(FINISHED, end);
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

  #offsetOf(index: number): number {
    return index < this.#next ? (this.#offsets[index % this.#capacity] ?? 0) : this.#nextOffset;
  }

  /** The first record in this state from `index` on; `next` or above: there is none (what a slot there holds is long passed). */
  #find(state: number, index: number): number {
    const slot = index % this.#capacity;
    const ahead = this.#states.indexOf(state, slot);
    if (ahead !== -1) return index + ahead - slot;
    const behind = this.#states.indexOf(state);
    return behind === -1 ? this.#next : index + this.#capacity - slot + behind;
  }

  #grow(): void {
    const capacity = this.#capacity * 2;
    const states = new Uint8Array(capacity);
    const offsets = new Float64Array(capacity);
    const timestampsMs = new Float64Array(capacity);
    for (let index = this.#low; index < this.#next; index += 1) {
      const from = index % this.#capacity;
      const to = index % capacity;
      states[to] = this.#states[from] ?? UNFINISHED;
      offsets[to] = this.#offsets[from] ?? 0;
      timestampsMs[to] = this.#timestampsMs[from] ?? 0;
    }
    this.#capacity = capacity;
    this.#states = states;
    this.#offsets = offsets;
    this.#timestampsMs = timestampsMs;
  }
}
