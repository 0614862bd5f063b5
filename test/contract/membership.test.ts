import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, inject, test } from 'vitest';
import { FenceFeed } from '../../src/edges/kafka/fence-feed.ts';
import { systemClock } from '../../src/edges/system/clock.ts';
import { Members, numbered, range } from './members.ts';
import { type KafkaWorld, kafkaWorld } from './worlds.ts';

/** So short that its lease has lapsed by each heartbeat. */
const SHORT_SESSION_MS = 100;

class CountingFence extends FenceFeed {
  confirmations = 0;

  constructor() {
    super({ clock: systemClock, sessionTimeoutMs: SHORT_SESSION_MS });
  }

  override confirmed(sentAtMs: number): void {
    super.confirmed(sentAtMs);
    this.confirmations += 1;
  }
}

describe('a membership whose lease lapses again and again', () => {
  let world: KafkaWorld;
  const members = new Members(() => world);

  beforeAll(async () => {
    world = await kafkaWorld(inject('kafka').brokers);
  });
  afterEach(async () => {
    await members.stopAll();
  });
  afterAll(async () => {
    await world.close();
  });

  test('is confirmed by the group, of the leader as of the others, without a join or a pause of what is read', async () => {
    const topic = await world.createTopic(4);
    const groupId = randomUUID();
    const fences = [new CountingFence(), new CountingFence()] as const;
    const group = [
      await members.keeper(groupId, [topic], { fence: fences[0] }),
      await members.keeper(groupId, [topic], { fence: fences[1] }),
    ];
    await world.until(() => group.every(({ recorder }) => recorder.owned.length === 2));
    const joins = group.map(({ recorder }) => recorder.assignments.length);
    const before = fences.map((fence) => fence.confirmations);
    await world.until(() => fences.every((fence, n) => fence.confirmations >= (before[n] ?? 0) + 4));
    for (const partition of range(4)) await world.append(topic, partition, numbered(10));
    await world.until(() => group.every(({ recorder }) => recorder.values.length === 20));
    expect(group.map(({ recorder }) => recorder.assignments.length)).toEqual(joins);
    expect(group.map(({ recorder }) => recorder.losses)).toEqual([0, 0]);
    expect(group.map(({ recorder }) => recorder.owned.length)).toEqual([2, 2]);
  });
});
