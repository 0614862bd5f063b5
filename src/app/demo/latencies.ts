const STEP = 1.05;
const LOG_STEP = Math.log(STEP);
/** 1.05 ** 300 ms is over half an hour. */
const BUCKETS = 301;
const SLOTS = 6;
const SLOT_MS = 10_000;
/** What never ends must not fill the memory. */
const MAX_OPEN = 100_000;

/** The span that half, and 99 of 100, stay within; milliseconds, at most 5 % too high. */
export interface Quantiles {
  readonly p50: number;
  readonly p99: number;
  readonly count: number;
}

/**
 * How long things took from their beginning to their end, over the last 50 to 60 seconds, in a fixed amount of memory.
 * Times are given, milliseconds since 1970.
 */
export class Latencies {
  readonly #begun = new Map<string, number>();
  readonly #slots = Array.from({ length: SLOTS }, () => ({ number: -1, counts: new Uint32Array(BUCKETS) }));

  /** Something of this name has begun. */
  begin(name: string, atMs: number): void {
    this.#begun.set(name, atMs);
    if (this.#begun.size <= MAX_OPEN) return;
    const oldest = this.#begun.keys().next();
    if (oldest.done !== true) this.#begun.delete(oldest.value);
  }

  /** It has ended; a second end, or that of something that never began, counts for nothing. */
  end(name: string, atMs: number): void {
    const begunMs = this.#begun.get(name);
    if (begunMs === undefined) return;
    this.#begun.delete(name);
    const bucket = Math.ceil(Math.log(Math.max(1, atMs - begunMs)) / LOG_STEP);
    const counts = this.#slotAt(atMs).counts;
    const index = Math.min(BUCKETS - 1, bucket);
    counts[index] = (counts[index] ?? 0) + 1;
  }

  /** Null: nothing has ended lately. */
  quantiles(nowMs: number): Quantiles | null {
    const newest = Math.floor(nowMs / SLOT_MS);
    const counts = new Float64Array(BUCKETS);
    for (const slot of this.#slots) {
      if (slot.number <= newest - SLOTS || slot.number > newest) continue;
      for (const [bucket, count] of slot.counts.entries()) counts[bucket] = (counts[bucket] ?? 0) + count;
    }
    const count = counts.reduce((sum, each) => sum + each, 0);
    if (count === 0) return null;
    return { p50: below(counts, count * 0.5), p99: below(counts, count * 0.99), count };
  }

  #slotAt(atMs: number): { counts: Uint32Array } {
    const number = Math.floor(atMs / SLOT_MS);
    const slot = this.#slots[((number % SLOTS) + SLOTS) % SLOTS] ?? { number, counts: new Uint32Array(BUCKETS) };
    if (slot.number < number) {
      slot.number = number;
      slot.counts.fill(0);
    }
    return slot;
  }
}

/** The upper end of the bucket in which the running sum reaches `rank`. */
function below(counts: Float64Array, rank: number): number {
  let sum = 0;
  for (const [bucket, count] of counts.entries()) {
    sum += count;
    if (sum >= rank) return Math.round(STEP ** bucket);
  }
  return Math.round(STEP ** (BUCKETS - 1));
}
