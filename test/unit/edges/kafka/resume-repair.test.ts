import { createRequire } from 'node:module';
import { expect, test } from 'vitest';
import { type FetchingGroup } from '../../../../src/edges/kafka/group-internals.ts';
import { lookSoon } from '../../../../src/edges/kafka/resume-repair.ts';

const SubscriptionState = createRequire(import.meta.url)('kafkajs/src/consumer/subscriptionState') as new () => {
  active(): { topic: string; partitions: number[] }[];
  assign(of: readonly object[]): void;
  pause(of: readonly object[]): void;
  resume(of: readonly object[]): void;
};

/** A member with two partitions on node 1 and one on node 2, and the waits with which each fetch was made. */
function member() {
  const subscriptionState = new SubscriptionState();
  subscriptionState.assign([{ topic: 't', partitions: [0, 1, 2] }]);
  const waits: number[] = [];
  const group: FetchingGroup = {
    maxWaitTime: 250,
    subscriptionState,
    filterPartitionsByNode: (nodeId, of) =>
      of.map(({ topic, partitions }) => ({
        topic,
        partitions: partitions.filter((partition) => (partition < 2 ? 1 : 2) === nodeId),
      })),
    async fetch(this: FetchingGroup) {
      waits.push(this.maxWaitTime);
      await Promise.resolve();
    },
  };
  lookSoon(group);
  return { group, waits, subscriptionState };
}

const of = (...partitions: readonly number[]) => [{ topic: 't', partitions: [...partitions] }];

test('waits as long as it was told while a partition of the broker flows', async () => {
  const { group, waits, subscriptionState } = member();
  subscriptionState.pause(of(0));
  await group.fetch(1);
  expect(waits).toEqual([250]);
});

test('looks again soon while all partitions of the broker are paused, whatever flows from others', async () => {
  const { group, waits, subscriptionState } = member();
  subscriptionState.pause(of(0, 1));
  await group.fetch(1);
  await group.fetch(2);
  expect(waits).toEqual([20, 250]);
});

test('waits as long as before once one flows again, however often it has looked', async () => {
  const { group, waits, subscriptionState } = member();
  subscriptionState.pause(of(0, 1));
  for (let look = 0; look < 3; look += 1) await group.fetch(1);
  subscriptionState.resume(of(1));
  await group.fetch(1);
  expect(waits).toEqual([20, 20, 20, 250]);
});

test('never waits longer than it was told', async () => {
  const { group, waits, subscriptionState } = member();
  group.maxWaitTime = 5;
  subscriptionState.pause(of(0, 1));
  await group.fetch(1);
  expect(waits).toEqual([5]);
});
