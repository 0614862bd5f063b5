import { type CallEnd } from './breaker.ts';
import { type NoAnswer } from './ports.ts';
import { SlidingCount } from './sliding-count.ts';

/**
 * What the end of a call says of the service's load. `light`: it was answered as asked. `overload`: the service says that
 * it has too much to do. `strain`: it may have, or it is ill; only many of them tell. `none`: nothing of it.
 */
export type LoadSign = 'light' | 'overload' | 'strain' | 'none';

/** How the service answered a call. */
export interface CallAnswer {
  /** Null: there was no answer. */
  readonly status: number | null;
  /** From `Retry-After`; null: none. */
  readonly afterMs: number | null;
  /** Why there was none; null or absent: there was, or nothing was sent. */
  readonly failed?: NoAnswer | null;
}

/** What a call that ended so says of the service's load. */
export function toLoadSign(end: CallEnd, { status, afterMs, failed = null }: CallAnswer): LoadSign {
  if (end.do === 'ok' || end.do === 'refused') return 'light';
  if (status === 429 || (status === 503 && afterMs !== null)) return 'overload';
  return status === 503 || failed === 'timeout' ? 'strain' : 'none';
}

/** What is left of the limit, at least, of one second to the next. */
const LOWERED_TO = 0.8;
/** And when the breaker has opened: it opens for some seconds, so that small steps would take minutes. */
const HALVED_TO = 0.5;
const SECOND_MS = 1_000;
const WINDOW = { spanMs: SECOND_MS, slices: 10 };
/** Fewer answers than this in the window prove nothing. */
const LEAST_ANSWERS = 20;
const STRAIN_SHARE = 0.3;
/** So many standard deviations above that share are no chance: of 20 answers 11, of 100 40, of 1,000 330. */
const DEVIATIONS = 2;
/**
 * Where the limit is looked for, the breaker does not open so soon after a success: a service that refuses within a
 * millisecond what is too much for it fails 20 calls in a row between two of its answers.
 */
export const LIMITED_QUIET_MS = 100;
/** A limit that is not used says nothing of a higher one. */
const USED_SHARE = 0.5;

/**
 * Finds out from the answers how many calls the service takes at once: it rises slowly and falls quickly (additive
 * increase, multiplicative decrease; RFC 5681 does so with segments). Time is an argument; nothing here waits.
 *
 * It falls on overload: 429, 503 with `Retry-After`, or more than 30 % of at least 20 answers of the last second being 503
 * or none in time. A call that is refused shows that the others were taken, so the limit falls to what is open without
 * it; by no more than a fifth a second, because one refusal may be chance; by half when the breaker opens over it; never below
 * 1. It rises by 1 a round trip, never above `most`, while at least half of it is used; back to where it was too much only
 * after a second without overload, so that one call a second is refused, and not one each round trip.
 *
 * Every other failure changes nothing: fewer calls at once do not mend a service that fails by chance. Nor do calls that
 * began before it was last lowered: they speak of a limit that is gone.
 */
export class ConcurrencyLimit {
  readonly #most: number;
  readonly #answers: SlidingCount;
  readonly #strained: SlidingCount;
  #limit: number;
  /** It does not fall below this within a second of `#loweredMs`. */
  #floor = 1;
  #open = 0;
  /** So many at once were too many when it was last seen. */
  #tooMany = Infinity;
  #overloadedMs = -Infinity;
  #loweredMs = -Infinity;

  constructor({ most, nowMs }: { readonly most: number; readonly nowMs: number }) {
    this.#most = most;
    this.#limit = most;
    this.#answers = new SlidingCount({ ...WINDOW, nowMs });
    this.#strained = new SlidingCount({ ...WINDOW, nowMs });
  }

  /** Calls at once, now: a whole number from 1 to `most`. */
  get value(): number {
    return Math.floor(this.#limit);
  }

  /** How many calls may begin now. */
  get room(): number {
    return Math.max(0, this.value - this.#open);
  }

  /** A call begins. */
  begin(): void {
    this.#open += 1;
  }

  /** A call that began at `beganMs` has ended. */
  end(beganMs: number, sign: LoadSign, nowMs: number): void {
    const openWithIt = this.#open;
    this.#open -= 1;
    if (sign === 'none' || beganMs < this.#loweredMs) return;
    this.#answers.add(1, nowMs);
    if (sign === 'strain') this.#strained.add(1, nowMs);
    if (sign === 'light') this.#raise(openWithIt, nowMs);
    else if (sign === 'overload' || this.#isStrained(nowMs)) this.#lower(openWithIt, nowMs);
  }

  /** The breaker has opened by a call with this sign. */
  opened(sign: LoadSign, nowMs: number): void {
    if (sign !== 'overload' && sign !== 'strain') return;
    this.#overloadedMs = nowMs;
    this.#tooMany = this.#limit;
    this.#enterSecond(HALVED_TO, nowMs);
    this.#limit = this.#floor;
  }

  #raise(openWithIt: number, nowMs: number): void {
    const raised = Math.min(this.#most, this.#limit + 1 / this.#limit);
    const isQuiet = nowMs - this.#overloadedMs >= SECOND_MS;
    const isUsed = openWithIt >= this.#limit * USED_SHARE;
    if (isUsed && (isQuiet || raised < this.#tooMany)) this.#limit = raised;
  }

  #lower(openWithIt: number, nowMs: number): void {
    this.#overloadedMs = nowMs;
    this.#tooMany = Math.min(openWithIt, this.#limit);
    if (nowMs - this.#loweredMs >= SECOND_MS) this.#enterSecond(LOWERED_TO, nowMs);
    this.#limit = Math.max(this.#floor, Math.min(this.#limit, openWithIt - 1));
  }

  #enterSecond(share: number, nowMs: number): void {
    this.#loweredMs = nowMs;
    this.#floor = Math.max(1, this.#limit * share);
    this.#answers.clear();
    this.#strained.clear();
  }

  #isStrained(nowMs: number): boolean {
    const answers = this.#answers.sum(nowMs);
    const byChance = DEVIATIONS * Math.sqrt(answers * STRAIN_SHARE * (1 - STRAIN_SHARE));
    return answers >= LEAST_ANSWERS && this.#strained.sum(nowMs) > answers * STRAIN_SHARE + byChance;
  }
}
