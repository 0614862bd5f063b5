import { Buffer } from 'node:buffer';
import { hash } from 'node:crypto';
import { type OutgoingRecord, type ValueEncoder } from '../engine/ports.ts';
import { type TraceContext } from '../kernel/trace-context.ts';
import { type FraudReview } from '../screening/avro.generated.ts';
import { cloudEventHeaders } from '../screening/cloud-event.ts';
import { type Review } from '../screening/review.ts';

const LENGTH_BYTES = 4;
/** `ce_type` of a published review. */
export const REVIEW_CE_TYPE = 'fraud.screening.review.v1';

export interface ReviewRecordContext {
  readonly topic: string;
  readonly account: string;
  /** `ce_source` */
  readonly source: string;
  readonly encoder: ValueEncoder<FraudReview>;
  /** Milliseconds since 1970. */
  readonly receivedAtMs: number;
  /** Null or absent: it belongs to no trace. */
  readonly trace?: TraceContext | null;
}

/**
 * The same for every delivery of the same review, and different where a field differs: 64 hexadecimal digits, SHA-256
 * over the five fields as they came, each with its length in bytes before it.
 */
export function eventIdOf(review: Review): string {
  const { type, fraudTransactionId, transactionId, decision, reviewedAt } = review;
  const fields = [type, fraudTransactionId, transactionId, decision, reviewedAt];
  let bytes = 0;
  for (const field of fields) bytes += LENGTH_BYTES + Buffer.byteLength(field);
  const whole = Buffer.allocUnsafe(bytes);
  let at = 0;
  for (const field of fields) {
    const written = whole.write(field, at + LENGTH_BYTES);
    at = whole.writeUInt32BE(written, at) + written;
  }
  return hash('sha256', whole, 'hex');
}

/** The record of a review: keyed by its transaction, so that reviews of one transaction keep their order. Throws only where the encoder does. */
export function toReviewRecord(
  review: Review,
  extra: string,
  eventId: string,
  context: ReviewRecordContext,
): OutgoingRecord {
  const value: FraudReview = {
    event_id: eventId,
    account: context.account,
    type: review.type,
    frg_trans_id: review.fraudTransactionId,
    trans_id: review.transactionId,
    decision: review.decision,
    reviewed_at: review.reviewedAtMicros,
    received_at: context.receivedAtMs,
    extra,
  };
  return {
    topic: context.topic,
    key: Buffer.from(review.transactionId, 'utf8'),
    value: context.encoder.encode(value),
    headers: cloudEventHeaders({
      id: eventId,
      type: REVIEW_CE_TYPE,
      source: context.source,
      timeMs: Math.floor(review.reviewedAtMicros / 1000),
      trace: context.trace ?? null,
    }),
  };
}
