import {
  type EngineSignals,
  type Flow,
  type Job,
  type Reading,
  type SourceRecord,
  type Step,
  type Tenure,
  type ValueDecoder,
} from '../../engine/ports.ts';
import { type Clock, type Draw, earliest } from '../../kernel/clock.ts';
import { type Emit } from '../../kernel/emit.ts';
import { DELIVERED, type HoldCause, type LetterCode, type Settlement } from '../../kernel/outcome.ts';
import { withTraceparent } from '../../kernel/trace-context.ts';
import { type CallEnd, NO_TRACING, type RecordSpan } from '../../kernel/tracing.ts';
import { type RecordMapper } from '../../mapping/mapper.ts';
import { fullJitter, retryWait } from '../../resilience/backoff.ts';
import { type Attempted, type Caller } from '../../resilience/caller.ts';
import { type Gate } from '../../resilience/gate.ts';
import { isAtFault, type Suspect, suspectMore, type SuspicionLimits } from '../../resilience/suspicion.ts';
import { type FraudScore } from '../../screening/avro.generated.ts';
import { type CardGuard } from '../../screening/card-guard.ts';
import { readScore } from '../../screening/score.ts';
import { type Refusal, type Suspicion } from '../../screening/verdict.ts';
import { type ScoredFact, type ScoredTransactions } from '../scored.ts';
import { type Published, publishScore, type ScoreOutput } from './publish.ts';
import { type Payment, readPayment } from './read.ts';
import { type ScoreContext, toFailedScore, toScore } from './record.ts';
import { ScoreCounts } from './score-counts.ts';
import { type RequestExtras, requestHeaders } from './request.ts';

export interface ScoringFlowOptions {
  readonly caller: Pick<Caller, 'score' | 'free' | 'tally'>;
  /** The one that the caller asks, too; attached to the engine by this flow. */
  readonly gate: Pick<Gate, 'attach' | 'probeMs' | 'roomMs' | 'tick' | 'refused' | 'why'>;
  /** When a payment that is always answered with 500 or `error_msg` is refused. */
  readonly suspicion: SuspicionLimits;
  /** Requests at once. */
  readonly concurrency: number;
  /** What runs one at a time, in the order of the log: records of one key, or of one transaction only. */
  readonly ordering: 'key' | 'transaction';
  readonly decoder: ValueDecoder;
  /** Of a record's value. */
  readonly recordMaxBytes: number;
  /** Null or absent: records have the service's names and values already. */
  readonly mapper?: RecordMapper | null;
  /** Null or absent: nothing is looked for. */
  readonly guard?: CardGuard | null;
  /** Null or absent: requests have no headers of a payment's own. */
  readonly extras?: RequestExtras | null;
  /** Null: scores are not published. */
  readonly output: ScoreOutput | null;
  /** Whether a refused payment yields a score record, too. */
  readonly scoreOnRefusal: boolean;
  readonly account: string;
  readonly scored: ScoredTransactions;
  readonly clock: Clock;
  readonly draw: Draw;
  readonly emit: Emit;
}

/** What a payment has achieved before a wait. */
export interface ScoreCarry {
  /** Requests made. */
  readonly attempts: number;
  /** One of them may have been carried out although its answer was none. */
  readonly maybeScored: boolean;
  /** Null: no answer speaks against it. */
  readonly suspect: Suspect | null;
  /** The service has spoken: from here on only what follows is repeated, never the request. */
  readonly outcome: Outcome | null;
  /** Publications of the outcome that failed. */
  readonly unpublished: number;
}

/** What the service's last word means: what to publish, then how the record ends. */
export interface Outcome {
  readonly score: FraudScore | null;
  /** What sync is told; null: nothing certain. */
  readonly fact: ScoredFact | null;
  readonly end: Settlement;
}

type Answered = Exclude<Attempted, { readonly do: 'no_session' | 'fenced' }>;
type Scored = Extract<Answered, { readonly do: 'done' }>;
type Refused = Pick<NotScored, 'status' | 'latencyMs' | 'errorMessage'> & { readonly why: Refusal | Suspicion };
type NotScored = Exclude<Answered, { readonly do: 'done' }>;

