import { beatsOf } from './coordinator-repair.ts';
import { type Retrier, type Runner } from './group-internals.ts';

/** As many heartbeats answered in a row are a session without a failure: what was before it does not count any more. */
const FORGIVEN_AFTER_BEATS = 10;

/**
 * Lets failures of the fetchers be forgotten when work has gone on for a session since: kafkajs counts them from join to
 * join, so that a membership that lives for days ends with its eleventh lost connection, however far apart they were.
 */
export function forgetFailures(prototype: Runner): void {
  const { scheduleFetchManager } = prototype;
  const forgiving = new WeakSet<Runner>();
  prototype.scheduleFetchManager = function scheduleForgiving(this: Runner): void {
    if (!forgiving.has(this)) this.retrier = forgivingRetrier(this.retrier, () => beatsOf(this.consumerGroup));
    forgiving.add(this);
    scheduleFetchManager.call(this);
  };
}

/** The same, but a retriable failure after a session of work ends the run as a success: its caller begins another one. */
function forgivingRetrier(retrier: Retrier, beats: () => number): Retrier {
  return async (work) =>
    await retrier(async (bail, retryCount, retryTime) => {
      const before = beats();
      try {
        return await work(bail, retryCount, retryTime);
      } catch (error) {
        const isRetriable = error instanceof Error && Reflect.get(error, 'retriable') === true;
        if (retryCount === 0 || !isRetriable || beats() - before < FORGIVEN_AFTER_BEATS) throw error;
        return undefined;
      }
    });
}
