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
import { type Clock, type Draw } from '../../kernel/clock.ts';
import { type Emit } from '../../kernel/emit.ts';
import { type HoldCause, type Settlement } from '../../kernel/outcome.ts';
import { withTraceparent } from '../../kernel/trace-context.ts';
import { type CallEnd, NO_TRACING, type RecordSpan } from '../../kernel/tracing.ts';
import { type RecordMapper } from '../../mapping/mapper.ts';
import { repeatRoom, type RetryState } from '../../resilience/attribution.ts';
import { fullJitter } from '../../resilience/backoff.ts';
import { type Attempted, type Caller, type NotScored } from '../../resilience/caller.ts';
import { type Gate } from '../../resilience/gate.ts';
import { type CardGuard } from '../../screening/card-guard.ts';
import { type ScoredTransactions } from '../scored.ts';
import { type Published, publishScore, type ScoreOutput } from './publish.ts';
import { type Payment, readPayment } from './read.ts';
import { type Outcome, type OutcomeContext, type Scored, toKnown, toLetter, toRefused, toScored } from './outcome.ts';
import { ScoreCounts } from './score-counts.ts';
import { type RequestExtras, requestHeaders } from './request.ts';

export interface ScoringFlowOptions {
  readonly caller: Pick<Caller, 'score' | 'free'>;
  /** The one that the caller asks, too; attached to the engine by this flow. */
  readonly gate: Pick<Gate, 'attach' | 'decide' | 'dueMs' | 'limit' | 'noneUntried' | 'tick' | 'why'>;
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
  /** Null: no attempt has failed. */
  readonly retry: RetryState | null;
  /** The service has spoken: from here on only what follows is repeated, never the request. */
  readonly outcome: Outcome | null;
  /** Publications of the outcome that failed. */
  readonly unpublished: number;
}

const NOTHING_YET: ScoreCarry = { attempts: 0, maybeScored: false, retry: null, outcome: null, unpublished: 0 };
const FENCED_MS = 250;
const NO_SESSION_MS = 1_000;
const SPREAD_MS = 1_000;
/** Of the records that are read first after an assignment, an owner that was killed may have had some scored. */
const MAYBE_REPEATED_RECORDS = 1_000;
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
  #repeatsRunning = 0;
  /** Whether the request that began last was a repeat. */
  #repeatWasLast = false;
  #signals: EngineSignals | null = null;
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
    this.#signals = signals;
    this.#options.gate.attach((causes) => {
      signals.hurry(causes, SPREAD_MS);
      signals.changed();
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

  repeatRoom(nowMs: number, untriedWaits: boolean): number {
    const { concurrency, gate } = this.#options;
    return repeatRoom({
      free: this.room(nowMs),
      limit: Math.min(concurrency, gate.limit ?? concurrency),
      repeatsRunning: this.#repeatsRunning,
      untriedWaits,
      repeatWasLast: this.#repeatWasLast,
    });
  }

  isRepeat({ attempts, outcome }: ScoreCarry): boolean {
    return attempts > 0 && outcome === null;
  }

  get isProbing(): boolean {
    return this.#options.gate.why !== null;
  }

  noneUntried(nowMs: number): void {
    this.#options.gate.noneUntried(nowMs);
  }

  due(askedMs: number): number | null {
    return this.#options.gate.dueMs(askedMs);
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
    const repeats = this.isRepeat(carry) ? 1 : 0;
    if (carry.outcome === null) this.#repeatWasLast = repeats === 1;
    this.#running += 1;
    this.#repeatsRunning += repeats;
    try {
      const step = await this.#step(job, carry);
      if (step.do === 'wait' && step.carry?.outcome) this.#keepUnpublished(job);
      if (step.do === 'wait') this.#waitingFor = job.tenure;
      if (step.do !== 'release') this.#isStalled = step.do === 'wait';
      return step;
    } finally {
      this.#running -= 1;
      this.#repeatsRunning -= repeats;
    }
  }

  async #step(job: Job<Payment, ScoreCarry>, carry: ScoreCarry): Promise<Step<ScoreCarry>> {
    if (carry.outcome !== null) return await this.#finish(job, carry, carry.outcome);
    const { extras = null } = this.#options;
    const own = extras === null ? undefined : requestHeaders(job.record, job.item, extras);
    const call = spanOf(job).call(carry.attempts + 1);
    const headers = withTraceparent(own, call.context);
    const attempt = {
      key: job.lane,
      isFirst: carry.attempts === 0,
      record: job.record,
      mayBeScored: carry.maybeScored || job.ordinal < MAYBE_REPEATED_RECORDS,
    };
    const judged = await this.#options.caller.score(job.item.body, attempt, headers);
    call.end(toCallEnd(judged));
    if (judged.do === 'fenced') return this.#wait(carry, 'kafka', FENCED_MS);
    // The breaker, or the session itself, keeps it from being asked for a login too soon.
    if (judged.do === 'no_session') return this.#wait(carry, judged.why, NO_SESSION_MS);
    const next = { ...carry, attempts: carry.attempts + 1 };
    if (judged.do === 'done') return await this.#finish(job, next, this.#toScored(job, judged, next));
    if (judged.do === 'already_scored') return await this.#finish(job, next, toKnown(job, judged, this.#context(next)));
    return await this.#fail(job, next, judged, judged.do);
  }

  /** An attempt failed: by the record's own fault, which ends it, or perhaps by the service's. */
  async #fail(
    job: Job<Payment, ScoreCarry>,
    carry: ScoreCarry,
    judged: NotScored,
    kind: 'refused' | 'rate_limited' | 'failed',
  ): Promise<Step<ScoreCarry>> {
    // What may have been scored before is no sign of others to come.
    if (carry.maybeScored && (judged.status === 400 || judged.status === 422))
      return await this.#finish(job, carry, toRefused(job, judged, this.#context(carry), 'ambiguous_then_refused'));
    const decision = this.#options.gate.decide({
      key: job.lane,
      isFirst: carry.attempts === 1,
      state: carry.retry,
      kind,
      afterMs: judged.afterMs,
      failingFill: this.#signals?.failingFill(job.record.topic, job.record.partition) ?? 0,
    });
    const after = { ...carry, maybeScored: carry.maybeScored || judged.ambiguous };
    if (decision.do === 'dead_letter') {
      const context = this.#context(after);
      const end = judged.status === 409 ? toKnown(job, judged, context) : toRefused(job, judged, context, judged.why);
      return await this.#finish(job, after, end);
    }
    const { forMs, state: retry, blame } = decision;
    const why = blame === 'service' ? judged.cause : blame === 'guard' ? 'dead_letter_guard' : 'record_failing';
    return { do: 'wait', forMs, why, carry: { ...after, retry }, error: judged.error };
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

  #toScored(job: Job<Payment, ScoreCarry>, judged: Scored, carry: ScoreCarry): Outcome {
    const { outcome, reading, unrecognised } = toScored(job, judged, this.#context(carry));
    this.counts.scored(reading, carry.maybeScored);
    for (const field of unrecognised) this.#options.emit('answer_unrecognised', { operation: 'score', field });
    return outcome;
  }

  #context({ attempts, maybeScored }: ScoreCarry): OutcomeContext {
    const { account, clock, output, scoreOnRefusal } = this.#options;
    const publishes = output !== null;
    return { account, attempts, maybeScored, publishes, scoreOnRefusal, atMs: clock.nowMs() };
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
  if (judged.do === 'done') return { status, error: null };
  if (judged.do === 'fenced') return { status, error: 'fenced' };
  return { status, error: judged.do === 'no_session' ? judged.why : judged.error };
}
