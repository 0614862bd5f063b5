import { type Clock, earliest } from '../kernel/clock.ts';
import { type Emit } from '../kernel/emit.ts';
import { type HoldCause } from '../kernel/outcome.ts';
import { Breaker, type CallEnd } from './breaker.ts';
import { type Floodgate } from './floodgate.ts';
import { type CallAnswer, type ConcurrencyLimit, type LoadSign, toLoadSign } from './limit.ts';
import { type CallEndName, type GateReport } from './ports.ts';
import { type TokenBucket } from './token-bucket.ts';

/** The right to make one call, to be given back by `end`. */
export interface Pass {
  readonly breaker: number;
  readonly floodgate: number;
  /** Monotonic. */
  readonly beganMs: number;
}

/** What the gate's owner does when more may go out than a moment ago. */
export interface Relief {
  /** Calls go out again: records that wait for one of these causes may be asked again, spread over a second. */
  recovered(causes: readonly HoldCause[]): void;
  /** One call may go out as a probe; if no record is ready, one that waits for one of these causes may be asked now. */
  probe(causes: readonly HoldCause[]): void;
}

export interface GateOptions {
  /** The flow that calls. */
  readonly scope: string;
  readonly floodgate: Floodgate;
  /** Null: no limit. Operations may share one. */
  readonly bucket: TokenBucket | null;
  /** Of this gate alone; absent or null: as many at once as the caller likes. */
  readonly limit?: ConcurrencyLimit | null;
  readonly clock: Clock;
  readonly emit: Emit;
}

/** What a record waits for while the breaker is open. */
export const SERVICE_CAUSES: readonly HoldCause[] = [
  'service_down',
  'service_refuses',
  'credentials_refused',
  'sessions_displace_each_other',
];
const FLOOD_CAUSES: readonly HoldCause[] = ['floodgate'];
/** A service that asks one caller to wait speaks of all of them, but not for longer than this: the record itself waits as long as it was told. */
const PAUSE_MOST_MS = 30_000;
/** A probe's record waits this many times the span until the next probe, so that this one is of another lane where there is one. */
const PROBE_BACK = 1.5;

/**
 * All that decides whether calls of one operation may go out now: breaker, floodgate, the service's own wish to be left
 * alone, the limit of requests per second, and how many the service takes at once. It says when the breaker opens and the floodgate holds, as holds.
 */
