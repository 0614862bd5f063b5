import { BucketCounts, OPERATION_SECONDS, WAY_SECONDS } from '../kernel/bucket-counts.ts';
import { type Settlement } from '../kernel/outcome.ts';

/** How many records ended how, by `delivered`, `skip:<rule>` and `dead_letter:<reason>`, and how long they took. */
export class OutcomeCounts {
  /** Seconds from the first step of a record to its end. */
  readonly processing = new BucketCounts(OPERATION_SECONDS);
  /** Seconds from the timestamp of a record to its end. */
  readonly endToEnd = new BucketCounts(WAY_SECONDS);
  readonly #counts = new Map<string, number>();

  /** `ageMs`: since the record's timestamp; below 0 where its producer's clock is ahead. */
  count(settlement: Settlement, ageMs: number): void {
    const name = nameOf(settlement);
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1);
    this.endToEnd.add(Math.max(0, ageMs) / 1000);
  }

  list(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#counts);
  }
}

function nameOf(settlement: Settlement): string {
  switch (settlement.do) {
    case 'delivered':
      return 'delivered';
    case 'skip':
      return `skip:${settlement.rule}`;
    case 'dead_letter':
      return `dead_letter:${settlement.letter.reason}`;
  }
}
