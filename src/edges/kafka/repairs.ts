import { createRequire } from 'node:module';
import { followCoordinator } from './coordinator-repair.ts';
import { type ConsumerGroup, type Runner } from './group-internals.ts';
import { forgetFailures } from './retry-repair.ts';

const REPAIRED_VERSION = '2.2.4';
const LOADING = 'GROUP_LOAD_IN_PROGRESS';

interface RequestQueue {
  readonly pending: readonly unknown[];
  scheduleCheckPendingRequests: (this: RequestQueue) => void;
}

const repaired = new WeakSet<object>();

/**
 * Mends five defects of kafkajs 2.2.4 in place; does nothing for another version. Returns whether the repairs are in force.
 *
 * - An idle connection looks every millisecond after requests that wait, also when none does (2 % of a core for nothing,
 *   and a warning of Node's about negative delays). Whoever adds a request that has to wait starts the timer itself, so
 *   an empty queue needs none.
 * - The fetcher of each broker joins the group by itself when it meets a leader that has moved. Two at once are two joins
 *   of one member: the answer to the first is lost or overtaken, and the second begins after the first has been read
 *   back, when records run again. Here those who want to join while one join is on its way share that one.
 * - A join ends the consumer when the group's coordinator has not read the group from its log yet. Here it is repeated.
 * - A member stays with a coordinator that is gone: `followCoordinator`.
 * - Failures are counted for as long as no join comes: `forgetFailures`.
 */
export function repairKafkajs(): boolean {
  const load = createRequire(import.meta.url);
  try {
    const { version } = load('kafkajs/package.json') as { readonly version?: unknown };
    if (version !== REPAIRED_VERSION) return false;
    once((load('kafkajs/src/network/requestQueue') as { readonly prototype: RequestQueue }).prototype, quietIdleQueues);
    once(
      (load('kafkajs/src/consumer/consumerGroup') as { readonly prototype: ConsumerGroup }).prototype,
      (prototype) => {
        shareJoins(prototype);
        followCoordinator(prototype);
      },
    );
    once((load('kafkajs/src/consumer/runner') as { readonly prototype: Runner }).prototype, forgetFailures);
    return true;
  } catch {
    return false;
  }
}

function once<T extends object>(prototype: T, repair: (prototype: T) => void): void {
  if (repaired.has(prototype)) return;
  repair(prototype);
  repaired.add(prototype);
}

function quietIdleQueues(prototype: RequestQueue): void {
  const original = prototype.scheduleCheckPendingRequests;
  prototype.scheduleCheckPendingRequests = function scheduleUnlessEmpty(this: RequestQueue): void {
    if (this.pending.length > 0) original.call(this);
  };
}

function shareJoins(prototype: ConsumerGroup): void {
  const original = prototype.joinAndSync;
  const joining = new WeakMap<ConsumerGroup, Promise<void>>();
  prototype.joinAndSync = async function joinOnce(this: ConsumerGroup): Promise<void> {
    const running = joining.get(this);
    if (running !== undefined) {
      await running;
      return;
    }
    const join = untilLoaded(this, async () => {
      await original.call(this);
    });
    joining.set(this, join);
    try {
      await join;
    } finally {
      joining.delete(this);
    }
  };
}

/** A coordinator that is still reading the group from its log will have read it soon: no reason to end the consumer. */
async function untilLoaded(group: ConsumerGroup, join: () => Promise<void>): Promise<void> {
  await group.retrier(async (bail) => {
    try {
      await join();
    } catch (error) {
      if (!(error instanceof Error) || Reflect.get(error, 'type') === LOADING) throw error;
      bail(error);
    }
  });
}
