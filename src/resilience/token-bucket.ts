/** As much as a tenth of a second allows may go out at once. */
const BURST_SECONDS = 0.1;

/** Bounds requests per second: whole tokens, filled evenly. Time is an argument; nothing here waits. */
export class TokenBucket {
  readonly #perMs: number;
  readonly #most: number;
  /** At `#atMs`. */
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
    return Math.floor(this.#tokensAt(nowMs));
  }

  take(nowMs: number): void {
    this.#tokens = this.#tokensAt(nowMs) - 1;
    this.#atMs = nowMs;
  }

  /** When the next one may begin, monotonic, which may be in the past by now; null: one might have at `askedMs`. */
  dueMs(askedMs: number): number | null {
    const tokens = this.#tokensAt(askedMs);
    return tokens >= 1 ? null : askedMs + Math.ceil((1 - tokens) / this.#perMs);
  }

  #tokensAt(nowMs: number): number {
    return Math.min(this.#most, this.#tokens + (nowMs - this.#atMs) * this.#perMs);
  }
}
