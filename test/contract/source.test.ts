import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, inject, test } from 'vitest';
import { type Source, type TopicPartition } from '../../src/engine/ports.ts';
import { isContiguous } from './members.ts';
import { inMemoryWorld, kafkaWorld, Recorder, type World } from './worlds.ts';

const worlds: readonly (readonly [name: string, make: () => Promise<World>])[] = [
  ['in memory', inMemoryWorld],
  ['kafkajs', async () => await kafkaWorld(inject('kafka').brokers)],
];

const numbered = (count: number, from = 0): string[] => Array.from({ length: count }, (_, index) => `${from + index}`);
/** The partition numbers in `topic/partition` names, each once. */
const numbers = (owned: readonly string[]): string[] => [...new Set(owned.map((of) => of.split('/')[1] ?? ''))];

describe.each(worlds)('a source %s', (_name, make) => {
  let world: World;
  let started: Source[] = [];

  beforeAll(async () => {
    world = await make();
  });
  afterEach(async () => {
    await Promise.all(
      started.map(async (source) => {
        await source.stop();
      }),
    );
    started = [];
  });
  afterAll(async () => {
    await world.close();
  });

  const member = async (groupId: string, topics: readonly string[], recorder = new Recorder()) => {
    const source = world.source(groupId, topics);
    started.push(source);
    await source.start(recorder);
    return { source, recorder };
  };
  /** Reads on from what is committed, as an engine would. */
  const reader = async (groupId: string, topics: readonly string[]) => {
    const recorder = new Recorder();
    const source = world.source(groupId, topics);
    started.push(source);
    recorder.onAssigned = (partitions) => {
      for (const at of partitions) source.seek(at, at.committed ?? at.low);
      source.resume(partitions);
    };
    await source.start(recorder);
    return { source, recorder };
  };

  test('refuses to commit before it is a member', async () => {
    const topic = await world.createTopic(1);
    const { source } = await member(randomUUID(), [topic]);
    await expect(source.commit([{ topic, partition: 0, offset: 1n, metadata: '' }])).rejects.toThrow(
      /member|owned|rebalancing/,
    );
  });

  test('says what it owns with its ends, and reads nothing before it is told where', async () => {
    const topic = await world.createTopic(2);
    await world.append(topic, 1, numbered(3));
    const { source, recorder } = await member(randomUUID(), [topic]);
    await world.until(() => recorder.assignments.length === 1);
    expect(recorder.assignments[0]?.toSorted((a, b) => a.partition - b.partition)).toEqual([
      { topic, partition: 0, committed: null, metadata: '', low: 0n, high: 0n },
      { topic, partition: 1, committed: null, metadata: '', low: 0n, high: 3n },
    ]);
    source.resume([{ topic, partition: 1 }]);
    await world.linger();
    expect(recorder.spans).toEqual([]);
    expect(recorder.log.slice(0, 3)).toEqual(['barrier begins', 'barrier ends', 'assigned']);
  });

  test('reads records in order from the offset asked for, without a gap between its batches', async () => {
    const topic = await world.createTopic(1);
    const at: TopicPartition = { topic, partition: 0 };
    await world.append(topic, 0, numbered(20));
    const { source, recorder } = await member(randomUUID(), [topic]);
    await world.until(() => recorder.assignments.length === 1);
    source.seek(at, 5n);
    source.resume([at]);
    await world.until(() => recorder.values.length === 15);
    await world.append(topic, 0, numbered(10, 20));
    await world.until(() => recorder.values.length === 25);
    expect(recorder.values).toEqual(numbered(25, 5));
    expect(recorder.received.map(({ offset }) => Number(offset))).toEqual(numbered(25, 5).map(Number));
    expect(recorder.spans[0]?.from).toBe(5n);
    expect(recorder.spans.slice(1).map(({ from }) => from)).toEqual(
      recorder.spans.slice(0, -1).map(({ next }) => next),
    );
  });

  test('hands over nothing while a partition is paused, and goes on where it was', async () => {
    const topic = await world.createTopic(1);
    const at: TopicPartition = { topic, partition: 0 };
    const { source, recorder } = await reader(randomUUID(), [topic]);
    await world.until(() => recorder.assignments.length === 1);
    await world.append(topic, 0, numbered(3));
    await world.until(() => recorder.values.length === 3);
    source.pause([at]);
    await world.append(topic, 0, numbered(3, 3));
    await world.linger();
    expect(recorder.values).toEqual(numbered(3));
    source.resume([at]);
    await world.until(() => recorder.values.length === 6);
    expect(recorder.values).toEqual(numbered(6));
  });

  test('reads again from an earlier offset after a seek', async () => {
    const topic = await world.createTopic(1);
    await world.append(topic, 0, numbered(4));
    const { source, recorder } = await reader(randomUUID(), [topic]);
    await world.until(() => recorder.values.length === 4);
    source.seek({ topic, partition: 0 }, 1n);
    await world.until(() => recorder.values.length === 7);
    expect(recorder.values).toEqual([...numbered(4), ...numbered(3, 1)]);
  });

  test('tells the next member what was committed, metadata included', async () => {
    const topic = await world.createTopic(1);
    const at: TopicPartition = { topic, partition: 0 };
    const groupId = randomUUID();
    await world.append(topic, 0, numbered(8));
    const first = await reader(groupId, [topic]);
    await world.until(() => first.recorder.values.length === 8);
    await first.source.commit([{ ...at, offset: 6n, metadata: 'map' }]);
    expect(await world.committed(groupId, at)).toEqual({ offset: 6n, metadata: 'map' });
    await first.source.stop();
    const second = await reader(groupId, [topic]);
    await world.until(() => second.recorder.values.length === 2);
    expect(second.recorder.assignments[0]).toEqual([{ ...at, committed: 6n, metadata: 'map', low: 0n, high: 8n }]);
    expect(second.recorder.values).toEqual(numbered(2, 6));
  });

  test('commits before anything has been read', async () => {
    const topic = await world.createTopic(1);
    const at: TopicPartition = { topic, partition: 0 };
    const groupId = randomUUID();
    await world.append(topic, 0, numbered(3));
    const { source, recorder } = await member(groupId, [topic]);
    await world.until(() => recorder.assignments.length === 1);
    await source.commit([{ ...at, offset: 2n, metadata: 'map' }]);
    expect(await world.committed(groupId, at)).toEqual({ offset: 2n, metadata: 'map' });
  });

  test('passes the barrier before a second member joins, then they own different partitions of both topics', async () => {
    const groupId = randomUUID();
    const topics = [await world.createTopic(4), await world.createTopic(4)];
    const first = await reader(groupId, topics);
    await world.until(() => first.recorder.owned.length === 8);
    for (const topic of topics) for (const partition of [0, 1, 2, 3]) await world.append(topic, partition, ['a']);
    await world.until(() => first.recorder.values.length === 8);
    const before = first.recorder.log.length;
    const commitsInBarrier = topics.flatMap((topic) =>
      [0, 1, 2, 3].map((partition) => ({ topic, partition, offset: 1n, metadata: '' })),
    );
    first.recorder.onBarrier = async () => {
      await first.source.commit(commitsInBarrier);
    };
    const second = await reader(groupId, topics);
    await world.until(() => second.recorder.owned.length === 4 && first.recorder.owned.length === 4);
    const said = first.recorder.log.slice(before).filter((event) => event !== 'position' && event !== 'records');
    expect(said.slice(0, 3)).toEqual(['barrier begins', 'barrier ends', 'assigned']);
    expect([...first.recorder.owned, ...second.recorder.owned].sort()).toEqual(
      topics.flatMap((topic) => [0, 1, 2, 3].map((partition) => `${topic}/${partition}`)).sort(),
    );
    expect(numbers(first.recorder.owned)).toHaveLength(2);
    expect(second.recorder.assignments.at(-1)?.map(({ committed }) => committed)).toEqual([1n, 1n, 1n, 1n]);
    await world.linger();
    expect(second.recorder.values).toEqual([]);
  });

  test('never commits for a partition that has gone to another member', async () => {
    const groupId = randomUUID();
    const topic = await world.createTopic(2);
    await world.append(topic, 0, numbered(5));
    await world.append(topic, 1, numbered(5));
    const first = await reader(groupId, [topic]);
    await world.until(() => first.recorder.values.length === 10);
    const second = await reader(groupId, [topic]);
    await world.until(() => second.recorder.owned.length === 1 && first.recorder.owned.length === 1);
    const [gone] = second.recorder.assignments.at(-1) ?? [];
    const at: TopicPartition = { topic, partition: gone?.partition ?? -1 };
    await expect(first.source.commit([{ ...at, offset: 4n, metadata: '' }])).rejects.toThrow(
      /member|owned|rebalancing/,
    );
    expect((await world.committed(groupId, at)).offset).toBeNull();
  });

  test('says that everything is lost when it breaks, comes back by itself and reads on from what is committed', async () => {
    const groupId = randomUUID();
    const topic = await world.createTopic(1);
    const at: TopicPartition = { topic, partition: 0 };
    await world.append(topic, 0, numbered(3));
    const { source, recorder } = await reader(groupId, [topic]);
    await world.until(() => recorder.values.length === 3);
    await source.commit([{ ...at, offset: 3n, metadata: '' }]);
    await world.crash(source, recorder, at);
    await world.until(() => recorder.losses === 1);
    await expect(source.commit([{ ...at, offset: 1n, metadata: '' }])).rejects.toThrow(/member|owned|rebalancing/);
    await world.until(() => recorder.assignments.length === 2);
    await world.append(topic, 0, ['after']);
    await world.until(() => recorder.values.includes('after'));
    expect(recorder.assignments[1]?.[0]?.committed).toBe(3n);
    expect(recorder.losses).toBe(1);
  });

  test('hands over all that it has read before it says that the log does not hold what comes next, and disturbs nothing else', async () => {
    const topic = await world.createTopic(2);
    const [at, other]: TopicPartition[] = [0, 1].map((partition) => ({ topic, partition }));
    if (at === undefined || other === undefined) throw new Error('two partitions');
    const groupId = randomUUID();
    await world.append(topic, 0, numbered(1000));
    const { source, recorder } = await reader(groupId, [topic]);
    recorder.onRecords = ({ partition }) => {
      if (partition === 0) source.pause([at]);
    };
    await world.until(() => recorder.values.length > 0);
    await source.commit([{ ...at, offset: 1n, metadata: 'map' }]);
    await world.append(topic, 0, numbered(10, 1000));
    await world.expire(topic, 0, 1005n);
    recorder.onRecords = () => undefined;
    source.resume([at]);
    await world.until(() => recorder.ranges.length === 1);
    const read = recorder.received.map(({ offset }) => Number(offset));
    expect(recorder.ranges).toEqual([{ ...at, low: 1005n, high: 1010n, after: read.length }]);
    expect(read).toEqual(numbered(read.length).map(Number));
    // Nothing more of it comes before a seek, and all of the other.
    await world.append(topic, 1, numbered(3));
    await world.until(() => recorder.values.length === read.length + 3);
    await world.linger();
    expect([recorder.values.length, recorder.ranges.length]).toEqual([read.length + 3, 1]);
    source.seek(at, 1005n);
    await world.until(() => recorder.values.length === read.length + 8);
    expect(recorder.values.slice(-5)).toEqual(numbered(5, 1005));
    expect([recorder.losses, recorder.barriers, recorder.assignments.length]).toEqual([0, 1, 1]);
    expect(await world.committed(groupId, at)).toEqual({ offset: 1n, metadata: 'map' });
  });

  test('says what the log holds where reading is to begin below or beyond it, each time anew', async () => {
    const topic = await world.createTopic(1);
    const at: TopicPartition = { topic, partition: 0 };
    await world.append(topic, 0, numbered(10));
    await world.expire(topic, 0, 5n);
    const { source, recorder } = await member(randomUUID(), [topic]);
    await world.until(() => recorder.assignments.length === 1);
    source.seek(at, 2n);
    source.resume([at]);
    await world.until(() => recorder.ranges.length === 1);
    source.seek(at, 50n);
    await world.until(() => recorder.ranges.length === 2);
    const range = { ...at, low: 5n, high: 10n, after: 0 };
    expect(recorder.ranges).toEqual([range, range]);
    source.seek(at, 5n);
    await world.until(() => recorder.values.length === 5);
    expect(recorder.values).toEqual(numbered(5, 5));
    expect([recorder.losses, recorder.assignments.length]).toEqual([0, 1]);
  });

  test('leaves the group at once when it stops', async () => {
    const groupId = randomUUID();
    const topic = await world.createTopic(2);
    const first = await reader(groupId, [topic]);
    await world.until(() => first.recorder.owned.length === 2);
    const second = await reader(groupId, [topic]);
    await world.until(() => second.recorder.owned.length === 1);
    const beforeMs = performance.now();
    await first.source.stop();
    await world.until(() => second.recorder.owned.length === 2);
    // Well below the session: nobody waited for a ghost.
    expect(performance.now() - beforeMs).toBeLessThan(4000);
  });
});

