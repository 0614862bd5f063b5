import { BucketCounts, OPERATION_SECONDS, WAY_SECONDS } from '../kernel/bucket-counts.ts';
import { type Clock } from '../kernel/clock.ts';
import { type Settlement } from '../kernel/outcome.ts';

/**
 * How many records ended how, by `delivered`, `skip:<rule>` and `dead_letter:<reason>`, and how long they took. All that
 * is done for the figures of a record that ends is done here, so that what they cost can be measured.
 */
export class OutcomeCounts {
  /** Seconds from the first step of a record to its end. */
  readonly processing = new BucketCounts(OPERATION_SECONDS);
  /** Seconds from the timestamp of a record to its end. */
  readonly endToEnd = new BucketCounts(WAY_SECONDS);
  readonly #clock: Clock;
  #delivered = 0;
  readonly #others = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** A record ended when it was read. `timestampMs`: its own, which lies ahead where its producer's clock does. */
  count(settlement: Settlement, timestampMs: number): void {
    if (settlement.do === 'delivered') this.#delivered += 1;
    else {
      const name = nameOf(settlement);
      this.#others.set(name, (this.#others.get(name) ?? 0) + 1);
    }
    this.endToEnd.add(Math.max(0, this.#clock.nowMs() - timestampMs) / 1000);
  }

  /** A record ended whose first step began at `beganMs`, monotonic. */
  countStepped(settlement: Settlement, timestampMs: number, beganMs: number): void {
    this.count(settlement, timestampMs);
    this.processing.add((this.#clock.monotonicMs() - beganMs) / 1000);
  }

  list(): Readonly<Record<string, number>> {
    const others = Object.fromEntries(this.#others);
    return this.#delivered === 0 ? others : { delivered: this.#delivered, ...others };
  }
}

function nameOf(settlement: Exclude<Settlement, { readonly do: 'delivered' }>): string {
  return settlement.do === 'skip' ? `skip:${settlement.rule}` : `dead_letter:${settlement.letter.reason}`;
}
