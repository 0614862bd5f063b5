import { type HoldCause } from '../kernel/outcome.ts';
import { type BreakerReport, type BreakerState } from './ports.ts';

/** Why no session is to be had, whatever is sent. */
export type NoSessionCause = Extract<
  HoldCause,
  'credentials_refused' | 'sessions_displace_each_other' | 'service_refuses'
>;

/** What a failed call blames on the service, should it turn out to be the service's fault. */
export type FailureCause = 'service_down' | 'service_refuses';

/**
 * How a call ended, as far as the service's health is concerned. `ok`: the service did what it was asked. `refused`: it
 * refused the record (400, 409, 413, 422). `failed`: any other answer, or none. `no_session`: logins are refused or give no token,
 * so no call can succeed. `void`: nothing was sent.
 */
export type CallEnd =
  | { readonly do: 'ok' }
  | { readonly do: 'refused' | 'failed'; readonly cause: FailureCause }
  | { readonly do: 'no_session'; readonly cause: NoSessionCause }
  | { readonly do: 'void' };

/** Whose attempt a call was. */
export interface CallOf {
  /** The key queue of its record; of a batch, that of its first record. */
  readonly key: string;
  /** Whether nothing that it sends was sent before. */
  readonly isFirst: boolean;
}

/** First attempts for so many different keys have to fail in a row: odd records are rarer, so it is the service. */
const FAILED_KEYS = 20;
const PROBE_FIRST_MS = 2_000;
const PROBE_MAX_MS = 8_000;
/** 2 s doubled this often reach the maximum. */
const DOUBLINGS = 2;

/**
 * Stops calling a service that fails for everybody, and finds out when it works again. Only first attempts judge the
 * service: repeats are mostly of odd records, and would accuse it for ever. Time is an argument; nothing here waits.
 *
 * | state | what is true | left by |
 * | --- | --- | --- |
 * | `closed` | calls go out; first attempts are watched | first attempts for 20 keys in a row failed and none succeeded for `quietMs`, or no session → `open` |
 * | `open` | none goes out | the time of the probe (2, 4, 8, 8 … s) → `half_open`; no untried record left → `closed` |
 * | `half_open` | one first attempt goes out, the probe | its success → `closed`; its failure → `open`, for longer |
 *
 * Calls that began in an earlier state say nothing any more: they are not counted.
 */
export class Breaker {
  readonly #quietMs: number;
  #state: BreakerState = 'closed';
  #why: HoldCause | null = null;
  #sinceMs: number;
  #probeAtMs = Infinity;
  #isProbing = false;
  /** How often it has opened without a success between. */
  #openings = 0;
  /** Counts the changes of state: a call of an older epoch is not counted. */
  #epoch = 0;
  /** Whose first attempts have failed since the last first attempt that succeeded. */
  readonly #failedKeys = new Set<string>();
  /** When a first attempt succeeded last. */
  #succeededAtMs = -Infinity;

  /** `quietMs`: it does not open so soon after a success. */
  constructor(nowMs: number, { quietMs }: { readonly quietMs: number } = { quietMs: 0 }) {
    this.#quietMs = quietMs;
    this.#sinceMs = nowMs;
  }

  /** How often its state has changed. */
  get changes(): number {
    return this.#epoch;
  }

  get isClosed(): boolean {
    return this.#state === 'closed';
  }

  /** Why it is not closed; null: it is. */
  get why(): HoldCause | null {
    return this.#why;
  }

  /** How many calls may begin now. */
  room(nowMs: number): number {
    if (this.#state === 'closed') return Infinity;
    return !this.#isProbing && nowMs >= this.#probeAtMs ? 1 : 0;
  }

  /** A call begins: its epoch, to be given back at its end. */
  begin(nowMs: number): number {
    if (this.#state === 'open' && nowMs >= this.#probeAtMs) this.#enter('half_open', nowMs);
    if (this.#state === 'half_open') this.#isProbing = true;
    return this.#epoch;
  }

  /** Whether calls of this epoch are probes. */
  isProbe(epoch: number): boolean {
    return this.#state === 'half_open' && epoch === this.#epoch;
  }

  /** A call has ended. */
  end(epoch: number, { key, isFirst }: CallOf, end: CallEnd, nowMs: number): void {
    // While open only calls end that had begun before.
    if (epoch !== this.#epoch || this.#state === 'open') return;
    if (this.#state === 'half_open') {
      this.#isProbing = false;
      if (end.do === 'ok') this.#close(nowMs);
      else if (end.do !== 'void') this.open(end.cause, nowMs);
      return;
    }
    if (end.do === 'no_session') this.open(end.cause, nowMs);
    if (!isFirst || end.do === 'void' || end.do === 'no_session') return;
    if (end.do === 'ok') {
      this.#succeededAtMs = nowMs;
      if (this.#failedKeys.size > 0) this.#failedKeys.clear();
      return;
    }
    if (this.#failedKeys.size < FAILED_KEYS) this.#failedKeys.add(key);
    const isOver = nowMs - this.#succeededAtMs >= this.#quietMs;
    if (this.#failedKeys.size >= FAILED_KEYS && isOver) this.open(end.cause, nowMs);
  }

  /** Opens, or stays open for longer. */
  open(why: HoldCause, nowMs: number): void {
    this.#probeAtMs = nowMs + Math.min(PROBE_MAX_MS, PROBE_FIRST_MS * 2 ** this.#openings);
    this.#openings = Math.min(this.#openings + 1, DOUBLINGS);
    this.#why = why;
    this.#failedKeys.clear();
    this.#enter('open', this.#state === 'closed' ? nowMs : this.#sinceMs);
  }

  /** No record is left that was not tried yet, so nothing could probe: closes, for each record's backoff is limit enough. */
  closeForWantOfProbes(nowMs: number): void {
    if (this.#state !== 'closed' && !this.#isProbing) this.#close(nowMs);
  }

  /** When it lets a probe out, monotonic; null: it waits for nothing. */
  dueMs(): number | null {
    return this.#state === 'closed' || this.#isProbing ? null : this.#probeAtMs;
  }

  report(): BreakerReport {
    const probeAtMs = this.#state === 'closed' ? null : this.#probeAtMs;
    return { state: this.#state, why: this.#why, sinceMs: this.#sinceMs, probeAtMs };
  }

  #close(nowMs: number): void {
    this.#openings = 0;
    this.#why = null;
    this.#enter('closed', nowMs);
  }

  /** `sinceMs` outlives `open` and `half_open`: a person wants to know since when nothing works. */
  #enter(state: BreakerState, nowMs: number): void {
    if (state !== 'half_open') this.#sinceMs = nowMs;
    this.#state = state;
    this.#isProbing = false;
    this.#epoch += 1;
  }
}

/**
 * What a missing session says of the service's health. All calls that wait for one login share its failure, so they are
 * not so many failed calls: a login that went wrong once does not keep everything waiting until the next probe.
 */
export function toSessionEnd(why: NoSessionCause | 'service_down'): CallEnd {
  return why === 'service_down' ? { do: 'failed', cause: why } : { do: 'no_session', cause: why };
}
