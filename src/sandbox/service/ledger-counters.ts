/** What the ledger counts since the start or the last reset. */
export interface LedgerCounters {
  /** Distinct transactions that were scored at least once. */
  transactions: number;
  scoreRequests: number;
  /** Scorings carried out, repeats included. */
  scorings: number;
  /** Scorings of a transaction that had been scored before. */
  repeatedScorings: number;
  /** Scoring requests that came while one for another transaction of the same customer was open. */
  overlaps: number;
  /** Scoring requests that came while one for the same transaction was open. */
  repeatOverlaps: number;
  /** First scorings that came after a later payment of the same customer had been scored. */
  disorders: number;
  refusedRequests: number;
  unauthorised: number;
  updates: number;
  linked: number;
  unlinked: number;
  /** Updates equal in status and ts to one accepted before. */
  repeatedUpdates: number;
  /** New updates whose ts is before that of the one accepted last. */
  backwardUpdates: number;
  /** Updates that came while another PATCH with the same trans_id was open. */
  updateOverlaps: number;
  approvedWithoutAcqRefId: number;
  /** Distinct transactions with at least one linked update. */
  transactionsWithStatus: number;
  /** Updates answered for as not accepted, one by one. */
  refusedUpdates: number;
  batches: number;
  refusedBatches: number;
  batchBytes: number;
  largestBatch: number;
  reviews: number;
  webhooksDelivered: number;
  webhooksFailed: number;
  webhooksNotSent: number;
  webhookAttempts: number;
  logins: number;
  refusedLogins: number;
  /** Requests that a fault struck, latency included. */
  struck: number;
  /** Requests refused by a capacity or a rate limit. */
  limited: number;
  /** Visits to the address that redirects to elsewhere lead to. */
  redirectsFollowed: number;
}

/** All counters at zero. */
export const zeroCounters = (): LedgerCounters => ({
  transactions: 0,
  scoreRequests: 0,
  scorings: 0,
  repeatedScorings: 0,
  overlaps: 0,
  repeatOverlaps: 0,
  disorders: 0,
  refusedRequests: 0,
  unauthorised: 0,
  updates: 0,
  linked: 0,
  unlinked: 0,
  repeatedUpdates: 0,
  backwardUpdates: 0,
  updateOverlaps: 0,
  approvedWithoutAcqRefId: 0,
  transactionsWithStatus: 0,
  refusedUpdates: 0,
  batches: 0,
  refusedBatches: 0,
  batchBytes: 0,
  largestBatch: 0,
  reviews: 0,
  webhooksDelivered: 0,
  webhooksFailed: 0,
  webhooksNotSent: 0,
  webhookAttempts: 0,
  logins: 0,
  refusedLogins: 0,
  struck: 0,
  limited: 0,
  redirectsFollowed: 0,
});
