import { type Clock, earliest } from '../kernel/clock.ts';
import { type Emit } from '../kernel/emit.ts';
import { type HoldCause } from '../kernel/outcome.ts';
import { positionOf, type RecordPosition } from '../kernel/position.ts';
import { type Attribution, type Decision, type FailedAttempt } from './attribution.ts';
import { type CallEnd, type CallOf } from './breaker.ts';
import { type CallAnswer, type ConcurrencyLimit, type LoadSign, toLoadSign } from './limit.ts';
import { type CallEndName, type GateReport } from './ports.ts';
import { type TokenBucket } from './token-bucket.ts';

/** The right to make one call, to be given back by `end`. */
export interface Pass {
  /** Of the breaker. */
  readonly epoch: number;
  /** Monotonic. */
  readonly beganMs: number;
}

/** A call that has ended. */
export interface EndedCall extends CallOf {
  /** The record of which it was made; of a batch, the first. */
  readonly record: RecordPosition;
  readonly end: CallEnd;
  readonly answer: CallAnswer;
  /** Records that it delivered. */
  readonly delivered: number;
}

export interface GateOptions {
  /** The flow that calls. */
  readonly scope: string;
  readonly attribution: Attribution;
  /** Null: no limit. Operations may share one. */
  readonly bucket: TokenBucket | null;
  /** Of this gate alone; absent or null: as many at once as the caller likes. */
  readonly limit?: ConcurrencyLimit | null;
  readonly clock: Clock;
  readonly emit: Emit;
}

/** What a record waits for while the service is at fault. */
export const SERVICE_CAUSES: readonly HoldCause[] = [
  'service_down',
  'service_refuses',
  'credentials_refused',
  'sessions_displace_each_other',
];
/** A service that asks one caller to wait speaks of all of them, but not for longer than this: the record itself waits as long as it was told. */
const PAUSE_MAX_MS = 30_000;
/** After so long without a success, the next one says that the service is back. */
const RECOVERED_AFTER_MS = 2_000;

interface Block {
  readonly cause: HoldCause;
  readonly sinceMs: number;
}

/**
 * All that decides whether calls of one operation may go out now: the breaker, the service's own wish to be left alone, the
 * limit of requests per second, and how many the service takes at once. It reports when the breaker opens and when the
 * dead-letter guard blocks.
 */
export class Gate {
  readonly #options: GateOptions;
  readonly #calls: Record<CallEndName, number> = { ok: 0, refused: 0, failed: 0, no_session: 0, void: 0 };
  #recovered: ((causes: readonly HoldCause[]) => void) | null = null;
  #pausedUntilMs = -Infinity;
  /** When a call failed first since the last one that succeeded; null: none has. */
  #failedSinceMs: number | null = null;
  /** What was reported, so that its end is reported alike. */
  #breakerBlock: Block | null = null;
  #guardBlock: Block | null = null;

  constructor(options: GateOptions) {
    this.#options = options;
  }

  /** `recovered` is called when the service works again: records that wait for one of these causes may be tried again. Called once. */
  attach(recovered: (causes: readonly HoldCause[]) => void): void {
    this.#recovered = recovered;
  }