export class Gate {
  readonly #options: GateOptions;
  readonly #breaker: Breaker;
  readonly #calls: Record<CallEndName, number> = { ok: 0, failed: 0, hold: 0, no_session: 0, void: 0 };
  #relief: Relief | null = null;
  #pausedUntilMs = -Infinity;
  /** What was said, so that its end is said alike. */
  #said: Record<'breaker' | 'floodgate', { readonly cause: HoldCause; readonly sinceMs: number } | null> = {
    breaker: null,
    floodgate: null,
  };
  /** What the call that failed last came to, by name. */
  #failure = '';
  /** The changes of state that were told of. */
  #told = -1;
  /** The probe that was announced last, so that each is announced once. */
  #announcedMs: number | null = null;

  constructor(options: GateOptions) {
    this.#options = options;
    this.#breaker = new Breaker(options.clock.monotonicMs());
  }

  /** Who is told of relief; called once. */
  attach(relief: Relief): void {
    this.#relief = relief;
  }

  /** How many calls may begin now; Infinity: as many as you like. */
  room(nowMs: number): number {
    if (nowMs < this.#pausedUntilMs) return 0;
    const { floodgate, bucket, limit } = this.#options;
    const most = Math.min(bucket?.room(nowMs) ?? Infinity, limit?.room ?? Infinity);
    return Math.min(this.#breaker.room(nowMs), floodgate.room(nowMs), most);
  }

  /** A call begins; asked only while there is room. */
  begin(nowMs: number): Pass {
    this.#options.bucket?.take(nowMs);
    this.#options.limit?.begin();
    return { breaker: this.#breaker.begin(nowMs), floodgate: this.#options.floodgate.begin(nowMs), beganMs: nowMs };
  }

  /**
   * A call has ended. Answers how long its record should wait at least, so that a probe that failed is followed by one
   * of another lane. The service's wish to be left alone (429 with `Retry-After`) stops all calls for that time; where
   * there is a limit of calls at once, it lowers that instead.
   */
  end(pass: Pass, end: CallEnd, answer: CallAnswer): number {
    const { clock, floodgate, limit = null } = this.#options;
    const { status, afterMs } = answer;
    const nowMs = clock.monotonicMs();
    this.#calls[typeof end === 'object' ? end.do : end] += 1;
    if (end !== 'ok' && end !== 'void') this.#failure = nameOfFailure(answer);
    const wasProbe = this.#breaker.isProbe(pass.breaker);
    if (status === 429 && afterMs !== null && limit === null)
      this.#pausedUntilMs = Math.max(this.#pausedUntilMs, nowMs + Math.min(afterMs, PAUSE_MOST_MS));
    if (limit === null) this.#breaker.end(pass.breaker, end, afterMs, nowMs);
    else this.#endLimited(pass, end, { limit, answer, nowMs });
    floodgate.end(pass.floodgate);
    this.#tell(nowMs);
    if (!wasProbe) return 0;
    const { probeAtMs } = this.#breaker.report();
    return probeAtMs === null ? 0 : (probeAtMs - nowMs) * PROBE_BACK;
  }

  /** Records of this call were delivered. */
  delivered(pass: Pass, records: number): void {
    const nowMs = this.#options.clock.monotonicMs();
    this.#options.floodgate.delivered(pass.floodgate, records, nowMs);
    this.#tell(nowMs);
  }

  /** The service has refused a record for good: whether that may become a letter now. */
  refused(): 'letter' | 'hold' {
    const nowMs = this.#options.clock.monotonicMs();
    const verdict = this.#options.floodgate.refused(nowMs);
    this.#tell(nowMs);
    return verdict;
  }

  /** A record is about to become a letter for another reason: whether it may now. */
  letter(): 'letter' | 'hold' {
    const nowMs = this.#options.clock.monotonicMs();
    const verdict = this.#options.floodgate.letter(nowMs);
    this.#tell(nowMs);
    return verdict;
  }

  /** When `tick` has to be called, so that a probe finds a record, monotonic; null: not before something changes. */
  probeMs(): number | null {
    return earliest(this.#probeAt(this.#breaker.dueMs()), this.#probeAt(this.#options.floodgate.dueMs()));
  }

  /** When `room` has to be asked again that had none at `askedMs`, monotonic, probes apart; null: not before something changes. */
  roomMs(askedMs: number): number | null {
    const pausedMs = askedMs < this.#pausedUntilMs ? this.#pausedUntilMs : null;
    return earliest(pausedMs, this.#options.bucket?.dueMs(askedMs) ?? null);
  }

  /** Lets a probe that has fallen due find a record. */
  tick(nowMs: number): void {
    for (const [due, causes] of [
      [this.#breaker.dueMs(), SERVICE_CAUSES],
      [this.#options.floodgate.dueMs(), FLOOD_CAUSES],
    ] as const) {
      if (due === null || due > nowMs || due === this.#announcedMs) continue;
      this.#announcedMs = due;
      this.#relief?.probe(causes);
    }
  }

  /** Why calls do not go out; null: they do, or only the limit of requests per second keeps them back. */
  get why(): HoldCause | null {
    if (this.#options.floodgate.isHolding) return 'floodgate';
    return this.#breaker.report().why;
  }

  report(): GateReport {
    const { scope, floodgate, clock } = this.#options;
    const isPaused = clock.monotonicMs() < this.#pausedUntilMs;
    return {
      scope,
      breaker: this.#breaker.report(),
      breakerChanges: this.#breaker.changes,
      floodgate: floodgate.report(),
      pausedUntilMs: isPaused ? this.#pausedUntilMs : null,
      limit: this.#options.limit?.value ?? null,
      calls: { ...this.#calls },
    };
  }

  /** A probe goes out alone, so it says nothing of how many may. */
  #endLimited(
    pass: Pass,
    end: CallEnd,
    { limit, answer, nowMs }: { readonly limit: ConcurrencyLimit; readonly answer: CallAnswer; readonly nowMs: number },
  ): void {
    const isProbe = this.#breaker.isProbe(pass.breaker);
    const sign: LoadSign = isProbe ? 'none' : toLoadSign(end, answer);
    limit.end(pass.beganMs, sign, nowMs);
    const { changes } = this.#breaker;
    this.#breaker.end(pass.breaker, end, answer.afterMs, nowMs);
    if (this.#breaker.changes !== changes && !isProbe) limit.opened(sign, nowMs);
  }

  /** A probe that was announced, and for which no record was there, needs no second announcement. */
  #probeAt(dueMs: number | null): number | null {
    return dueMs === this.#announcedMs ? null : dueMs;
  }

  #tell(nowMs: number): void {
    const changes = this.#breaker.changes + this.#options.floodgate.changes;
    if (changes === this.#told) return;
    this.#told = changes;
    const { state, why, sinceMs } = this.#breaker.report();
    const flood = this.#options.floodgate.report();
    const isOpen = state !== 'closed' && why !== null;
    this.#say('breaker', isOpen ? { cause: why, sinceMs } : null, nowMs);
    this.#say('floodgate', flood.why === null ? null : { cause: 'floodgate', sinceMs: flood.sinceMs }, nowMs);
  }

  #say(
    who: 'breaker' | 'floodgate',
    hold: { readonly cause: HoldCause; readonly sinceMs: number } | null,
    nowMs: number,
  ): void {
    const said = this.#said[who];
    if (said?.cause === hold?.cause) return;
    const { emit, scope } = this.#options;
    this.#said[who] = hold;
    const of = `${scope} ${who}`;
    if (said !== null) emit('hold_ended', { cause: said.cause, scope: of, afterMs: Math.round(nowMs - said.sinceMs) });
    const error = who === 'breaker' ? this.#failure : '';
    if (hold !== null) emit('hold_started', { cause: hold.cause, scope: of, error });
    else this.#relief?.recovered(who === 'breaker' ? SERVICE_CAUSES : FLOOD_CAUSES);
  }
}

/** `timeout`, `status_503`; empty: nothing was sent. A status below 300 is an answer that says of itself that it is none. */
function nameOfFailure({ status, failed = null }: CallAnswer): string {
  if (failed !== null) return failed;
  return status === null || status === 0 ? '' : `status_${String(status)}`;
}
