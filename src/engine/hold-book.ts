import { type Emit } from '../kernel/emit.ts';
import { type HoldCause } from '../kernel/outcome.ts';
import { type FlowStatus } from './ports.ts';

/** A cause younger than this is a retry, not a hold: it is on the status page, but nothing is said. */
const SAID_AFTER_MS = 2000;

/** Causes that belong to normal work. */
const NORMAL: ReadonlySet<HoldCause> = new Set<HoldCause>(['not_scored_yet', 'batch_open']);

interface Page {
  records: number;
  sinceMs: number;
  said: boolean;
  /** Of the attempt that failed last, by name; empty: not known. */
  error: string;
}

/** A record, with what it waits for. */
interface Waiting {
  why: HoldCause | null;
}

/** Which causes records of one flow wait for, how many, since when. A record keeps its cause through its retries, until it is settled. */
export class HoldBook {
  readonly #scope: string;
  readonly #emit: Emit;
  readonly #pages = new Map<HoldCause, Page>();

  constructor(scope: string, emit: Emit) {
    this.#scope = scope;
    this.#emit = emit;
  }

  enter(cause: HoldCause, nowMs: number, error = ''): void {
    const page = this.#pages.get(cause);
    if (page === undefined) {
      this.#pages.set(cause, { records: 1, sinceMs: nowMs, said: false, error });
      return;
    }
    page.records += 1;
    if (error !== '') page.error = error;
  }

  leave(cause: HoldCause, nowMs: number): void {
    const page = this.#pages.get(cause);
    if (page === undefined) return;
    page.records -= 1;
    if (page.records > 0) return;
    this.#pages.delete(cause);
    if (page.said) this.#emit('hold_ended', { cause, scope: this.#scope, afterMs: Math.round(nowMs - page.sinceMs) });
  }

  /** A record waits for this cause from now on, and no longer for the one before. `error`: why its attempt failed, by name; empty: not known. */
  remember(waiting: Waiting, why: HoldCause, nowMs: number, error = ''): void {
    if (waiting.why === why) {
      const page = this.#pages.get(why);
      if (page !== undefined && error !== '') page.error = error;
      return;
    }
    this.forget(waiting, nowMs);
    waiting.why = why;
    this.enter(why, nowMs, error);
  }

  /** A record waits for nothing any more. */
  forget(waiting: Waiting, nowMs: number): void {
    if (waiting.why === null) return;
    this.leave(waiting.why, nowMs);
    waiting.why = null;
  }

  /** Says what has lasted long enough to be worth saying; called now and then. */
  review(nowMs: number): void {
    for (const [cause, page] of this.#pages) {
      if (page.said || NORMAL.has(cause) || nowMs - page.sinceMs < SAID_AFTER_MS) continue;
      page.said = true;
      this.#emit('hold_started', { cause, scope: this.#scope, error: page.error });
    }
  }

  list(): FlowStatus['waits'] {
    return [...this.#pages].map(([cause, { records, sinceMs, error }]) => ({ cause, records, sinceMs, error }));
  }
}
