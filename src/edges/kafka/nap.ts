import { type Clock } from '../../kernel/clock.ts';

/** A wait that can be ended early. One sleeper at a time. */
export class Nap {
  readonly #clock: Clock;
  #end: (() => void) | null = null;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Resolves after `delayMs`, or at `wake`. */
  async sleep(delayMs: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const cancel = this.#clock.after(delayMs, () => {
        this.wake();
      });
      this.#end = () => {
        cancel();
        resolve();
      };
    });
  }

  wake(): void {
    const end = this.#end;
    this.#end = null;
    end?.();
  }
}

/** Milliseconds before try `failures + 1`: doubling from `firstMs` up to `mostMs`, the upper half of it by chance. */
export function backoffMs(failures: number, draw: () => number, firstMs: number, mostMs: number): number {
  const whole = Math.min(mostMs, firstMs * 2 ** Math.min(failures, 20));
  return whole * (0.5 + draw() / 2);
}
