import { randomUUID } from 'node:crypto';
import { createRequire } from 'node:module';
import { afterAll, afterEach, beforeAll, describe, expect, inject, test } from 'vitest';
import { FenceFeed } from '../../src/edges/kafka/fence-feed.ts';
import { systemClock } from '../../src/edges/system/clock.ts';
import { isContiguous, isStillInBarriers, Members, numbered, offsetsByPartition, range } from './members.ts';
import { connect, inMemoryWorld, type KafkaWorld, kafkaWorld, type World } from './worlds.ts';

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

const worlds: readonly (readonly [name: string, make: () => Promise<World>])[] = [
  ['in memory', inMemoryWorld],
  ['kafkajs', async () => await kafkaWorld(inject('kafka').brokers)],
];

describe.each(worlds)('a source %s, disturbed,', (_name, make) => {
  let world: World;
  const members = new Members(() => world);

  beforeAll(async () => {
    world = await make();
  });
  afterEach(async () => {
    await members.stopAll();
  });
  afterAll(async () => {
    await world.close();
  });

  test('keeps a batch that came while its partition was paused for when it flows again', async () => {
    const topic = await world.createTopic(4);
    const all = range(4).map((partition) => ({ topic, partition }));
    for (const { partition } of all) await world.append(topic, partition, numbered(50));
    const { source, recorder } = await members.reader(randomUUID(), [topic]);
    let paused = 0;
    // The batches of the others are of the same answer: they are on their way when this closes them.
    recorder.onRecords = ({ partition }) => {
      const others = all.filter((at) => at.partition !== partition);
      source.pause(others);
      paused += others.length;
      void Promise.resolve().then(() => {
        source.resume(all);
      });
    };
    await world.until(() => recorder.values.length >= 200);
    expect(paused).toBeGreaterThan(0);
    expect(isContiguous(recorder)).toBe(true);
    for (const offsets of offsetsByPartition([recorder]).values()) expect(offsets).toEqual(range(50));
  });

  test('tells a committed offset that the log has lost, and reads on from its start', async () => {
    const topic = await world.createTopic(1);
    const at = { topic, partition: 0 };
    const groupId = randomUUID();
    await world.append(topic, 0, numbered(10));
    await world.put(groupId, at, 2n);
    await world.expire(topic, 0, 5n);
    const { recorder } = await members.reader(groupId, [topic]);
    await world.until(() => recorder.values.length === 5);
    expect(recorder.assignments[0]).toEqual([{ ...at, committed: 2n, metadata: '', low: 5n, high: 10n }]);
    expect(recorder.values).toEqual(numbered(5, 5));
    expect(recorder.losses).toBe(0);
    expect((await world.committed(groupId, at)).offset).toBe(2n);
  });

  test('tells a committed offset beyond the end of the log, as after a truncation', async () => {
    const topic = await world.createTopic(1);
    const at = { topic, partition: 0 };
    const groupId = randomUUID();
    await world.append(topic, 0, numbered(3));
    await world.put(groupId, at, 50n);
    const { source, recorder } = await members.reader(groupId, [topic]);
    recorder.onAssigned = (partitions) => {
      for (const { low } of partitions) source.seek(at, low);
      source.resume(partitions);
    };
    await world.until(() => recorder.values.length === 3);
    expect(recorder.assignments[0]).toMatchObject([{ committed: 50n, low: 0n, high: 3n }]);
    expect(recorder.losses).toBe(0);
    expect((await world.committed(groupId, at)).offset).toBe(50n);
  });

  test('hands over nothing from the beginning of a barrier to the next assignment, and all of it afterwards', async () => {
    const topic = await world.createTopic(2);
    const groupId = randomUUID();
    for (const partition of [0, 1]) await world.append(topic, partition, numbered(20_000));
    const first = await members.keeper(groupId, [topic]);
    // So that much of a fetch is still to be handed over whenever the barrier comes.
    first.recorder.onRecords = () => {
      for (const untilMs = performance.now() + 10; performance.now() < untilMs;);
    };
    await world.until(() => first.recorder.values.length > 0);
    const second = await members.keeper(groupId, [topic]);
    await world.until(() => first.recorder.owned.length === 1 && second.recorder.owned.length === 1);
    const recorders = [first.recorder, second.recorder];
    expect(recorders.map(isStillInBarriers)).toEqual([true, true]);
    await world.until(() => recorders.reduce((sum, { values }) => sum + values.length, 0) >= 40_000);
    for (const offsets of offsetsByPartition(recorders).values()) expect(offsets).toEqual(range(20_000));
  });

  test('loses and doubles nothing while members come and go under load', async () => {
    const topic = await world.createTopic(4);
    const groupId = randomUUID();
    const counts = new Map(range(4).map((partition) => [partition, 0]));
    const load = async (): Promise<void> => {
      for (const [partition, count] of counts) {
        await world.append(topic, partition, numbered(10, count));
        counts.set(partition, count + 10);
      }
    };
    const first = await members.keeper(groupId, [topic]);
    await load();
    await world.until(() => first.recorder.values.length > 0);
    const second = await members.keeper(groupId, [topic]);
    for (const _ of range(5)) await load();
    await world.until(() => second.recorder.owned.length === 2 && first.recorder.owned.length === 2);
    const third = await members.keeper(groupId, [topic]);
    for (const _ of range(5)) await load();
    const recorders = [first.recorder, second.recorder, third.recorder];
    await world.until(() => recorders.every(({ owned }) => owned.length <= 2 && owned.length > 0));
    await load();
    const total = 4 * (counts.get(0) ?? 0);
    await world.until(() => recorders.reduce((sum, { values }) => sum + values.length, 0) >= total);
    await world.linger();
    for (const recorder of recorders) expect(isContiguous(recorder)).toBe(true);
    for (const offsets of offsetsByPartition(recorders).values()) expect(offsets).toEqual(range(total / 4));
  });
});

