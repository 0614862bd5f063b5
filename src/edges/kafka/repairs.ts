import { createRequire } from 'node:module';

const REPAIRED_VERSION = '2.2.4';

interface RequestQueue {
  readonly pending: readonly unknown[];
  scheduleCheckPendingRequests: (this: RequestQueue) => void;
}

const repaired = new WeakSet<RequestQueue>();

/**
 * Ends the timer loop of an idle connection: kafkajs 2.2.4 looks every millisecond after requests that wait, also when
 * none does (2 % of a core for nothing, and a warning of Node's about negative delays). Whoever adds a request that has
 * to wait starts the timer itself, so an empty queue needs none. Does nothing for another version. Returns whether the
 * repair is in force.
 */
export function repairKafkajs(): boolean {
  const load = createRequire(import.meta.url);
  try {
    const { version } = load('kafkajs/package.json') as { readonly version?: unknown };
    if (version !== REPAIRED_VERSION) return false;
    const { prototype } = load('kafkajs/src/network/requestQueue') as { readonly prototype: RequestQueue };
    if (repaired.has(prototype)) return true;
    const original = prototype.scheduleCheckPendingRequests;
    prototype.scheduleCheckPendingRequests = function scheduleUnlessEmpty(this: RequestQueue): void {
      if (this.pending.length > 0) original.call(this);
    };
    repaired.add(prototype);
    return true;
  } catch {
    return false;
  }
}
