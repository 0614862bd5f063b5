/** As much as a tenth of a second allows may go out at once. */
const BURST_SECONDS = 0.1;

/** Bounds requests per second: whole tokens, filled evenly. Time is an argument; nothing here waits. */
export class TokenBucket {
  readonly #perMs: number;
  readonly #most: number;
  #tokens: number;
  #atMs: number;

  constructor(perSecond: number, nowMs: number) {
    this.#perMs = perSecond / 1000;
    this.#most = Math.max(1, perSecond * BURST_SECONDS);
    this.#tokens = this.#most;
    this.#atMs = nowMs;
  }

  /** How many requests may begin now. */
  room(nowMs: number): number {
    this.#fill(nowMs);
    return Math.floor(this.#tokens);
  }

  take(nowMs: number): void {
    this.#fill(nowMs);
    this.#tokens -= 1;
  }

  /** When the next one may begin, monotonic; null: one may now. */
  dueMs(nowMs: number): number | null {
    this.#fill(nowMs);
    return this.#tokens >= 1 ? null : nowMs + Math.ceil((1 - this.#tokens) / this.#perMs);
  }

  #fill(nowMs: number): void {
    this.#tokens = Math.min(this.#most, this.#tokens + (nowMs - this.#atMs) * this.#perMs);
    this.#atMs = nowMs;
  }
}