  /** How many calls may begin now; Infinity: as many as you like. */
  room(nowMs: number): number {
    if (nowMs < this.#pausedUntilMs) return 0;
    const { attribution, bucket, limit } = this.#options;
    const max = Math.min(bucket?.room(nowMs) ?? Infinity, limit?.room ?? Infinity);
    return Math.min(attribution.breaker.room(nowMs), max);
  }

  /** Calls at once, as found out from the answers; null: not looked for. */
  get limit(): number | null {
    return this.#options.limit?.value ?? null;
  }

  /** A call begins; asked only while there is room. */
  begin(nowMs: number): Pass {
    const { attribution, bucket, limit } = this.#options;
    bucket?.take(nowMs);
    limit?.begin();
    return { epoch: attribution.breaker.begin(nowMs), beganMs: nowMs };
  }

  /**
   * A call has ended. The service's wish to be left alone (429 with `Retry-After`) stops all calls for that time; where
   * there is a limit of calls at once, it lowers that instead.
   */
  end(pass: Pass, call: EndedCall): void {
    const { clock, attribution, limit = null } = this.#options;
    const { end, answer, delivered } = call;
    const nowMs = clock.monotonicMs();
    this.#calls[end.do] += 1;
    if (answer.status === 429 && answer.afterMs !== null && limit === null)
      this.#pausedUntilMs = Math.max(this.#pausedUntilMs, nowMs + Math.min(answer.afterMs, PAUSE_MAX_MS));
    const { breaker } = attribution;
    const isProbe = breaker.isProbe(pass.epoch);
    const sign: LoadSign = isProbe ? 'none' : toLoadSign(end, answer);
    limit?.end(pass.beganMs, sign, nowMs);
    const { isClosed } = breaker;
    attribution.end(pass.epoch, call, end, { delivered, nowMs });
    if (isClosed && !breaker.isClosed) limit?.opened(sign, nowMs);
    this.#report(nowMs, call);
    this.#watchRecovery(end, nowMs);
  }

  /** The records of one call, sent one by one, showed that the service fails for everybody: calls stop. `call`: the last one. */
  open(call: EndedCall): void {
    const { attribution, clock } = this.#options;
    const { end } = call;
    if (!attribution.breaker.isClosed || (end.do !== 'refused' && end.do !== 'failed')) return;
    const nowMs = clock.monotonicMs();
    attribution.breaker.open(end.cause, nowMs);
    this.#report(nowMs, call);
  }

  /** What becomes of a record whose attempt failed; called after `end`. */
  decide(attempt: FailedAttempt): Decision {
    const nowMs = this.#options.clock.monotonicMs();
    const decision = this.#options.attribution.decide(attempt, nowMs);
    this.#report(nowMs, null);
    return decision;
  }

  /** Whether a record that needs no answer to be at fault (unreadable, refused by name) may become a dead letter now. */
  permitsDeadLetter(): boolean {
    const nowMs = this.#options.clock.monotonicMs();
    const permits = this.#options.attribution.guard.permits(nowMs, { free: false });
    this.#report(nowMs, null);
    return permits;
  }

  /** No record is left that was not tried yet: nothing could probe, so repeats go out. */
  noneUntried(nowMs: number): void {
    this.#options.attribution.breaker.closeForWantOfProbes(nowMs);
    this.#report(nowMs, null);
  }

  /** When `room` has to be asked again that had none at `askedMs`, or `tick` called, monotonic; null: not before something changes. */
  dueMs(askedMs: number): number | null {
    const { attribution, bucket } = this.#options;
    const pausedMs = askedMs < this.#pausedUntilMs ? this.#pausedUntilMs : null;
    const probeMs = attribution.breaker.dueMs();
    const laterProbeMs = probeMs !== null && askedMs < probeMs ? probeMs : null;
    const guardMs = this.#guardBlock === null ? null : attribution.guard.dueMs(askedMs);
    return earliest(earliest(pausedMs, laterProbeMs), earliest(guardMs, bucket?.dueMs(askedMs) ?? null));
  }

  /** Reports what has ended by the mere passing of time. */
  tick(nowMs: number): void {
    this.#report(nowMs, null);
  }

  /** Why calls do not go out; null: they do, or only a limit of requests keeps them back. */
  get why(): HoldCause | null {
    return this.#options.attribution.breaker.why;
  }

  report(): GateReport {
    const { scope, attribution, clock } = this.#options;
    const nowMs = clock.monotonicMs();
    return {
      scope,
      breaker: attribution.breaker.report(),
      breakerChanges: attribution.breaker.changes,
      guard: attribution.guard.report(nowMs),
      pausedUntilMs: nowMs < this.#pausedUntilMs ? this.#pausedUntilMs : null,
      limit: this.limit,
      calls: { ...this.#calls },
    };
  }

  #watchRecovery(end: CallEnd, nowMs: number): void {
    if (end.do === 'void') return;
    if (end.do !== 'ok') {
      this.#failedSinceMs ??= nowMs;
      return;
    }
    const sinceMs = this.#failedSinceMs;
    this.#failedSinceMs = null;
    if (sinceMs !== null && nowMs - sinceMs >= RECOVERED_AFTER_MS) this.#recovered?.(SERVICE_CAUSES);
  }

  #report(nowMs: number, call: EndedCall | null): void {
    const { attribution, scope } = this.#options;
    const { why } = attribution.breaker;
    if (why !== (this.#breakerBlock?.cause ?? null)) {
      this.#breakerBlock = this.#change(`${scope} breaker`, this.#breakerBlock, why, nowMs, call);
    }
    const isBlocking = attribution.guard.isBlocking(nowMs);
    if (isBlocking !== (this.#guardBlock !== null)) {
      const cause = isBlocking ? 'dead_letter_guard' : null;
      this.#guardBlock = this.#change(`${scope} dead letters`, this.#guardBlock, cause, nowMs, null);
    }
  }

  #change(
    scope: string,
    block: Block | null,
    cause: HoldCause | null,
    nowMs: number,
    call: EndedCall | null,
  ): Block | null {
    const { emit } = this.#options;
    if (block !== null) {
      const afterMs = Math.round(nowMs - block.sinceMs);
      emit('hold_ended', { cause: block.cause, scope, afterMs });
    }
    if (cause === null) return null;
    const failed = call === null ? {} : { position: positionOf(call.record) };
    emit('hold_started', { cause, scope, error: call === null ? '' : nameOfFailure(call.answer), ...failed });
    return { cause, sinceMs: nowMs };
  }
}

/** `timeout`, `status_503`; empty: nothing was sent. A status below 300 is an answer that says of itself that it is none. */
function nameOfFailure({ status, failed = null }: CallAnswer): string {
  if (failed !== null) return failed;
  return status === null || status === 0 ? '' : `status_${String(status)}`;
}
