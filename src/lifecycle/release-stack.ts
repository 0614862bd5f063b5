import { nameOf } from '../kernel/fault.ts';

/** What could not be released, and why: an error's name, no text of it. */
export interface ReleaseFailure {
  readonly what: string;
  readonly error: string;
}

/** Releases what was opened, in reverse order, once, and keeps every error. */
export class ReleaseStack {
  readonly #opened: { readonly what: string; readonly release: () => Promise<unknown> }[] = [];

  /** Registers the release in the same breath as the opening. */
  push(what: string, release: () => Promise<unknown>): void {
    this.#opened.push({ what, release });
  }

  /** Releases everything; a failure does not keep the rest from being released. A second call finds nothing to do. */
  async release(): Promise<readonly ReleaseFailure[]> {
    const failures: ReleaseFailure[] = [];
    for (let last = this.#opened.pop(); last !== undefined; last = this.#opened.pop()) {
      try {
        await last.release();
      } catch (error) {
        failures.push({ what: last.what, error: nameOf(error) });
      }
    }
    return failures;
  }
}
