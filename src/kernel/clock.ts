/** Ends what a timer would have done; calling it again, or after the timer has run, does nothing. */
export type Cancel = () => void;

/**
 * Time, as an argument. Decisions compare `monotonicMs`; `nowMs` is only for what people and other systems read
 * (timestamps, tokens' expiry), because the wall clock may jump, and for noticing that the machine was suspended.
 */
export interface Clock {
  /** Milliseconds since 1970, UTC. */
  nowMs(): number;
  /** Milliseconds since an arbitrary start; never goes back, and may stand still while the machine is suspended. */
  monotonicMs(): number;
  /** Runs `task` once, at or after `delayMs` from now. */
  after(delayMs: number, task: () => void): Cancel;
  /** Runs `task` once, when what has come in by now has been handled: soon, but behind others who are as soon. */
  soon(task: () => void): void;
}

/** A number from 0 (included) to 1 (excluded). Chance, as an argument. */
export type Draw = () => number;

/** Resolves after `delayMs`. For start-up and shutdown only: a record never waits on a promise. */
export async function pause(clock: Clock, delayMs: number): Promise<void> {
  await new Promise<void>((resolve) => {
    clock.after(delayMs, resolve);
  });
}

/** What `work` came to, or `'late'` when it has not ended within `limitMs`; the work itself goes on. */
export async function within<T>(clock: Clock, limitMs: number, work: Promise<T>): Promise<T | 'late'> {
  return await new Promise<T | 'late'>((resolve, reject) => {
    const cancel = clock.after(limitMs, () => {
      resolve('late');
    });
    work.then(resolve, reject).finally(cancel);
  });
}

/** The earlier of two times; null: never. */
export function earliest(one: number | null, other: number | null): number | null {
  if (one === null) return other;
  return other === null ? one : Math.min(one, other);
}
