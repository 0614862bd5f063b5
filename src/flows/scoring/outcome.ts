import { type Job } from '../../engine/ports.ts';
import { DELIVERED, type LetterCode, type Settlement } from '../../kernel/outcome.ts';
import { type Attempted, type NotScored } from '../../resilience/caller.ts';
import { type FraudScore } from '../../screening/avro.generated.ts';
import { readScore, type ScoreReading } from '../../screening/score.ts';
import { type ScoredFact } from '../scored.ts';
import { type Payment } from './read.ts';
import { type ScoreContext, type ScoreFailure, toFailedScore, toScore } from './record.ts';

/** What the service's last word means: what to publish, then how the record ends. */
export interface Outcome {
  /** Null: nothing is published. */
  readonly score: FraudScore | null;
  /** What sync is told; null: nothing certain. */
  readonly fact: ScoredFact | null;
  readonly end: Settlement;
}

/** What an outcome says besides the answer itself. */
export interface OutcomeContext {
  readonly account: string;
  /** Requests made, the last one included. */
  readonly attempts: number;
  /** One of them may have been carried out although its answer was none. */
  readonly maybeScored: boolean;
  /** Whether there is a topic for scores. */
  readonly publishes: boolean;
  /** Whether a refused payment yields a score record, too. */
  readonly scoreOnRefusal: boolean;
  /** Milliseconds since 1970. */
  readonly atMs: number;
}

export type Scored = Extract<Attempted, { readonly do: 'done' }>;
type ScoredJob = Pick<Job<Payment, unknown>, 'record' | 'item'>;

/** A payment was scored; with what the answer said, and the names of fields that nobody has described. */
export function toScored(
  { record, item }: ScoredJob,
  judged: Scored,
  context: OutcomeContext,
): { readonly outcome: Outcome; readonly reading: ScoreReading; readonly unrecognised: readonly string[] } {
  const { reading, unrecognised } = readScore(judged.answer, judged.body);
  const outcome: Outcome = {
    score: context.publishes ? toScore(record, item, reading, toScoreContext(judged, context)) : null,
    fact: toFact(record.partition, item, judged.status, judged.latencyMs),
    end: DELIVERED,
  };
  return { outcome, reading, unrecognised };
}

/** The service knows the transaction, by a request whose answer was lost: its decision is lost, too. */
export function toKnown({ record, item }: ScoredJob, judged: NotScored, context: OutcomeContext): Outcome {
  return {
    score: context.publishes ? toFailedScore(record, item, 'already_scored', toScoreContext(judged, context)) : null,
    fact: toFact(record.partition, item, judged.status ?? 409, judged.latencyMs ?? 0),
    end: { do: 'skip', rule: 'already_scored' },
  };
}

/** A payment becomes a dead letter. */
export function toRefused(
  { record, item }: ScoredJob,
  judged: NotScored,
  context: OutcomeContext,
  why: Exclude<ScoreFailure, 'already_scored'>,
): Outcome {
  const { status, errorMessage, ambiguous } = judged;
  const isPublished = context.publishes && context.scoreOnRefusal;
  return {
    score: isPublished ? toFailedScore(record, item, why, toScoreContext(judged, context)) : null,
    // The service may know this transaction all the same, so its updates are not stopped.
    fact: context.maybeScored || ambiguous ? null : { do: 'refused', partition: record.partition },
    end: toLetter(why, {
      ...(status === null ? {} : { httpStatus: status }),
      ...(errorMessage === null ? {} : { serviceError: errorMessage }),
    }),
  };
}

export function toLetter(
  reason: LetterCode,
  more: { readonly detail?: string; readonly httpStatus?: number; readonly serviceError?: string },
): Settlement {
  return { do: 'dead_letter', letter: { reason, stage: 'score', ...more } };
}

function toFact(partition: number, { paymentMethod }: Payment, httpStatus: number, latencyMs: number): ScoredFact {
  return { do: 'scored', partition, httpStatus, latencyMs, paymentMethod };
}

function toScoreContext(
  { status, latencyMs }: Pick<Scored | NotScored, 'status' | 'latencyMs'>,
  { account, attempts, maybeScored, atMs }: OutcomeContext,
): ScoreContext {
  return { account, httpStatus: status, latencyMs, attempts, possiblyScoredBefore: maybeScored, atMs };
}