describe('a source kafkajs', () => {
  let world: World;
  beforeAll(async () => {
    world = await kafkaWorld(inject('kafka').brokers);
  });
  afterAll(async () => {
    await world.close();
  });

  test('holds for a topic that is missing and stops without delay', async () => {
    const recorder = new Recorder();
    const source = world.source(randomUUID(), [`missing-${randomUUID()}`]);
    await source.start(recorder);
    await world.until(() => world.said.includes('hold_started'));
    const beforeMs = performance.now();
    await source.stop();
    expect(performance.now() - beforeMs).toBeLessThan(2000);
    expect(recorder.log).toEqual([]);
  });

  test('copies keys, values and headers out of the fetch', async () => {
    const topic = await world.createTopic(1);
    const recorder = new Recorder();
    const source = world.source(randomUUID(), [topic]);
    recorder.onAssigned = (partitions) => {
      for (const at of partitions) source.seek(at, 0n);
      source.resume(partitions);
    };
    await source.start(recorder);
    await world.append(topic, 0, ['x'.repeat(200_000), 'y']);
    await world.until(() => recorder.values.length === 2);
    await source.stop();
    expect(recorder.received[1]?.value?.buffer.byteLength).toBeLessThan(100_000);
    expect(recorder.received[1]?.headers).toEqual({ h: Buffer.from('v') });
    expect(String(recorder.received[1]?.key)).toBe('k');
  });

  test('hands a big fetch over in parts, and what is left of it after a pause without another fetch', async () => {
    const topic = await world.createTopic(1);
    const at: TopicPartition = { topic, partition: 0 };
    await world.append(topic, 0, numbered(1000));
    const recorder = new Recorder();
    const source = world.source(randomUUID(), [topic]);
    recorder.onAssigned = (partitions) => {
      for (const assigned of partitions) source.seek(assigned, 0n);
      source.resume(partitions);
    };
    recorder.onRecords = () => {
      source.pause([at]);
    };
    await source.start(recorder);
    await world.until(() => recorder.values.length > 0);
    // Nothing of it can be fetched any more.
    await world.expire(topic, 0, 1000n);
    await world.linger();
    expect(recorder.values).toEqual(numbered(128));
    recorder.onRecords = () => undefined;
    source.resume([at]);
    await world.append(topic, 0, numbered(10, 1000));
    await world.until(() => recorder.values.length >= 1010);
    await source.stop();
    expect(recorder.values).toEqual(numbered(1010));
    expect(isContiguous(recorder)).toBe(true);
    expect(recorder.losses).toBe(0);
  });

  test('hands over what it has read of a partition that stays with it through a rebalance, also where its log has lost that', async () => {
    const topic = await world.createTopic(2);
    const groupId = randomUUID();
    const at: TopicPartition = { topic, partition: 0 };
    await world.append(topic, 0, numbered(1000));
    const recorder = new Recorder();
    const source = world.source(groupId, [topic]);
    recorder.onAssigned = (partitions) => {
      for (const { topic: of, partition, low } of partitions)
        source.seek({ topic: of, partition }, partition === 0 ? BigInt(recorder.values.length) : low);
      if (recorder.assignments.length === 1) source.resume(partitions);
    };
    recorder.onRecords = () => {
      source.pause([at]);
    };
    await source.start(recorder);
    await world.until(() => recorder.values.length > 0);
    await world.linger();
    await world.append(topic, 0, numbered(5, 1000));
    await world.expire(topic, 0, 1002n);
    const other = world.source(groupId, [topic]);
    const others = new Recorder();
    await other.start(others);
    await world.until(() => recorder.owned.length === 1 && others.owned.length === 1);
    expect(recorder.owned).toEqual([`${topic}/0`]);
    recorder.onRecords = () => undefined;
    source.resume([at]);
    await world.until(() => recorder.ranges.length === 1);
    await Promise.all([source.stop(), other.stop()]);
    expect(recorder.values).toEqual(numbered(1000));
    expect(recorder.ranges).toMatchObject([{ low: 1002n, high: 1005n, after: 1000 }]);
  });
});
