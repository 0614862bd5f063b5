import { type Draw } from '../kernel/clock.ts';
import { type HoldCause } from '../kernel/outcome.ts';
import { askedWaitMs, backoffMs } from './backoff.ts';
import { Breaker, type CallEnd, type CallOf } from './breaker.ts';
import { DeadLetterGuard } from './dead-letter-guard.ts';

export interface AttributionOptions {
  /** Failures before a record is a suspect, at least 1. */
  readonly maxAttempts: number;
  /** They must span at least this; a tenth of it while failing records fill at least half of the memory. */
  readonly refuseAfterMs: number;
  /** Of dead letters among all that ends; 1: no guard. */
  readonly maxShare: number;
  /** True: a refusal is the record's own fault also where nothing succeeds, for records that were refused before. Default false. */
  readonly believesRefusals?: boolean;
  /** The breaker does not open so soon after a success; absent: 0. */
  readonly quietMs?: number;
  readonly draw: Draw;
  readonly nowMs: number;
}

/** What is known of a record whose attempts have failed; in memory only. */
export interface RetryState {
  /** All failures: they make the backoff. */
  readonly failures: number;
  /** Those that count against the record: all but 429, and but those of a whole batch. */
  readonly against: number;
  /** When the first of them came, monotonic. */
  readonly sinceMs: number;
  /** How many first attempts had succeeded and failed by then, its own included; of an accepted batch each record counts. */
  readonly succeededBefore: number;
  readonly failedBefore: number;
}

/** An attempt that failed. */
export interface FailedAttempt extends CallOf {
  /** Before this failure; null: it is the first. */
  readonly state: RetryState | null;
  /**
   * `refused`: by its content (a payment: 400, 409, 413, 422). `rate_limited`: 429. `failed`: any other answer, or none.
   * `shared`: it failed together with others, or the service fails for everybody, so this says nothing of the record.
   */
  readonly kind: 'refused' | 'rate_limited' | 'failed' | 'shared';
  /** From `Retry-After`; null: the service did not say. */
  readonly afterMs: number | null;
  /** From 0 to 1: how much of what may be kept in memory is taken by failing records and those behind them. */
  readonly failingFill: number;
  /** Whether the service works for others, where the caller knows better than by the first attempts that failed in a row. */
  readonly isWorking?: boolean;
}

/** Whose fault a failure was. */
export type Decision =
  /** The record's: it becomes a dead letter. */
  | { readonly do: 'dead_letter' }
  /** Perhaps the service's: the record is tried again. */
  | { readonly do: 'retry'; readonly forMs: number; readonly state: RetryState; readonly blame: Blame };

/** What keeps a record that failed from its end: the service, the record alone, or the guard, without which it would be a dead letter. */
export type Blame = 'service' | 'record' | 'guard';

/** Others that were tried since a record failed first; fewer prove nothing. */
const MIN_OTHERS = 20;
/** So many of them may have failed. */
const OTHERS_FAILED_SHARE = 0.05;
const RECENT_FIRST_ATTEMPTS = 20;
/** Fewer first attempts than this that fail in a row are no sign against the service. */
const FAILED_BY_CHANCE = 5;
const REPEATS_SHARE = 0.25;
/** With fewer calls at once, repeats and untried records take turns. */
const MIN_LIMIT_TO_SHARE = 4;
const HALF_FULL = 0.5;
const HURRY = 0.1;
/** Keys whose records are known to fail; the oldest are forgotten first. */
const MAX_FAILING_KEYS = 10_000;

/**
 * Decides whose fault a failed call was: the record's or the service's. First attempts of different records judge the
 * service, repeats judge the record. One for each flow; it is told the end of every call. Time and chance are arguments;
 * nothing here waits.
 *
 * - The service is at fault when first attempts for 20 keys in a row fail: the breaker opens.
 * - A record that was refused is at fault at once, while others succeed.
 * - A record that fails otherwise is a suspect: after enough failures, over enough time, while at most 5 % of the first
 *   attempts of at least 20 others failed, it is at fault. Records of its key that fail after it are at fault at once,
 *   until one succeeds.
 * - The dead-letter guard bounds what is decided at once.
 */
export class Attribution {
  readonly breaker: Breaker;
  readonly guard: DeadLetterGuard;
  readonly #options: AttributionOptions;
  /** First attempts since the start. */
  #succeeded = 0;
  #failed = 0;
  /** First attempts that failed since one succeeded; before the first success, as many as it takes to prove nothing. */
  #failedInARow = RECENT_FIRST_ATTEMPTS;
  /** Keys that had a suspect's dead letter and no success since. */
  readonly #failingKeys = new Set<string>();

  constructor(options: AttributionOptions) {
    this.#options = options;
    this.breaker = new Breaker(options.nowMs, { quietMs: options.quietMs ?? 0 });
    this.guard = new DeadLetterGuard(options.maxShare, options.nowMs);
  }

