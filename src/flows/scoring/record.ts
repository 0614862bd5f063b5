import { type OutgoingRecord, type SourceRecord } from '../../engine/ports.ts';
import { type TraceContext } from '../../kernel/trace-context.ts';
import { type FraudScore } from '../../screening/avro.generated.ts';
import { cloudEventHeaders } from '../../screening/cloud-event.ts';
import { NO_SCORE, type ScoreReading } from '../../screening/score.ts';
import { type AttemptFailure } from '../../resilience/caller.ts';
import { type Payment } from './read.ts';

/** What a score record says besides the answer itself. */
export interface ScoreContext {
  readonly account: string;
  readonly httpStatus: number | null;
  readonly latencyMs: number | null;
  /** Requests made, the last one included. */
  readonly attempts: number;
  readonly possiblyScoredBefore: boolean;
  /** Milliseconds since 1970. */
  readonly atMs: number;
}

/** Why a score record has no decision. */
export type ScoreFailure = AttemptFailure | 'ambiguous_then_refused' | 'already_scored';

/** The score record of an answered payment. */
export function toScore(
  record: SourceRecord,
  payment: Payment,
  reading: ScoreReading,
  context: ScoreContext,
): FraudScore {
  return {
    account: context.account,
    // UTF-8 has no bytes for half of a surrogate pair; the request has its escape.
    trans_id: payment.transId.toWellFormed(),
    // One by one: for an object that is spread into the middle of another one its shape is looked up each time.
    frg_trans_id: reading.frg_trans_id,
    decision: reading.decision,
    decision_code: reading.decision_code,
    score: reading.score,
    is_liable: reading.is_liable,
    liability_reason: reading.liability_reason,
    validation_ok: reading.validation_ok,
    validation_errors: reading.validation_errors,
    signals: reading.signals,
    frg_device_id: reading.frg_device_id,
    extra: reading.extra,
    http_status_code: context.httpStatus,
    latency_ms: context.latencyMs,
    attempts: context.attempts,
    possibly_scored_before: context.possiblyScoredBefore,
    failure: null,
    scored_at: context.atMs,
    source: { topic: record.topic, partition: record.partition, offset: Number(record.offset) },
  };
}

/** The score record of a payment without an answer that can be used: no decision, and why. */
export function toFailedScore(
  record: SourceRecord,
  payment: Payment,
  failure: ScoreFailure,
  context: ScoreContext,
): FraudScore {
  return { ...toScore(record, payment, NO_SCORE, context), failure };
}

/**
 * The record that carries a score. Its event id is the place of the payment in its topic, so that a repeat after a crash
 * has the same one.
 */
export function toScoreRecord(
  topic: string,
  record: SourceRecord,
  { score, value, trace }: { readonly score: FraudScore; readonly value: Buffer; readonly trace: TraceContext | null },
): OutgoingRecord {
  return {
    topic,
    key: Buffer.from(score.trans_id, 'utf8'),
    value,
    headers: cloudEventHeaders({
      id: `${record.topic}/${record.partition}/${record.offset}`,
      type: 'fraud.screening.score.v1',
      source: `/fraud-screening-connector/${encodeURIComponent(score.account)}`,
      timeMs: score.scored_at,
      trace,
    }),
  };
}
