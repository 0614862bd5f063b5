/** How often numbers were how large: what a histogram shows. */
export interface Distribution {
  /** Upper bounds, included, rising. */
  readonly bounds: readonly number[];
  /** How many numbers lie between each bound and the one before; one more entry than bounds, for what lies above the last. */
  readonly counts: ArrayLike<number>;
  /** Of all numbers. */
  readonly sum: number;
  /** How many there were. */
  readonly count: number;
}

/**
 * Counts numbers by size, in an array that is made once: an `add` allocates nothing and looks nothing up, because some
 * come with every record. What is not finite, or below zero where the clock went back, is the caller's to keep out.
 */
export class BucketCounts implements Distribution {
  readonly bounds: readonly number[];
  readonly counts: Float64Array;
  sum = 0;
  count = 0;

  /** `bounds` rise. */
  constructor(bounds: readonly number[]) {
    this.bounds = bounds;
    this.counts = new Float64Array(bounds.length + 1);
  }

  add(value: number): void {
    const { bounds, counts } = this;
    let slot = 0;
    // Few bounds, and most numbers are small: counting up is quicker than halving.
    while (slot < bounds.length && value > (bounds[slot] as number)) slot += 1;
    counts[slot] = (counts[slot] as number) + 1;
    this.sum += value;
    this.count += 1;
  }
}

/** Bounds in seconds for one operation, as OpenTelemetry advises for HTTP and messaging clients. */
export const OPERATION_SECONDS: readonly number[] = [
  0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10,
];
/** Bounds in seconds for a record's whole way, from its timestamp on: it may have lain in its topic for long. */
export const WAY_SECONDS: readonly number[] = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600,
];
