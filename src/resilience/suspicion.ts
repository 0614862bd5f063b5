/** How many attempts have succeeded and failed since the start. */
export interface Tally {
  readonly succeeded: number;
  readonly failed: number;
}

/** What speaks against a record that is answered with 500 or `error_msg` again and again. */
export interface Suspect {
  /** Answers that count against it. */
  readonly answers: number;
  /** When the first of them came, monotonic. */
  readonly sinceMs: number;
  /** The tally of all records just before it. */
  readonly before: Tally;
}

export interface SuspicionLimits {
  /** Answers that count, at least 1. */
  readonly maxAttempts: number;
  /** They must span at least this. */
  readonly refuseAfterMs: number;
}

const OTHERS_SUCCEEDED = 0.95;
/** Fewer attempts of others than this prove nothing. */
const LEAST_OTHERS = 20;

/** A suspect after one more answer that counts against it; `tally` includes that answer as a failure. */
export function suspectMore(suspect: Suspect | null, tally: Tally, nowMs: number): Suspect {
  if (suspect !== null) return { ...suspect, answers: suspect.answers + 1 };
  return { answers: 1, sinceMs: nowMs, before: { ...tally, failed: tally.failed - 1 } };
}

/**
 * Whether a record is at fault, and not the service: it was answered so often enough, for long enough, while nearly all
 * attempts of others succeeded. Without others there is no proof, and the record goes on waiting.
 */
export function isAtFault(suspect: Suspect, tally: Tally, limits: SuspicionLimits, nowMs: number): boolean {
  if (suspect.answers < limits.maxAttempts || nowMs - suspect.sinceMs < limits.refuseAfterMs) return false;
  const succeeded = tally.succeeded - suspect.before.succeeded;
  const failed = Math.max(0, tally.failed - suspect.before.failed - suspect.answers);
  const others = succeeded + failed;
  return others >= LEAST_OTHERS && succeeded >= others * OTHERS_SUCCEEDED;
}
