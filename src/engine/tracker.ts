const UNFINISHED = 0;
const FINISHED = 1;

/**
 * Which offsets of one partition are settled, from the first one that may not be passed yet.
 *
 * Algebra: every offset below `low` is settled; `track` adds offsets in rising order, and offsets that are never added
 * (compaction, transaction markers) count as settled; `settle` may come in any order, once or more. Hence
 * `committable` = base + low never passes an unsettled offset, never goes back, and equals `next` when nothing is open.
 *
 * Offsets are kept as a bigint base plus a number, so that offsets near 2^63 cost no more than small ones. A byte ring
 * holds the states: O(1) amortised per record, memory proportional to the span between `low` and `next`.
 */
export class Tracker {
  readonly #base: bigint;
  #low = 0;
  #next = 0;
  #capacity: number;
  #states: Uint8Array;
  #timestampsMs: Float64Array;

  /** @param first the offset from which the partition is read. */
  constructor(first: bigint, capacity = 1024) {
    this.#base = first;
    this.#capacity = capacity;
    this.#states = new Uint8Array(capacity);
    this.#timestampsMs = new Float64Array(capacity);
  }

  /** The index by which this offset is settled, or -1 when it is behind what has been tracked: a repeat of the source. */
  track(offset: bigint, timestampMs: number): number {
    const index = Number(offset - this.#base);
    if (index < this.#next) return -1;
    this.#skipTo(index);
    this.#reserve(index + 1);
    this.#states[index % this.#capacity] = UNFINISHED;
    this.#timestampsMs[index % this.#capacity] = timestampMs;
    this.#next = index + 1;
    return index;
  }

  /** Counts every offset below `next` that was not tracked as settled (control records at the end of a batch). */
  passTo(next: bigint): void {
    this.#skipTo(Number(next - this.#base));
    this.#compact();
  }

  settle(index: number): void {
    if (index < this.#low || index >= this.#next) return;
    this.#states[index % this.#capacity] = FINISHED;
    if (index === this.#low) this.#compact();
  }

  /** The next offset that may be committed: all below it are settled. */
  get committable(): bigint {
    return this.#base + BigInt(this.#low);
  }

  /** The next offset to be tracked. */
  get next(): bigint {
    return this.#base + BigInt(this.#next);
  }

  /** Timestamp of the first unsettled record; null: none is open. */
  get oldestMs(): number | null {
    return this.#low === this.#next ? null : (this.#timestampsMs[this.#low % this.#capacity] ?? null);
  }

  #skipTo(index: number): void {
    if (index <= this.#next) return;
    if (this.#low === this.#next) {
      this.#low = index;
      this.#next = index;
      return;
    }
    this.#reserve(index);
    for (; this.#next < index; this.#next += 1) this.#states[this.#next % this.#capacity] = FINISHED;
  }

  #compact(): void {
    while (this.#low < this.#next && this.#states[this.#low % this.#capacity] === FINISHED) this.#low += 1;
  }

  #reserve(end: number): void {
    if (end - this.#low <= this.#capacity) return;
    let capacity = this.#capacity;
    while (end - this.#low > capacity) capacity *= 2;
    const states = new Uint8Array(capacity);
    const timestampsMs = new Float64Array(capacity);
    for (let index = this.#low; index < this.#next; index += 1) {
      states[index % capacity] = this.#states[index % this.#capacity] ?? UNFINISHED;
      timestampsMs[index % capacity] = this.#timestampsMs[index % this.#capacity] ?? 0;
    }
    this.#capacity = capacity;
    this.#states = states;
    this.#timestampsMs = timestampsMs;
  }
}
