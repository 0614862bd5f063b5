import { type LedgerSummary, type LedgerTransaction } from '../../sandbox/service/ledger.ts';

/** What the shops wrote to Kafka, acknowledged. */
export interface Produced {
  /** By trans_id: the status that was reported; null: none yet. */
  readonly payments: ReadonlyMap<string, string | null>;
}

/** What was read back from the topic of reviews. */
export interface ReviewsRead {
  readonly records: number;
  /** Different event_ids. */
  readonly events: number;
}

/** What came of everything: the shops' account against the service's ledger and the topic of reviews. */
export interface Reckoning {
  readonly payments: number;
  readonly scored: number;
  readonly statuses: number;
  readonly linked: number;
  readonly reviewsDecided: number;
  readonly reviewsPublished: number;
  /** Payments not scored, statuses not linked, reviews not published. */
  readonly lost: number;
  /** Scorings, statuses and reviews that came more than once. */
  readonly doubled: number;
  /** Payments of a customer out of order or two at once, statuses of a payment out of order. */
  readonly outOfOrder: number;
}

/** What doubled and disordered things are counted from. */
export interface Seen {
  readonly summary: LedgerSummary;
  readonly reviews: ReviewsRead;
}

/** What was done twice, and what was done out of order; true at any time, also while things are on their way. */
export function mishaps({ summary, reviews }: Seen): Pick<Reckoning, 'doubled' | 'outOfOrder'> {
  return {
    doubled: summary.repeatedScorings + summary.repeatedUpdates + (reviews.records - reviews.events),
    outOfOrder: summary.overlaps + summary.disorders + summary.backwardUpdates + summary.updateOverlaps,
  };
}

/** Compares what was produced with what the service saw and what can be read from Kafka. */
export function reckon(
  { payments }: Produced,
  ledger: { transaction(transId: string): LedgerTransaction | null; summary(): LedgerSummary },
  reviews: ReviewsRead,
): Reckoning {
  let scored = 0;
  let statuses = 0;
  let linked = 0;
  for (const [transId, status] of payments) {
    const seen = ledger.transaction(transId);
    if (seen !== null && seen.scored > 0) scored += 1;
    if (status === null) continue;
    statuses += 1;
    if (seen?.updates.some((update) => update.linked && update.status === status) === true) linked += 1;
  }
  const summary = ledger.summary();
  const notPublished = Math.max(0, summary.reviews - reviews.events);
  return {
    payments: payments.size,
    scored,
    statuses,
    linked,
    reviewsDecided: summary.reviews,
    reviewsPublished: reviews.events,
    lost: payments.size - scored + (statuses - linked) + notPublished,
    ...mishaps({ summary, reviews }),
  };
}

/** Whether nothing is on its way any more. */
export function isComplete({ lost }: Reckoning): boolean {
  return lost === 0;
}

/** Whether everything is as promised. Only after a kill may something have been done twice. */
export function isAsPromised({ lost, doubled, outOfOrder }: Reckoning, kills: number): boolean {
  return lost === 0 && outOfOrder === 0 && (doubled === 0 || kills > 0);
}
