import { type FloodgateReport } from './ports.ts';
import { SlidingCount } from './sliding-count.ts';

const REFUSALS_IN_A_ROW = 10;
const WINDOW = { spanMs: 300_000, slices: 10 };
/** Fewer records than this in the window prove nothing. */
const LEAST_RECORDS = 100;
const PROBE_EVERY_MS = 30_000;

/**
 * Keeps a defect that hits every record from emptying a topic into the dead-letter topic: when refusals come in a row, or
 * letters are more than their share of what ends, it holds, and lets one record out every 30 s; the first success ends
 * the hold. One for each flow. Time is an argument; nothing here waits.
 *
 * `letting` → 10 refusals by the service in a row, or letters above the share of at least 100 records in 5 minutes →
 * `holding` (nothing becomes a letter, one probe every 30 s) → a probe that is delivered → `letting`, with empty counts.
 */
export class Floodgate {
  readonly #maxShare: number;
  #why: FloodgateReport['why'] = null;
  #sinceMs: number;
  #probeAtMs = Infinity;
  #isProbing = false;
  #inARow = 0;
  /** Counts the changes of state: a success that began before a hold does not end it. */
  #epoch = 0;
  readonly #ended: SlidingCount;
  readonly #letters: SlidingCount;

  /** `maxShare` of letters among what ends, above 0; 1 turns both rules off. */
  constructor(maxShare: number, nowMs: number) {
    this.#maxShare = maxShare;
    this.#sinceMs = nowMs;
    this.#ended = new SlidingCount({ ...WINDOW, nowMs });
    this.#letters = new SlidingCount({ ...WINDOW, nowMs });
  }

  get isHolding(): boolean {
    return this.#why !== null;
  }

  /** How often its state has changed. */
  get changes(): number {
    return this.#epoch;
  }

  /** How many records may begin now. */
  room(nowMs: number): number {
    if (this.#why === null) return Infinity;
    return !this.#isProbing && nowMs >= this.#probeAtMs ? 1 : 0;
  }

  /** A record begins: its epoch, to be told at its end. */
  begin(nowMs: number): number {
    if (this.#why !== null) {
      this.#isProbing = true;
      this.#probeAtMs = nowMs + PROBE_EVERY_MS;
    }
    return this.#epoch;
  }

  /** A record has come to its end at the service, or was not sent at all: it is no probe any more. */
  end(epoch: number): void {
    if (epoch === this.#epoch) this.#isProbing = false;
  }

  /** Records were delivered. */
  delivered(epoch: number, records: number, nowMs: number): void {
    this.#inARow = 0;
    if (this.#why === null) this.#ended.add(records, nowMs);
    else if (epoch === this.#epoch) this.#let(nowMs);
  }

  /** The service has refused a record for good: whether that may become a letter now. */
  refused(nowMs: number): 'letter' | 'hold' {
    if (this.#maxShare >= 1) return 'letter';
    this.#inARow += 1;
    if (this.#why === null && this.#inARow >= REFUSALS_IN_A_ROW) this.#hold('refusals_in_a_row', nowMs);
    return this.letter(nowMs);
  }

  /** A record is about to become a letter, for whatever reason: whether it may now. */
  letter(nowMs: number): 'letter' | 'hold' {
    if (this.#maxShare >= 1) return 'letter';
    if (this.#why !== null) return 'hold';
    this.#ended.add(1, nowMs);
    this.#letters.add(1, nowMs);
    const ended = this.#ended.sum(nowMs);
    if (ended < LEAST_RECORDS || this.#letters.sum(nowMs) <= ended * this.#maxShare) return 'letter';
    this.#hold('share_of_letters', nowMs);
    return 'hold';
  }

  /** When it lets a probe out by itself, monotonic; null: it waits for nothing. */
  dueMs(): number | null {
    return this.#why === null || this.#isProbing ? null : this.#probeAtMs;
  }

  report(): FloodgateReport {
    const isHolding = this.#why !== null;
    return {
      state: isHolding ? 'holding' : 'letting',
      why: this.#why,
      sinceMs: this.#sinceMs,
      probeAtMs: isHolding ? this.#probeAtMs : null,
    };
  }

  #hold(why: Exclude<FloodgateReport['why'], null>, nowMs: number): void {
    this.#why = why;
    this.#probeAtMs = nowMs + PROBE_EVERY_MS;
    this.#change(nowMs);
  }

  #let(nowMs: number): void {
    this.#why = null;
    this.#ended.clear();
    this.#letters.clear();
    this.#change(nowMs);
  }

  #change(nowMs: number): void {
    this.#sinceMs = nowMs;
    this.#isProbing = false;
    this.#epoch += 1;
  }
}
