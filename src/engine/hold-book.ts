import { type Emit } from '../kernel/emit.ts';
import { type HoldCause } from '../kernel/outcome.ts';
import { positionOf, type RecordPosition } from '../kernel/position.ts';
import { type FlowStatus } from './ports.ts';

/** A cause younger than this is a retry, not a hold: it is on the status page, but nothing is said. */
const SAID_AFTER_MS = 2000;

/** Causes that belong to normal work. */
const NORMAL: ReadonlySet<HoldCause> = new Set<HoldCause>(['not_scored_yet', 'batch_open']);

interface Page {
  records: number;
  /** Of the record that failed last; null: not known. */
  position: RecordPosition | null;
  sinceMs: number;
  said: boolean;
  /** Of the attempt that failed last, by name; empty: not known. */
  error: string;
}

/** A record, with what it waits for. */
interface Waiting {
  why: HoldCause | null;
  readonly record: RecordPosition;
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

  enter(cause: HoldCause, nowMs: number, error = '', position: RecordPosition | null = null): void {
    const page = this.#pages.get(cause);
    if (page === undefined) {
      this.#pages.set(cause, { records: 1, position, sinceMs: nowMs, said: false, error });
      return;
    }
    page.records += 1;
    if (error !== '') Object.assign(page, { error, position });
  }

  /** So many records wait for this cause; 0: none does any more. For causes that are not counted record by record. */
  set(cause: HoldCause, records: number, nowMs: number): void {
    const page = this.#pages.get(cause);
    if (records === 0) {
      if (page !== undefined) this.#close(cause, page, nowMs);
    } else if (page === undefined)
      this.#pages.set(cause, { records, position: null, sinceMs: nowMs, said: false, error: '' });
    else page.records = records;
  }

  leave(cause: HoldCause, nowMs: number): void {
    const page = this.#pages.get(cause);
    if (page === undefined) return;
    page.records -= 1;
    if (page.records === 0) this.#close(cause, page, nowMs);
  }

  /** A record waits for this cause from now on, and no longer for the one before. `error`: why its attempt failed, by name; empty: not known. */
  remember(waiting: Waiting, why: HoldCause, nowMs: number, error = ''): void {
    if (waiting.why === why) {
      const page = this.#pages.get(why);
      if (page !== undefined && error !== '') Object.assign(page, { error, position: waiting.record });
      return;
    }
    this.forget(waiting, nowMs);
    waiting.why = why;
    this.enter(why, nowMs, error, error === '' ? null : waiting.record);
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
      const position = page.position === null ? {} : { position: positionOf(page.position) };
      this.#emit('hold_started', { cause, scope: this.#scope, error: page.error, ...position });
    }
  }

  list(): FlowStatus['waits'] {
    return [...this.#pages].map(([cause, { records, sinceMs, error, position }]) => ({
      cause,
      records,
      sinceMs,
      error,
      position: position === null ? null : positionOf(position),
    }));
  }

  #close(cause: HoldCause, page: Page, nowMs: number): void {
    this.#pages.delete(cause);
    if (page.said) this.#emit('hold_ended', { cause, scope: this.#scope, afterMs: Math.round(nowMs - page.sinceMs) });
  }
}
