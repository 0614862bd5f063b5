import { type Draw } from '../kernel/clock.ts';
import { type HoldCause } from '../kernel/outcome.ts';
import { type Entry } from './entry.ts';
import { type EngineSignals } from './ports.ts';
import { WaitQueue } from './wait-queue.ts';

/** When a blocked key queue is asked again that nobody woke: doubling from the first to the last. */
const ASK_AGAIN_MS = 500;
const ASK_AGAIN_MAX_MS = 2000;

/** The heads of key queues that wait for their time, and those that are blocked: asked again in their time, or when somebody wakes them. */
export class Waits {
  readonly #queue = new WaitQueue<Entry>();
  /** Blocked heads, by lane; where a lane is blocked in two partitions, the earlier one is asked again in its time. */
  readonly #blocked = new Map<string, Entry>();
  readonly #draw: Draw;

  constructor(draw: Draw) {
    this.#draw = draw;
  }

  /** When the next one falls due; null: none waits. */
  nextDueMs(): number | null {
    return this.#queue.nextDueMs();
  }

  wait(entry: Entry, untilMs: number): void {
    entry.state = 'waiting';
    entry.dueMs = untilMs;
    this.#queue.add(entry);
  }

  block(entry: Entry, nowMs: number): void {
    entry.state = 'blocked';
    entry.dueMs = nowMs + Math.min(ASK_AGAIN_MAX_MS, ASK_AGAIN_MS * 2 ** entry.asks);
    entry.asks = Math.min(entry.asks + 1, 10);
    this.#queue.add(entry);
    this.#blocked.set(entry.lane, entry);
  }

  /** Takes the first one that is due, or undefined. */
  take(nowMs: number): Entry | undefined {
    const entry = this.#queue.take(nowMs);
    if (entry !== undefined) this.#unblock(entry);
    return entry;
  }

  /** Takes the blocked head of this lane, or undefined. */
  takeBlocked(lane: string): Entry | undefined {
    const entry = this.#blocked.get(lane);
    if (entry !== undefined) this.remove(entry);
    return entry;
  }

  remove(entry: Entry): void {
    this.#queue.remove(entry);
    this.#unblock(entry);
  }

  /** Lets those that wait for one of these causes fall due sooner; a wait that ends before is not made longer. */
  hurry(causes: readonly HoldCause[], which: Parameters<EngineSignals['hurry']>[1], nowMs: number): void {
    const waiting = this.#queue
      .list()
      .filter(({ state, why }) => state === 'waiting' && why !== null && causes.includes(why));
    if (which.all) {
      for (const entry of waiting) this.#queue.moveUp(entry, nowMs + this.#draw() * which.withinMs);
      return;
    }
    let first = waiting[0];
    for (const entry of waiting) if (first === undefined || entry.dueMs < first.dueMs) first = entry;
    if (first !== undefined) this.#queue.moveUp(first, nowMs);
  }

  #unblock(entry: Entry): void {
    if (this.#blocked.get(entry.lane) === entry) this.#blocked.delete(entry.lane);
  }
}
