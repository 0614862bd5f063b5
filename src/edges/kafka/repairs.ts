import { createRequire } from 'node:module';

const REPAIRED_VERSION = '2.2.4';

interface RequestQueue {
  readonly pending: readonly unknown[];
  scheduleCheckPendingRequests: (this: RequestQueue) => void;
}

interface ConsumerGroup {
  joinAndSync: (this: ConsumerGroup) => Promise<void>;
}

const repaired = new WeakSet<object>();

/**
 * Mends two defects of kafkajs 2.2.4 in place; does nothing for another version. Returns whether the repairs are in force.
 *
 * - An idle connection looks every millisecond after requests that wait, also when none does (2 % of a core for nothing,
 *   and a warning of Node's about negative delays). Whoever adds a request that has to wait starts the timer itself, so
 *   an empty queue needs none.
 * - The fetcher of each broker joins the group by itself when it meets a leader that has moved. Two at once are two joins
 *   of one member: the answer to the first is lost or overtaken, and the second begins after the first has been read
 *   back, when records run again. Here those who want to join while one join is on its way share that one.
 */
export function repairKafkajs(): boolean {
  const load = createRequire(import.meta.url);
  try {
    const { version } = load('kafkajs/package.json') as { readonly version?: unknown };
    if (version !== REPAIRED_VERSION) return false;
    quietIdleQueues((load('kafkajs/src/network/requestQueue') as { readonly prototype: RequestQueue }).prototype);
    shareJoins((load('kafkajs/src/consumer/consumerGroup') as { readonly prototype: ConsumerGroup }).prototype);
    return true;
  } catch {
    return false;
  }
}

function quietIdleQueues(prototype: RequestQueue): void {
  if (repaired.has(prototype)) return;
  const original = prototype.scheduleCheckPendingRequests;
  prototype.scheduleCheckPendingRequests = function scheduleUnlessEmpty(this: RequestQueue): void {
    if (this.pending.length > 0) original.call(this);
  };
  repaired.add(prototype);
}

function shareJoins(prototype: ConsumerGroup): void {
  if (repaired.has(prototype)) return;
  const original = prototype.joinAndSync;
  const joining = new WeakMap<ConsumerGroup, Promise<void>>();
  prototype.joinAndSync = async function joinOnce(this: ConsumerGroup): Promise<void> {
    const running = joining.get(this);
    if (running !== undefined) {
      await running;
      return;
    }
    const join = original.call(this);
    joining.set(this, join);
    try {
      await join;
    } finally {
      joining.delete(this);
    }
  };
  repaired.add(prototype);
}
