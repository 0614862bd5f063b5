import { type Cancel, type Clock } from '../../kernel/clock.ts';

/** Something that must end by a time. One `Due` is in at most one queue. */
export interface Due {
  /** Set by the queue: when it falls due, monotonic. */
  dueMs: number;
  /** The queue's own links. */
  earlier: Due | null;
  later: Due | null;
  expire(): void;
}

/**
 * The deadlines of all requests that have the same timeout, on one timer: what starts later is due later, so a queue in
 * the order of starting is in the order of falling due. A timer or an abort signal for each request would cost more
 * than the request's own bookkeeping.
 */
export class Deadlines {
  readonly timeoutMs: number;
  readonly #clock: Clock;
  #first: Due | null = null;
  #last: Due | null = null;
  #timer: Cancel | null = null;

  constructor(clock: Clock, timeoutMs: number) {
    this.#clock = clock;
    this.timeoutMs = timeoutMs;
  }

  add(due: Due): void {
    due.dueMs = this.#clock.monotonicMs() + this.timeoutMs;
    due.earlier = this.#last;
    due.later = null;
    if (this.#last === null) this.#first = due;
    else this.#last.later = due;
    this.#last = due;
    this.#timer ??= this.#clock.after(this.timeoutMs, this.#fire);
  }

  remove(due: Due): void {
    if (due.earlier === null && this.#first !== due) return;
    if (due.earlier === null) this.#first = due.later;
    else due.earlier.later = due.later;
    if (due.later === null) this.#last = due.earlier;
    else due.later.earlier = due.earlier;
    due.earlier = null;
    due.later = null;
  }

  /** Stops the timer; what is still in the queue no longer falls due. */
  close(): void {
    this.#timer?.();
    this.#timer = null;
  }

  /** The timer is not moved when the first in the queue ends early: it fires once, finds out, and is set anew. */
  readonly #fire = (): void => {
    const nowMs = this.#clock.monotonicMs();
    this.#timer = null;
    for (let due = this.#first; due !== null && due.dueMs <= nowMs; due = this.#first) {
      this.remove(due);
      due.expire();
    }
    if (this.#first !== null) this.#timer ??= this.#clock.after(this.#first.dueMs - nowMs, this.#fire);
  };
}
