import { type FetchingGroup } from './group-internals.ts';

/** How soon a fetcher that has nothing to ask for looks again. */
const LOOK_AGAIN_MS = 20;

/**
 * Lets a fetcher notice soon that one of its partitions flows again. kafkajs sleeps for the longest wait of a fetch when
 * all of a broker's partitions are paused: what has been buffered until then is gone before, and the process stands still
 * with a backlog in front of it. Some looks a second at a list in memory cost nothing that can be measured.
 */
export function lookSoon(prototype: FetchingGroup): void {
  const original = prototype.fetch;
  const usual = new WeakMap<FetchingGroup, number>();
  prototype.fetch = async function fetchSoon(this: FetchingGroup, nodeId: number): Promise<unknown> {
    const usualMs = usual.get(this) ?? this.maxWaitTime;
    usual.set(this, usualMs);
    this.maxWaitTime = hasWork(this, nodeId) ? usualMs : Math.min(LOOK_AGAIN_MS, usualMs);
    return await original.call(this, nodeId);
  };
}

/** Fetchers of several brokers share the wait: at worst one of them asks its broker for a shorter one, once. */
function hasWork(group: FetchingGroup, nodeId: number): boolean {
  return group
    .filterPartitionsByNode(nodeId, group.subscriptionState.active())
    .some(({ partitions }) => partitions.length > 0);
}