const NOTHING_YET: ScoreCarry = { attempts: 0, maybeScored: false, suspect: null, outcome: null, unpublished: 0 };
const FENCED_MS = 250;
const SPREAD_MS = 1_000;
/** Records that wait behind the floodgate are asked again when it opens; this is for one that is missed. */
const FLOOD_WAIT_MS = 45_000;
/** Records that are being scored or are scored and not published, as a multiple of the requests at once: what a kill doubles at most. */
const OPEN_PER_REQUEST = 2;

/** Scores each payment and publishes its score: one request per step, in order per lane. */
export class ScoringFlow implements Flow<Payment, ScoreCarry> {
  readonly name: string = 'scoring';
  /** Of every payment that the service has scored. */
  readonly counts = new ScoreCounts();
  readonly #options: ScoringFlowOptions;
  readonly #mostOpen: number;
  #running = 0;
  /** Records that wait with an outcome that is not published yet, by assignment: it says when they are lost, the engine does not. */
  readonly #unpublished = new Map<Tenure, Set<SourceRecord>>();
  /** Why the last publication had to wait. */
  #blockedBy: HoldCause = 'kafka';
  /** Of the payment that waited last; null: none ever did. */
  #waitingFor: Tenure | null = null;
  /** Whether the step that ended last was a wait. */
  #isStalled = false;

  constructor(options: ScoringFlowOptions) {
    this.#options = options;
    this.#mostOpen = OPEN_PER_REQUEST * options.concurrency;
  }

