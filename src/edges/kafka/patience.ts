import { type Clock, type Draw, within } from '../../kernel/clock.ts';
import { kafkaErrorName } from './errors.ts';
import { backoffMs, Nap } from './nap.ts';

const ANSWER_MS = 10_000;
const FIRST_RETRY_MS = 200;
const LAST_RETRY_MS = 2000;

export interface PatienceParts {
  readonly clock: Clock;
  readonly draw: Draw;
  /** A try to ask the brokers failed; it is repeated. */
  readonly onAskFailed: (error: string) => void;
  /** An answer has come after tries that failed. */
  readonly onAnswered: () => void;
}

/** Asks brokers until they answer. */
export class Patience {
  readonly #parts: PatienceParts;
  readonly #naps = new Set<Nap>();

  constructor(parts: PatienceParts) {
    this.#parts = parts;
  }

  /** The answer, however often they have to be asked; null: it is not wanted any more. Never rejects. */
  async ask<T>(ask: () => Promise<T>, isWanted: () => boolean): Promise<T | null> {
    const { draw, onAnswered } = this.#parts;
    for (let failures = 0; isWanted(); failures += 1) {
      const answer = await this.#once(ask, isWanted);
      if (answer !== 'failed') {
        if (answer !== null && failures > 0) onAnswered();
        return answer;
      }
      await this.#sleep(backoffMs(failures, draw, FIRST_RETRY_MS, LAST_RETRY_MS));
    }
    return null;
  }

  /** Ends the waits between tries; for when nothing is wanted any more. */
  wake(): void {
    for (const nap of this.#naps) nap.wake();
  }

  async #once<T>(ask: () => Promise<T>, isWanted: () => boolean): Promise<T | null | 'failed'> {
    const { clock, onAskFailed } = this.#parts;
    let error = 'timeout';
    try {
      const answer = await within(clock, ANSWER_MS, ask());
      if (!isWanted()) return null;
      if (answer !== 'late') return answer;
    } catch (failure) {
      error = kafkaErrorName(failure);
    }
    if (!isWanted()) return null;
    onAskFailed(error);
    return 'failed';
  }

  async #sleep(delayMs: number): Promise<void> {
    const nap = new Nap(this.#parts.clock);
    this.#naps.add(nap);
    await nap.sleep(delayMs);
    this.#naps.delete(nap);
  }
}
