import { type GuardReport } from './ports.ts';

/** So many dead letters may follow one another: with fewer, 4 % of odd records exhaust a share of 5 % by chance. */
const BUDGET = 40;
const BUDGET_AT_START = 20;
const BLOCKED_MS = 300_000;

/**
 * Keeps a fault of the service, or of a producer, from emptying a topic into its dead-letter topic. Dead letters that a
 * single answer decides spend a budget, and every success earns back so much that in the long run no more than the
 * permitted share of records becomes dead letters. One guard for each flow. Time is an argument; nothing here waits.
 *
 * `permitting` → a dead letter is wanted and the budget is spent → `blocking`: nothing becomes a dead letter for 5 minutes →
 * `permitting`, with a full budget. Records that the guard blocks are tried again; it never stops other records.
 */
export class DeadLetterGuard {
  readonly #isOff: boolean;
  /** What one success earns. */
  readonly #earned: number;
  #budget = BUDGET_AT_START;
  #blockedUntilMs = -Infinity;
  #blocks = 0;
  #sinceMs: number;

  /** `maxShare` of dead letters among all that ends, above 0; 1 turns the guard off. */
  constructor(maxShare: number, nowMs: number) {
    this.#isOff = maxShare >= 1;
    this.#earned = this.#isOff ? 0 : maxShare / (1 - maxShare);
    this.#sinceMs = nowMs;
  }

  /** How often it has begun to block. */
  get blocks(): number {
    return this.#blocks;
  }

  isBlocking(nowMs: number): boolean {
    return nowMs < this.#blockedUntilMs;
  }

  /** So many records were delivered. */
  succeeded(records: number): void {
    this.#budget = Math.min(BUDGET, this.#budget + records * this.#earned);
  }

  /** Whether a record may become a dead letter now; if so, and unless it is `free`, it has been paid for. */
  permits(nowMs: number, { free }: { readonly free: boolean }): boolean {
    if (this.#isOff) return true;
    this.#unblock(nowMs);
    if (this.isBlocking(nowMs)) return false;
    if (free) return true;
    if (this.#budget < 1) {
      this.#blockedUntilMs = nowMs + BLOCKED_MS;
      this.#sinceMs = nowMs;
      this.#blocks += 1;
      return false;
    }
    this.#budget -= 1;
    return true;
  }

  /** When it permits dead letters again, monotonic; null: it does. */
  dueMs(nowMs: number): number | null {
    return this.isBlocking(nowMs) ? this.#blockedUntilMs : null;
  }

  report(nowMs: number): GuardReport {
    this.#unblock(nowMs);
    return {
      state: this.isBlocking(nowMs) ? 'blocking' : 'permitting',
      sinceMs: this.#sinceMs,
      untilMs: this.dueMs(nowMs),
      budget: Math.floor(this.#budget),
    };
  }

  #unblock(nowMs: number): void {
    if (this.#blockedUntilMs === -Infinity || this.isBlocking(nowMs)) return;
    this.#sinceMs = this.#blockedUntilMs;
    this.#blockedUntilMs = -Infinity;
    this.#budget = BUDGET;
  }
}
