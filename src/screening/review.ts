import { parseRfc3339 } from './rfc3339.ts';
import { readTransId } from './transaction.ts';

/** The one event type of the service (spec: Webhook event). */
export const REVIEW_EVENT = 'txn_manual_review';

/** Decisions of a manual review (spec: States and transitions, Manual review). */
export const REVIEW_DECISIONS = ['good', 'probably_good', 'suspicious', 'bad'] as const;
export type ReviewDecision = (typeof REVIEW_DECISIONS)[number];

/** A manual review of a transaction, as the service tells it. */
export interface Review {
  readonly type: typeof REVIEW_EVENT;
  readonly fraudTransactionId: string;
  readonly transactionId: string;
  readonly decision: ReviewDecision;
  /** As it came, RFC 3339. */
  readonly reviewedAt: string;
  /** Microseconds since 1970, UTC. */
  readonly reviewedAtMicros: number;
}

export type ReviewReading =
  | { readonly do: 'review'; readonly review: Review }
  /** Not an event this version knows; `field` is the JSON pointer of the first field that is missing, of another type or of an unknown value. */
  | { readonly do: 'unrecognised'; readonly field: string };

/** Names of the fields that `toReview` reads; all others are extra. */
export const EVENT_FIELDS: ReadonlySet<string> = new Set(['type', 'data']);
export const REVIEW_FIELDS: ReadonlySet<string> = new Set(['frg_trans_id', 'trans_id', 'decision', 'reviewed_at']);

/** Reads a webhook event as a manual review. Fields it does not know are no defect: a later version of the service may add some. Never throws. */
export function toReview(event: unknown): ReviewReading {
  if (!isObject(event) || event['type'] !== REVIEW_EVENT) return unrecognised('/type');
  const data = event['data'];
  if (!isObject(data)) return unrecognised('/data');
  const fraudTransactionId = idOf(data['frg_trans_id']);
  if (fraudTransactionId === null) return unrecognised('/data/frg_trans_id');
  const transactionId = idOf(data['trans_id']);
  if (transactionId === null) return unrecognised('/data/trans_id');
  const decision = REVIEW_DECISIONS.find((known) => known === data['decision']);
  if (decision === undefined) return unrecognised('/data/decision');
  const reviewedAt = data['reviewed_at'];
  const reviewedAtMicros = typeof reviewedAt === 'string' ? parseRfc3339(reviewedAt) : null;
  if (typeof reviewedAt !== 'string' || reviewedAtMicros === null) return unrecognised('/data/reviewed_at');
  return {
    do: 'review',
    review: { type: REVIEW_EVENT, fraudTransactionId, transactionId, decision, reviewedAt, reviewedAtMicros },
  };
}

function unrecognised(field: string): ReviewReading {
  return { do: 'unrecognised', field };
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** As payments and updates are read. A lone surrogate has no UTF-8: in a topic two such ids would become the same one. */
function idOf(value: unknown): string | null {
  const id = readTransId(value);
  return id?.isWellFormed() === true ? id : null;
}
