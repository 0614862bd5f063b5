import { type Clock } from '../../kernel/clock.ts';
import { type Answer, errorAnswer } from './answer.ts';
import { type Faults, type Limited } from './faults.ts';

/** One request between its coming and its end. */
export interface Visit {
  /** Starts the request; `extraMs`: how much longer it takes because there are many. */
  readonly go: (extraMs: number) => void;
  state: 'new' | 'waiting' | 'inside' | 'over';
}

const SECOND_MS = 1000;

/**
 * Lets requests in as far as capacity and rate allow, all of them without those faults.
 *
 * States of a visit: `new`, made; `waiting`, in the queue, until another ends or its client goes; `inside`, being
 * answered; `over`, its connection or answer has ended. Only `left` makes it `over`.
 */
export class LoadGate {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #faults: () => Faults;
  #inside = 0;
  #queue: Visit[] = [];
  /** Requests that the rate still allows now; at most one second's. */
  #tokens = 0;
  #filledMs = -Infinity;

  constructor(clock: Pick<Clock, 'monotonicMs'>, faults: () => Faults) {
    this.#clock = clock;
    this.#faults = faults;
  }

  /** Starts the visit, or keeps it waiting, or answers why not. */
  enter(visit: Visit): Answer | null {
    const { capacity, rateLimit } = this.#faults();
    if (rateLimit !== null && !this.#takesToken(rateLimit.perSecond)) return refusal(rateLimit, 429);
    if (capacity !== null && this.#inside >= capacity.atOnce) {
      if (capacity.over !== 'queue') return refusal(capacity, 503);
      visit.state = 'waiting';
      this.#queue.push(visit);
      return null;
    }
    this.#start(visit);
    return null;
  }

  /** The visit has ended, however. A second call does nothing. */
  left(visit: Visit): void {
    if (visit.state === 'inside') this.#inside -= 1;
    visit.state = 'over';
    this.drain();
  }

  /** Starts those waiting that there is room for, first come first. */
  drain(): void {
    if (this.#queue.length === 0) return;
    const { capacity } = this.#faults();
    const room = (): boolean => capacity === null || this.#inside < capacity.atOnce;
    this.#queue = this.#queue.filter(({ state }) => state === 'waiting');
    while (this.#queue.length > 0 && room()) {
      const next = this.#queue.shift();
      if (next !== undefined) this.#start(next);
    }
  }

  #start(visit: Visit): void {
    visit.state = 'inside';
    this.#inside += 1;
    const { busy } = this.#faults();
    visit.go(busy !== null && this.#inside > busy.above ? busy.latencyMs : 0);
  }

  #takesToken(perSecond: number): boolean {
    const nowMs = this.#clock.monotonicMs();
    const most = Math.max(1, perSecond);
    const gained = ((nowMs - this.#filledMs) / SECOND_MS) * perSecond;
    this.#tokens = Math.min(most, this.#tokens + gained);
    this.#filledMs = nowMs;
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }
}

function refusal({ code, retryAfter }: Limited, usual: number): Answer {
  const headers = retryAfter === undefined ? {} : { 'retry-after': retryAfter };
  return errorAnswer(code ?? usual, 'the sandbox was told to limit requests', headers);
}
