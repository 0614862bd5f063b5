import { type Clock } from '../../kernel/clock.ts';

/** Lets one after the other go on, each in a turn of the event loop of its own, so that what has come in meanwhile is handled between them. */
export class Turns {
  readonly #clock: Clock;
  #last: Promise<void> = Promise.resolve();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Resolves when it is the caller's turn; in the order of the calls. */
  async next(): Promise<void> {
    const before = this.#last;
    this.#last = this.#after(before);
    await this.#last;
  }

  async #after(before: Promise<void>): Promise<void> {
    await before;
    await new Promise<void>((resolve) => {
      this.#clock.soon(resolve);
    });
  }
}