  /** A call has ended. `epoch`: of the breaker when it began. `delivered`: records that it delivered. */
  end(epoch: number, call: CallOf, ended: CallEnd, { delivered, nowMs }: { delivered: number; nowMs: number }): void {
    const isBelieved = ended.do === 'refused' && this.#options.believesRefusals === true;
    const end: CallEnd = isBelieved ? { do: 'ok' } : ended;
    const isJudged = end.do !== 'void' && end.do !== 'no_session';
    if (call.isFirst && isJudged) {
      const isOk = end.do === 'ok';
      if (isOk) this.#succeeded += Math.max(1, delivered);
      else this.#failed += 1;
      this.#failedInARow = isOk ? 0 : this.#failedInARow + 1;
    }
    this.breaker.end(epoch, call, end, nowMs);
    if (delivered === 0) return;
    this.guard.succeeded(delivered);
    if (this.#failingKeys.size > 0) this.#failingKeys.delete(call.key);
  }

  /** What becomes of a record whose attempt failed; called after `end`. */
  decide(attempt: FailedAttempt, nowMs: number): Decision {
    const state = this.#stateAfter(attempt, nowMs);
    const isFailure = attempt.kind === 'failed';
    const isAtOnce = attempt.kind === 'refused' || (isFailure && attempt.isFirst && this.#failingKeys.has(attempt.key));
    const isAtFault = isAtOnce || (isFailure && this.#isProven(state, attempt.failingFill, nowMs));
    if (isAtFault && (isAtOnce ? this.permitsAtOnce(nowMs) : this.guard.permits(nowMs, { free: true }))) {
      if (attempt.kind !== 'refused') this.#remember(attempt.key);
      return { do: 'dead_letter' };
    }
    return { do: 'retry', forMs: this.#waitMs(attempt, state), state, blame: this.#blame(attempt, isAtFault, nowMs) };
  }

  /** Whether a record that is at fault by a single answer may become a dead letter now; if so, it has been paid for. */
  permitsAtOnce(nowMs: number): boolean {
    const isWorking = this.breaker.isClosed && this.#failedInARow < RECENT_FIRST_ATTEMPTS;
    if (!isWorking && this.#options.believesRefusals !== true) return false;
    if (this.guard.permits(nowMs, { free: false })) return true;
    // So many dead letters cast doubt on those before, too.
    this.#failingKeys.clear();
    return false;
  }

  /** Why calls do not go out; null: they do. */
  get why(): HoldCause | null {
    return this.breaker.why;
  }

  #blame({ isWorking }: FailedAttempt, isAtFault: boolean, nowMs: number): Blame {
    const worksForOthers = isWorking ?? this.#failedInARow < FAILED_BY_CHANCE;
    if (!this.breaker.isClosed || !worksForOthers) return 'service';
    return isAtFault && this.guard.isBlocking(nowMs) ? 'guard' : 'record';
  }

  #stateAfter({ state, kind }: FailedAttempt, nowMs: number): RetryState {
    const against = kind === 'rate_limited' || kind === 'shared' ? 0 : 1;
    if (state !== null && state.against > 0)
      return { ...state, failures: state.failures + 1, against: state.against + against };
    return {
      failures: (state?.failures ?? 0) + 1,
      against,
      sinceMs: nowMs,
      succeededBefore: this.#succeeded,
      failedBefore: this.#failed,
    };
  }

  /** It has failed often enough, for long enough, while nearly all others succeeded. */
  #isProven({ against, sinceMs, succeededBefore, failedBefore }: RetryState, fill: number, nowMs: number): boolean {
    const { maxAttempts, refuseAfterMs } = this.#options;
    const afterMs = fill >= HALF_FULL ? refuseAfterMs * HURRY : refuseAfterMs;
    if (against < maxAttempts || nowMs - sinceMs < afterMs) return false;
    const succeeded = this.#succeeded - succeededBefore;
    const failed = this.#failed - failedBefore;
    const others = succeeded + failed;
    return others >= MIN_OTHERS && failed <= others * OTHERS_FAILED_SHARE;
  }

  #waitMs({ kind, afterMs }: FailedAttempt, { failures }: RetryState): number {
    const { draw } = this.#options;
    const askedMs = askedWaitMs(afterMs, draw);
    // A service that is over its rate knows best when it has room.
    if (askedMs !== null && kind === 'rate_limited') return askedMs;
    return Math.max(backoffMs(failures, draw), askedMs ?? 0);
  }

  #remember(key: string): void {
    this.#failingKeys.delete(key);
    this.#failingKeys.add(key);
    if (this.#failingKeys.size <= MAX_FAILING_KEYS) return;
    for (const oldest of this.#failingKeys) {
      this.#failingKeys.delete(oldest);
      return;
    }
  }
}

/** How many repeats may start now. They go before untried records, but leave them three quarters of the slots. */
export function repeatRoom(slots: {
  /** Calls that may begin now. */
  readonly free: number;
  /** Calls at once. */
  readonly limit: number;
  readonly repeatsRunning: number;
  /** Whether a record that was not tried yet could start. */
  readonly untriedWaits: boolean;
  /** Whether the call that began last was a repeat, and an untried record waited then. */
  readonly repeatWasLast: boolean;
}): number {
  const { free, limit, repeatsRunning, untriedWaits, repeatWasLast } = slots;
  if (!untriedWaits) return free;
  if (limit < MIN_LIMIT_TO_SHARE && repeatWasLast) return 0;
  return Math.min(free, Math.max(1, Math.floor(limit * REPEATS_SHARE)) - repeatsRunning);
}
