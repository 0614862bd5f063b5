/** How often a dependency's state is looked at. */
export const LOOK_MS = 1000;
/** How long one probe may take. */
export const PROBE_LIMIT_MS = 3000;
/** Real traffic that was answered this recently makes a probe unnecessary; an unanswered dependency is probed this often. */
const QUIET_MS = 4000;
/** Failed probes in a row after which a dependency counts as silent: one that is slow proves nothing. */
const FAILURES = 2;
/** A look that comes this much too late means that the process itself stood still. */
const FROZEN_MS = 1000;

/** What has just become true of a dependency. */
export type DependencyChange =
  | { readonly now: 'silent'; readonly error: string }
  | { readonly now: 'answering'; readonly afterMs: number };

/**
 * Decides from times and results when to probe one dependency, and whether it answers.
 *
 * | state | left by |
 * | --- | --- |
 * | answering | a failed probe → doubted |
 * | doubted | a second failed probe → silent; a probe that was answered → answering |
 * | silent | a probe that was answered → answering |
 *
 * A dependency that stops answering is silent at most 12 s later: a look after 4 s without traffic (5 s), two probes of
 * 3 s, and a look between them (1 s). The state ends at most 8 s after the dependency answers again.
 *
 * A failure says nothing when the process stood still meanwhile (SIGSTOP, a busy event loop): the
 * answer may be there, unread.
 */
export class DependencyState {
  #failures = 0;
  #silentSinceMs: number | null = null;
  #lookedAtMs: number;
  /** When the last probe ended; null: none has. */
  #probedAtMs: number | null = null;
  #stoodStill = false;

  constructor(nowMs: number) {
    this.#lookedAtMs = nowMs;
  }

  /** One look, every `LOOK_MS`: whether to probe now. `answeredAtMs`: when real traffic was last answered; null: never. */
  look(nowMs: number, answeredAtMs: number | null): boolean {
    this.#note(nowMs);
    this.#lookedAtMs = nowMs;
    if (this.#probedAtMs === null) return true;
    // Between two failures traffic proves nothing: a connection that was given up is not waited for any more.
    if (this.#isDoubted) return true;
    const latestMs = this.#isSilent ? this.#probedAtMs : Math.max(this.#probedAtMs, answeredAtMs ?? -Infinity);
    return nowMs - latestMs >= QUIET_MS;
  }

  /** A probe begins: what stood still before says nothing about it. */
  begin(nowMs: number): void {
    this.#note(nowMs);
    this.#stoodStill = false;
  }

  /** The probe has ended. `error`: the name of why there was no answer; null: it was answered. */
  end(nowMs: number, error: string | null): DependencyChange | null {
    this.#note(nowMs);
    this.#probedAtMs = nowMs;
    if (error === null) return this.#answered(nowMs);
    if (this.#isSilent) return null;
    this.#failures = this.#stoodStill ? 0 : this.#failures + 1;
    if (this.#failures < FAILURES) return null;
    this.#silentSinceMs = nowMs;
    return { now: 'silent', error };
  }

  get #isSilent(): boolean {
    return this.#silentSinceMs !== null;
  }

  get #isDoubted(): boolean {
    return this.#failures > 0 && !this.#isSilent;
  }

  #answered(nowMs: number): DependencyChange | null {
    const sinceMs = this.#silentSinceMs;
    this.#failures = 0;
    this.#silentSinceMs = null;
    return sinceMs === null ? null : { now: 'answering', afterMs: Math.round(nowMs - sinceMs) };
  }

  /** A first failure from before the process stood still is forgotten as well. */
  #note(nowMs: number): void {
    if (nowMs - this.#lookedAtMs <= LOOK_MS + FROZEN_MS) return;
    this.#stoodStill = true;
    if (!this.#isSilent) this.#failures = 0;
  }
}
