/**
 * For how long something has been held in all. It is looked at now and then, not told of changes: time between two looks
 * counts as held if it was so at either end, so that in doubt somebody waits longer, never shorter.
 */
export class HeldTime {
  readonly #isHeld: () => boolean;
  #heldMs = 0;
  /** Monotonic; null: nobody has looked yet. */
  #lookedMs: number | null = null;
  #wasHeld = false;

  constructor(isHeld: () => boolean) {
    this.#isHeld = isHeld;
  }

  /** How long, in milliseconds, up to `nowMs`, which is monotonic. */
  upTo(nowMs: number): number {
    const isHeld = this.#isHeld();
    if (this.#lookedMs !== null && (isHeld || this.#wasHeld)) this.#heldMs += Math.max(0, nowMs - this.#lookedMs);
    this.#lookedMs = Math.max(nowMs, this.#lookedMs ?? nowMs);
    this.#wasHeld = isHeld;
    return this.#heldMs;
  }
}