describe('a source kafkajs, disturbed as only a cluster can,', () => {
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

  test('begins by itself when a missing topic is created', async () => {
    const topic = `late-${randomUUID()}`;
    const { recorder } = await members.reader(randomUUID(), [topic]);
    await world.until(() => world.errors.includes('topic missing'));
    await world.raw.createTopics({ topics: [{ topic, numPartitions: 1 }], waitForLeaders: true });
    await world.append(topic, 0, ['first']);
    await world.until(() => recorder.values.length === 1);
    expect(recorder.assignments[0]?.[0]).toMatchObject({ committed: null });
  });

  test('holds while its topic is gone, and reads the one that is made again from its start', async () => {
    const topic = await world.createTopic(1);
    const groupId = randomUUID();
    await world.append(topic, 0, numbered(5));
    const { recorder } = await members.reader(groupId, [topic]);
    await world.until(() => recorder.values.length === 5);
    const heldBefore = world.errors.length;
    await world.raw.deleteTopics({ topics: [topic] });
    const deletedAtMs = performance.now();
    await world.until(() => world.errors.slice(heldBefore).includes('topic missing'));
    // kafkajs would ask for it for a quarter of a minute before that.
    expect(performance.now() - deletedAtMs).toBeLessThan(10_000);
    expect(recorder.losses).toBe(1);
    await world.raw.createTopics({ topics: [{ topic, numPartitions: 1 }], waitForLeaders: true });
    await world.append(topic, 0, ['new']);
    await world.until(() => recorder.values.includes('new'));
    expect(recorder.assignments.at(-1)?.[0]).toMatchObject({ low: 0n });
    expect(recorder.values).toEqual([...numbered(5), 'new']);
  });

  test('comes back by itself when it is thrown out of its group, and none of its commits is taken meanwhile', async () => {
    const topic = await world.createTopic(4);
    const groupId = randomUUID();
    const evictable = membershipsOf(groupId);
    const first = await members.keeper(groupId, [topic]);
    await world.until(() => first.recorder.owned.length === 4);
    evictable.restore();
    const recorders = [first.recorder, (await members.keeper(groupId, [topic])).recorder];
    await world.until(() => recorders.every(({ owned }) => owned.length === 2));
    for (const partition of range(4)) await world.append(topic, partition, numbered(10));
    await world.until(() => recorders.every(({ values }) => values.length === 20));
    const at = first.recorder.assignments.at(-1)?.[0] ?? { topic, partition: 0 };
    const joinsBefore = first.recorder.assignments.length;
    await evictable.evict();
    // A commit of a member that the broker does not know.
    await expect(first.source.commit([{ ...at, offset: 7n, metadata: 'late' }])).rejects.toThrow(/KafkaJS/);
    expect(await world.committed(groupId, at)).not.toMatchObject({ metadata: 'late' });
    await world.until(() => first.recorder.assignments.length > joinsBefore);
    await world.until(() => recorders.every(({ owned }) => owned.length === 2));
    for (const partition of range(4)) await world.append(topic, partition, numbered(10, 10));
    await world.until(() =>
      [...offsetsByPartition(recorders).values()].every((offsets) => new Set(offsets).size === 20),
    );
    for (const recorder of recorders) expect(isContiguous(recorder)).toBe(true);
  });

  test('has a membership whose lease lapses again and again confirmed, of the leader as of the others, without a join or a pause of what is read', async () => {
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

  test('does not end the other member that the same client has made when one crashes', async () => {
    const topic = await world.createTopic(2);
    const groupId = randomUUID();
    const { client } = connect(inject('kafka').brokers);
    const group = [
      await members.keeper(groupId, [topic], { client }),
      await members.keeper(groupId, [topic], { client }),
    ] as const;
    const [first, second] = group;
    await world.until(() => group.every(({ recorder }) => recorder.owned.length === 1));
    const [at] = first.recorder.assignments.at(-1) ?? [];
    if (at === undefined) throw new Error('nothing owned');
    await world.crash(first.source, first.recorder, at);
    await world.until(() => first.recorder.losses === 1);
    await world.until(() =>
      group.every(({ recorder }) => recorder.owned.length === 1 && recorder.assignments.length > 1),
    );
    expect(second.recorder.losses).toBe(0);
  });

  test('notices partitions that are added, and gives them alike for both topics', async () => {
    const topics = [await world.createTopic(2), await world.createTopic(2)];
    const groupId = randomUUID();
    const variant = { metadataMaxAgeMs: 500 };
    const group = [await members.keeper(groupId, topics, variant), await members.keeper(groupId, topics, variant)];
    const recorders = group.map(({ recorder }) => recorder);
    await world.until(() => recorders.every(({ owned }) => owned.length === 2));
    const beforeMs = performance.now();
    await world.raw.createPartitions({ topicPartitions: topics.map((topic) => ({ topic, count: 6 })) });
    await world.until(() => recorders.every(({ owned }) => owned.length === 6));
    expect(performance.now() - beforeMs).toBeLessThan(10_000);
    for (const { owned } of recorders) {
      const [one, two] = topics.map((topic) => owned.filter((name) => name.startsWith(topic)).map(numberOf));
      expect(one).toEqual(two);
    }
    for (const topic of topics) await world.append(topic, 5, ['new']);
    await world.until(() => recorders.flatMap(({ values }) => values).length === 2);
  });

  test('says why it holds in a group of other topics, and does not disturb it', async () => {
    const [one, other] = [await world.createTopic(1), await world.createTopic(1)];
    const groupId = randomUUID();
    const first = await members.reader(groupId, [one]);
    await world.until(() => first.recorder.owned.length === 1);
    const second = await members.reader(groupId, [one, other]);
    await world.until(() => world.errors.some((error) => error.includes('INCONSISTENT_GROUP_PROTOCOL')));
    await world.append(one, 0, ['goes on']);
    await world.until(() => first.recorder.values.length === 1);
    expect(second.recorder.assignments).toEqual([]);
    expect(first.recorder.assignments).toHaveLength(1);
    await first.source.stop();
    await world.until(() => second.recorder.owned.length === 2);
  });

  test('moves as few partitions as possible between 1, 4 and 2 members, evenly and together', async () => {
    const topics = [await world.createTopic(8), await world.createTopic(8)];
    const groupId = randomUUID();
    const group = [await members.keeper(groupId, topics)];
    const settled = (sizes: readonly number[]): boolean =>
      JSON.stringify(group.map(({ recorder }) => recorder.owned.length / 2).sort((a, b) => a - b)) ===
      JSON.stringify(sizes);
    await world.until(() => settled([8]));
    let before = ownersOf(group.map(({ recorder }) => recorder.owned));
    let moved = 0;
    const note = (): void => {
      const after = ownersOf(group.map(({ recorder }) => recorder.owned));
      for (const [unit, owner] of after) if (before.get(unit) !== owner) moved += 1;
      before = after;
      for (const { recorder } of group)
        for (const name of recorder.owned)
          expect(topics.every((topic) => recorder.owned.includes(`${topic}/${numberOf(name)}`))).toBe(true);
    };
    for (const sizes of [
      [4, 4],
      [2, 3, 3],
      [2, 2, 2, 2],
    ]) {
      group.push(await members.keeper(groupId, topics));
      await world.until(() => settled(sizes));
      note();
    }
    // 8 → 4+4 moves 4, → 3+3+2 moves 2, → 2+2+2+2 moves 2: the least that evenness allows.
    expect(moved).toBe(8);
    for (const sizes of [
      [2, 3, 3],
      [4, 4],
    ]) {
      const leaver = group.pop();
      await leaver?.source.stop();
      await world.until(() => settled(sizes));
      note();
    }
    // What the two that left had owned: 2, then 2 or 3 of the three members' units.
    expect(moved).toBeLessThanOrEqual(13);
  });

  test('changes a group of round robin members one by one', async () => {
    const topics = [await world.createTopic(2), await world.createTopic(2)];
    const groupId = randomUUID();
    const { client } = connect(inject('kafka').brokers);
    const old = client.brisk.consumer({ groupId, sessionTimeout: 6000, heartbeatInterval: 500, maxWaitTimeInMs: 250 });
    await old.connect();
    await old.subscribe({ topics });
    await old.run({ autoCommit: false, eachBatch: async () => await Promise.resolve() });
    const rolling = await members.keeper(groupId, topics, { assignor: 'round-robin' });
    await world.until(() => rolling.recorder.owned.length === 2);
    await old.disconnect();
    await world.until(() => rolling.recorder.owned.length === 4);
    const last = await members.keeper(groupId, topics);
    await world.until(() => last.recorder.owned.length === 2 && rolling.recorder.owned.length === 2);
    expect(new Set(last.recorder.owned.map(numberOf)).size).toBe(1);
  });
});

/** The member of a group that begins until `restore`, to be thrown out by its own coordinator. */
function membershipsOf(wanted: string): { evict: () => Promise<void>; restore: () => void } {
  interface Group {
    readonly groupId: string;
    readonly memberId: string;
    readonly coordinator: { leaveGroup(of: { groupId: string; memberId: string }): Promise<unknown> };
    connect: (this: Group) => Promise<void>;
  }
  const file = 'kafkajs/src/consumer/consumerGroup';
  const { prototype } = createRequire(import.meta.url)(file) as { readonly prototype: Group };
  const { connect: original } = prototype;
  const groups: Group[] = [];
  prototype.connect = async function seen(this: Group): Promise<void> {
    // Members of other tests may be on their way out, or come back, at the same time.
    if (this.groupId === wanted) groups.push(this);
    await original.call(this);
  };
  return {
    evict: async () => {
      const group = groups.at(-1);
      if (group === undefined) throw new Error('no such member');
      const { groupId, memberId } = group;
      await group.coordinator.leaveGroup({ groupId, memberId });
    },
    restore: () => {
      prototype.connect = original;
    },
  };
}

function numberOf(name: string): string {
  return name.split('/')[1] ?? '';
}

/** Which member owns each partition number. */
function ownersOf(members: readonly (readonly string[])[]): Map<string, number> {
  return new Map(members.flatMap((owned, index) => owned.map((name) => [numberOf(name), index] as const)));
}
