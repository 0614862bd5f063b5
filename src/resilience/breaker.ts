import { type HoldCause } from '../kernel/outcome.ts';
import { type BreakerReport, type BreakerState } from './ports.ts';
import { SlidingCount } from './sliding-count.ts';

/** Why no session is to be had, whatever is sent. */
export type NoSessionCause = Extract<
  HoldCause,
  'credentials_refused' | 'sessions_displace_each_other' | 'service_refuses'
>;

/**
 * What a call says of the service's health. `ok`: it answered and knew what to do, be it by refusing the record.
 * `failed`: 429, 5xx, `error_msg`, no answer. `hold`: an answer that says nothing of the record (403, 404, redirects).
 * `no_session`: logins are refused or give no token, so no call can succeed. `void`: nothing was sent.
 */
export type CallEnd = 'ok' | 'failed' | 'hold' | 'void' | { readonly do: 'no_session'; readonly why: NoSessionCause };

const WINDOW = { spanMs: 10_000, slices: 10 };
/** Fewer calls than this in the window prove nothing. */
const LEAST_CALLS = 20;
const OPEN_SHARE = 0.5;
/** One answer that nobody can use may be one record's doing; so many in a row, without a success between, are not. */
const HOLDS_IN_A_ROW = 3;
const OPEN_FIRST_MS = 2_000;
const OPEN_MOST_MS = 8_000;
/** 2 s doubled this often is beyond the most. */
const DOUBLINGS = 3;
const OPEN_SYSTEMIC_MS = 60_000;

/**
 * Stops calling a service that does not work, and finds out when it works again. Time is an argument; nothing here waits.
 *
 * | state | what is true | left by |
 * | --- | --- | --- |
 * | `closed` | calls go out and are counted over 10 s | half of at least 20 failed, 3 holds in a row, or no session → `open` |
 * | `open` | none goes out | the time of the probe → `half_open` |
 * | `half_open` | one call at a time goes out, the probe | its success → `closed`; its failure → `open`, for longer |
 *
 * Calls that began in an earlier state say nothing any more: they are not counted.
 */
export class Breaker {
  #state: BreakerState = 'closed';
  #why: HoldCause | null = null;
  #sinceMs: number;
  #probeAtMs = Infinity;
  #isProbing = false;
  /** How often it has opened without a success between. */
  #openings = 0;
  #holdsInARow = 0;
  /** Counts the changes of state: a call of an older epoch is not counted. */
  #epoch = 0;
  readonly #calls: SlidingCount;
  readonly #failures: SlidingCount;

  constructor(nowMs: number) {
    this.#sinceMs = nowMs;
    this.#calls = new SlidingCount({ ...WINDOW, nowMs });
    this.#failures = new SlidingCount({ ...WINDOW, nowMs });
  }

  /** How often its state has changed. */
  get changes(): number {
    return this.#epoch;
  }

  /** How many calls may begin now. */
  room(nowMs: number): number {
    if (this.#state === 'closed') return Infinity;
    return !this.#isProbing && nowMs >= this.#probeAtMs ? 1 : 0;
  }

  /** A call begins: its epoch, to be told at its end. */
  begin(nowMs: number): number {
    if (this.#state === 'open' && nowMs >= this.#probeAtMs) this.#enter('half_open', nowMs);
    if (this.#state === 'half_open') this.#isProbing = true;
    return this.#epoch;
  }

  /** Whether calls of this epoch are probes. */
  isProbe(epoch: number): boolean {
    return this.#state === 'half_open' && epoch === this.#epoch;
  }

  /** A call has ended. `afterMs`: the service asked for so much time (`Retry-After`); null: it did not. */
  end(epoch: number, end: CallEnd, afterMs: number | null, nowMs: number): void {
    // While open nothing goes out but the rest of what had begun.
    if (epoch !== this.#epoch || this.#state === 'open') return;
    if (this.#state === 'half_open') {
      this.#isProbing = false;
      if (end === 'ok') this.#close(nowMs);
      else if (end !== 'void') this.#open(causeOf(end), end === 'hold' ? OPEN_SYSTEMIC_MS : afterMs, nowMs);
      return;
    }
    if (end === 'void') return;
    this.#calls.add(1, nowMs);
    this.#holdsInARow = end === 'hold' ? this.#holdsInARow + 1 : 0;
    if (end === 'ok') return;
    this.#failures.add(1, nowMs);
    if (this.#holdsInARow >= HOLDS_IN_A_ROW) this.#open(causeOf(end), OPEN_SYSTEMIC_MS, nowMs);
    else if (typeof end === 'object' || this.#isFailing(nowMs)) this.#open(causeOf(end), afterMs, nowMs);
  }

  /** When it lets a probe out by itself, monotonic; null: it waits for nothing. */
  dueMs(): number | null {
    return this.#state === 'closed' || this.#isProbing ? null : this.#probeAtMs;
  }

  report(): BreakerReport {
    const probeAtMs = this.#state === 'closed' ? null : this.#probeAtMs;
    return { state: this.#state, why: this.#why, sinceMs: this.#sinceMs, probeAtMs };
  }

  #open(why: HoldCause, atLeastMs: number | null, nowMs: number): void {
    const spanMs = Math.min(OPEN_MOST_MS, OPEN_FIRST_MS * 2 ** this.#openings);
    this.#openings = Math.min(this.#openings + 1, DOUBLINGS);
    this.#probeAtMs = nowMs + Math.max(spanMs, Math.min(atLeastMs ?? 0, OPEN_SYSTEMIC_MS));
    const wasClosed = this.#state === 'closed';
    this.#why = why;
    const sinceMs = wasClosed ? nowMs : this.#sinceMs;
    this.#enter('open', sinceMs);
  }

  #close(nowMs: number): void {
    this.#openings = 0;
    this.#holdsInARow = 0;
    this.#why = null;
    this.#calls.clear();
    this.#failures.clear();
    this.#enter('closed', nowMs);
  }

  /** `sinceMs` outlives `open` and `half_open`: a person wants to know since when nothing works. */
  #enter(state: BreakerState, nowMs: number): void {
    if (state !== 'half_open') this.#sinceMs = nowMs;
    this.#state = state;
    this.#isProbing = false;
    this.#epoch += 1;
  }

  #isFailing(nowMs: number): boolean {
    const calls = this.#calls.sum(nowMs);
    return calls >= LEAST_CALLS && this.#failures.sum(nowMs) >= calls * OPEN_SHARE;
  }
}

/**
 * What it says of the service's health that there is no session. All calls that wait for one login share its failure, so
 * they are not so many answers that nobody can use: a login that went wrong once is not held against the service for a minute.
 */
export function toSessionEnd(why: NoSessionCause | 'service_down'): CallEnd {
  return why === 'service_down' ? 'failed' : { do: 'no_session', why };
}

function causeOf(end: Exclude<CallEnd, 'ok' | 'void'>): HoldCause {
  if (typeof end === 'object') return end.why;
  return end === 'hold' ? 'service_refuses' : 'service_down';
}