  attach(signals: EngineSignals): void {
    this.#options.gate.attach({
      recovered: (causes) => {
        signals.hurry(causes, { all: true, withinMs: SPREAD_MS });
        signals.changed();
      },
      probe: (causes) => {
        signals.hurry(causes, { all: false });
        signals.changed();
      },
    });
  }

  read(record: SourceRecord): Reading<Payment> {
    return readPayment(record, this.#options);
  }

  /**
   * Whether payments wait here and none ends: calls do not go out, or the step that ended last was a wait. A payment
   * that waits while others are scored holds nothing.
   */
  get isHeld(): boolean {
    return this.#waitingFor?.phase === 'owned' && (this.#isStalled || this.#options.gate.why !== null);
  }

  /** What was put aside unread, for its card data or by an operator, is never scored: where its trans_id can be told, sync learns of it. */
  lettered(record: SourceRecord): void {
    const reading = readPayment(record, { ...this.#options, guard: null });
    if (reading.do === 'item')
      this.#options.scored.note(reading.item.transId, { do: 'refused', partition: record.partition });
  }

  lane(payment: Payment, record: SourceRecord): string {
    // latin1 keeps different keys different, whatever their bytes are.
    return this.#options.ordering === 'transaction' || record.key === null
      ? payment.transId
      : record.key.toString('latin1');
  }

  mayStart(_job: Job<Payment, ScoreCarry>, _nowMs: number): HoldCause | null {
    return this.#isFull() ? this.#blockedBy : null;
  }

  room(nowMs: number): number {
    return Math.min(this.#options.caller.free(nowMs), this.#mostOpen - this.#running);
  }

  due(askedMs: number): number | null {
    const { gate } = this.#options;
    return earliest(gate.probeMs(), gate.roomMs(askedMs));
  }

  tick(nowMs: number): void {
    this.#options.gate.tick(nowMs);
  }

  barrier(_before: 'stop' | 'join'): void {}

  isAnswered({ outcome }: ScoreCarry): boolean {
    return outcome !== null;
  }

  heldBack(): number | null {
    return this.#options.gate.why === null ? null : 0;
  }

  async run(job: Job<Payment, ScoreCarry>): Promise<Step<ScoreCarry>> {
    if (job.tenure.phase === 'lost') return { do: 'release' };
    this.#unpublished.get(job.tenure)?.delete(job.record);
    const carry = job.carry ?? NOTHING_YET;
    if (carry.outcome === null && this.#isFull()) return this.#wait(carry, this.#blockedBy, SPREAD_MS);
    this.#running += 1;
    try {
      const step = await this.#step(job, carry);
      if (step.do === 'wait' && step.carry?.outcome) this.#keepUnpublished(job);
      if (step.do === 'wait') this.#waitingFor = job.tenure;
      if (step.do !== 'release') this.#isStalled = step.do === 'wait';
      return step;
    } finally {
      this.#running -= 1;
    }
  }

  async #step(job: Job<Payment, ScoreCarry>, carry: ScoreCarry): Promise<Step<ScoreCarry>> {
    if (carry.outcome !== null) return await this.#finish(job, carry, carry.outcome);
    const { extras = null } = this.#options;
    const own = extras === null ? undefined : requestHeaders(job.record, job.item, extras);
    const call = spanOf(job).call(carry.attempts + 1);
    const headers = withTraceparent(own, call.context);
    const judged = await this.#options.caller.score(job.item.body, carry.maybeScored, headers);
    call.end(toCallEnd(judged));
    if (judged.do === 'fenced') return this.#wait(carry, 'kafka', FENCED_MS);
    if (judged.do === 'no_session') return this.#wait(carry, judged.why, judged.retryMs);
    const next = { ...carry, attempts: carry.attempts + 1 };
    if (judged.do === 'done') return await this.#finish(job, next, this.#toScored(job, judged, next));
    if (judged.do === 'refuse') return await this.#refuse(job, next, judged, judged.why);
    const waiting = { ...next, maybeScored: carry.maybeScored || judged.ambiguous };
    if (judged.do === 'hold') return this.#retry(waiting, 'service_refuses', judged);
    if (judged.counts === null) return this.#retry(waiting, 'service_down', judged);
    const { caller, clock, suspicion } = this.#options;
    const suspect = suspectMore(carry.suspect, caller.tally, clock.monotonicMs());
    return isAtFault(suspect, caller.tally, suspicion, clock.monotonicMs())
      ? await this.#refuse(job, { ...waiting, suspect }, judged, judged.counts)
      : this.#retry({ ...waiting, suspect }, 'service_down', judged);
  }

  #retry(carry: ScoreCarry, why: HoldCause, judged: NotScored): Step<ScoreCarry> {
    const afterMs = judged.do === 'retry' ? judged.afterMs : null;
    const forMs = Math.max(retryWait(afterMs, carry.attempts, this.#options.draw), judged.restMs ?? 0);
    const error = judged.status === null ? judged.why : `status_${String(judged.status)}`;
    return { do: 'wait', forMs, why, carry, error };
  }

  /** The record's own fault, unless so many are refused that it is not: then it waits, and is asked about again. */
  async #refuse(
    job: Job<Payment, ScoreCarry>,
    carry: ScoreCarry,
    judged: NotScored,
    why: Refusal | Suspicion,
  ): Promise<Step<ScoreCarry>> {
    // What may have been scored before says nothing of the records that follow.
    if (why !== 'ambiguous_then_refused' && this.#options.gate.refused() === 'hold')
      return this.#wait(carry, 'floodgate', FLOOD_WAIT_MS);
    return await this.#finish(job, carry, this.#toRefused(job, { ...judged, why }, carry));
  }

  /**
   * Publishes, tells sync, ends: in this order, so that no status update goes out for a score that nobody has. At once
   * where there is nothing to publish: a promise for each record is not free.
   */
  #finish(
    job: Job<Payment, ScoreCarry>,
    carry: ScoreCarry,
    outcome: Outcome,
  ): Step<ScoreCarry> | Promise<Step<ScoreCarry>> {
    // Whoever owns the partition now scores it again; a second score record would only come between.
    if (job.tenure.phase === 'lost') return { do: 'release' };
    const { output } = this.#options;
    return output === null || outcome.score === null
      ? this.#tell(job, outcome, outcome.end)
      : this.#publish(
          job,
          { ...carry, outcome },
          outcome,
          publishScore(output, job.record, outcome.score, { emit: this.#options.emit, span: spanOf(job) }),
        );
  }

  async #publish(
    job: Job<Payment, ScoreCarry>,
    carry: ScoreCarry,
    outcome: Outcome,
    publication: Promise<Published>,
  ): Promise<Step<ScoreCarry>> {
    const published = await publication;
    if (published.do === 'waits') {
      this.#blockedBy = published.why;
      const unpublished = carry.unpublished + 1;
      const forMs = fullJitter(unpublished, this.#options.draw);
      const { why, error } = published;
      return { do: 'wait', forMs, why, carry: { ...carry, unpublished }, error };
    }
    if (published.do === 'written' || outcome.end.do !== 'delivered') return this.#tell(job, outcome, outcome.end);
    const reason = published.why === 'too_large' ? 'record_too_large' : 'connector_fault';
    return this.#tell(job, outcome, toLetter(reason, { detail: 'score_record' }));
  }

  #tell(job: Job<Payment, ScoreCarry>, { fact }: Outcome, end: Settlement): Settlement {
    if (fact !== null) this.#options.scored.note(job.item.transId, fact);
    return end;
  }

  #toScored({ record, item }: Job<Payment, ScoreCarry>, judged: Scored, carry: ScoreCarry): Outcome {
    const { reading, unrecognised } = readScore(judged.answer);
    this.counts.scored(reading, carry.maybeScored);
    for (const field of unrecognised) this.#options.emit('answer_unrecognised', { operation: 'score', field });
    const { status: httpStatus, latencyMs } = judged;
    const { partition } = record;
    return {
      score: this.#options.output === null ? null : toScore(record, item, reading, this.#toContext(judged, carry)),
      fact: { do: 'scored', partition, httpStatus, latencyMs, paymentMethod: item.paymentMethod },
      end: DELIVERED,
    };
  }

  #toRefused({ record, item }: Job<Payment, ScoreCarry>, judged: Refused, carry: ScoreCarry): Outcome {
    const { why, status, errorMessage } = judged;
    const isUncertain = why === 'ambiguous_then_refused' || carry.maybeScored;
    return {
      score: this.#options.scoreOnRefusal ? toFailedScore(record, item, why, this.#toContext(judged, carry)) : null,
      // The service may know this transaction all the same, so its updates are not stopped.
      fact: isUncertain ? null : { do: 'refused', partition: record.partition },
      end: toLetter(why, {
        ...(status === null ? {} : { httpStatus: status }),
        ...(errorMessage === null ? {} : { serviceError: errorMessage }),
      }),
    };
  }

  #toContext(
    { status, latencyMs }: Pick<Answered, 'status' | 'latencyMs'>,
    { attempts, maybeScored }: ScoreCarry,
  ): ScoreContext {
    const { account, clock } = this.#options;
    return { account, httpStatus: status, latencyMs, attempts, possiblyScoredBefore: maybeScored, atMs: clock.nowMs() };
  }

  #wait(carry: ScoreCarry, why: HoldCause, forMs: number): Step<ScoreCarry> {
    return { do: 'wait', forMs: forMs + this.#options.draw() * SPREAD_MS, why, carry };
  }

  #keepUnpublished({ tenure, record }: Job<Payment, ScoreCarry>): void {
    const records = this.#unpublished.get(tenure);
    if (records === undefined) this.#unpublished.set(tenure, new Set([record]));
    else records.add(record);
  }

  /** True only while outcomes wait to be published: then scoring more would only pile up more of them. */
  #isFull(): boolean {
    let unpublished = 0;
    for (const [tenure, records] of this.#unpublished) {
      if (tenure.phase === 'lost') this.#unpublished.delete(tenure);
      else unpublished += records.size;
    }
    return unpublished > 0 && this.#running + unpublished >= this.#mostOpen;
  }
}

/** Where nothing is traced, what came with the record is passed on. */
function spanOf({ span, record }: Job<Payment, ScoreCarry>): RecordSpan {
  return span ?? NO_TRACING.record('scoring', record);
}

function toCallEnd(judged: Attempted): CallEnd {
  const status = 'status' in judged ? judged.status : null;
  return { status, error: judged.do === 'done' ? null : judged.do === 'fenced' ? 'fenced' : judged.why };
}

function toLetter(
  reason: LetterCode,
  more: { readonly detail?: string; readonly httpStatus?: number; readonly serviceError?: string },
): Settlement {
  return { do: 'dead_letter', letter: { reason, stage: 'score', ...more } };
}
