import { type Cancel, type Clock } from '../../src/kernel/clock.ts';

interface Timer {
  readonly atMs: number;
  readonly order: number;
  readonly task: () => void;
}

/** A clock that moves only when told: timers run in order of their time, then of their making. */
export class ManualClock implements Clock {
  #nowMs = 0;
  #made = 0;
  readonly #startMs: number;
  readonly #timers = new Set<Timer>();

  constructor(startMs = Date.UTC(2026, 0, 1)) {
    this.#startMs = startMs;
  }

  nowMs(): number {
    return this.#startMs + this.#nowMs;
  }

  monotonicMs(): number {
    return this.#nowMs;
  }

  after(delayMs: number, task: () => void): Cancel {
    const timer: Timer = { atMs: this.#nowMs + Math.max(0, delayMs), order: (this.#made += 1), task };
    this.#timers.add(timer);
    return () => {
      this.#timers.delete(timer);
    };
  }

  /** With the next promise reactions. */
  soon(task: () => void): void {
    queueMicrotask(task);
  }

  /** Timers that have not run yet. */
  get pending(): number {
    return this.#timers.size;
  }

  /** How long until the next timer runs; null: there is none. */
  get nextInMs(): number | null {
    const next = this.#next(Infinity);
    return next === undefined ? null : Math.max(0, next.atMs - this.#nowMs);
  }

  /** Moves on by `ms`, running what falls due, timers made meanwhile included. Promise reactions run only between calls. */
  advance(ms: number): void {
    const untilMs = this.#nowMs + ms;
    for (let next = this.#next(untilMs); next !== undefined; next = this.#next(untilMs)) {
      this.#timers.delete(next);
      this.#nowMs = Math.max(this.#nowMs, next.atMs);
      next.task();
    }
    this.#nowMs = untilMs;
  }

  #next(untilMs: number): Timer | undefined {
    let first: Timer | undefined;
    for (const timer of this.#timers) {
      if (timer.atMs > untilMs) continue;
      if (first === undefined || timer.atMs < first.atMs || (timer.atMs === first.atMs && timer.order < first.order))
        first = timer;
    }
    return first;
  }
}

/** Lets promise reactions that are ready run, however many follow from one another. */
export async function settled(): Promise<void> {
  await new Promise<void>((resolve) => {
    setImmediate(resolve);
  });
}
