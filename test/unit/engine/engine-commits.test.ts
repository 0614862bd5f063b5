import { describe, expect, test } from 'vitest';
import { type EngineOptions } from '../../../src/engine/engine-options.ts';
import { decodeMap } from '../../../src/engine/offset-map.ts';
import { Fault } from '../../../src/kernel/fault.ts';
import { DELIVERED } from '../../../src/kernel/outcome.ts';
import { committed, GROUP, makeWorld, started, tick, TOPIC, type World } from '../../support/engine-world.ts';
import { type InMemoryBroker } from '../../support/in-memory-broker.ts';
import { settled } from '../../support/manual-clock.ts';

/** A key that hangs, and others behind it that are done and committed. */
async function stuck(others: number, broker?: InMemoryBroker): Promise<World> {
  const world = makeWorld(broker, 10_000);
  world.flow.limit = 10_000;
  world.broker.append(TOPIC, 0, { key: 'stuck', value: 'stuck', timestampMs: 1_700_000_000_000 });
  for (let at = 0; at < others; at += 1) world.broker.append(TOPIC, 0, { key: `k${at}`, value: `v${at}` });
  world.flow.answer = ({ item }) =>
    item === 'stuck' ? { do: 'wait', forMs: 600_000, why: 'service_down' } : DELIVERED;
  await world.engine.start();
  await world.broker.step(others + 1);
  await settled();
  await tick(world, 250);
  return world;
}

/** kill -9, and another process in its place. */
async function restarted(world: World, over: Partial<EngineOptions> = {}): Promise<World> {
  world.source.vanish();
  const next = makeWorld(world.broker, 10_000, over);
  next.flow.limit = 10_000;
  next.flow.answer = () => DELIVERED;
  await next.engine.start();
  await next.broker.step(10_000);
  await settled();
  return next;
}

describe('what is committed', () => {
  test('says what is finished above the committed offset, so that a restart repeats none of it', async () => {
    const world = await stuck(3000);
    expect(committed(world)).toBe(0n);
    const next = await restarted(world);
    expect(next.flow.items).toEqual(['stuck']);
    await tick(next, 250);
    expect(committed(next)).toBe(3001n);
  });

  test('says it again after a restart for what was not read again yet', async () => {
    const world = await stuck(50);
    world.source.vanish();
    const next = makeWorld(world.broker);
    await next.engine.start();
    await next.broker.step(1);
    await settled();
    next.flow.started[0]?.end({ do: 'wait', forMs: 60_000, why: 'service_down' });
    await next.broker.step(1);
    await tick(next, 250);
    const last = await restarted(next);
    expect(last.flow.items).toEqual(['stuck']);
  });

  test('is not believed in another cluster: what it covers is done again, and said', async () => {
    const world = await stuck(3);
    const next = await restarted(world, { clusterHash: 'BBBBBB' });
    expect(next.flow.items).toEqual(['stuck', 'v0', 'v1', 'v2']);
    expect(next.said).toContain('offset_map_ignored');
  });

  test('is not believed when another record lies at the committed offset: the topic was made anew', async () => {
    const world = await stuck(3);
    world.broker.createTopic(TOPIC, 2);
    for (const value of ['a', 'b', 'c', 'd']) world.broker.append(TOPIC, 0, { key: value, value });
    const next = await restarted(world);
    expect(next.flow.items).toEqual(['a', 'b', 'c', 'd']);
  });

  test('of other software is passed over', async () => {
    const world = makeWorld();
    for (const value of ['a', 'b']) world.broker.append(TOPIC, 0, { key: value, value });
    world.broker.commitAs(GROUP, { topic: TOPIC, partition: 0, offset: 1n, metadata: 'tool/7' });
    await started(world);
    expect(world.flow.items).toEqual(['b']);
    expect(world.said).toContain('offset_map_ignored');
  });

  test('is made smaller for a broker that takes less', async () => {
    const world = await stuck(0);
    const lengths: number[] = [];
    const commit = world.source.commit.bind(world.source);
    world.source.commit = async (commits) => {
      const [first] = commits;
      lengths.push(first?.metadata.length ?? 0);
      if ((first?.metadata.length ?? 0) > 100) throw new Fault('METADATA_TOO_LARGE', 'too large');
      await commit(commits);
    };
    world.flow.answer = ({ item }) =>
      Number(item) % 2 === 0 ? DELIVERED : { do: 'wait', forMs: 60_000, why: 'kafka' };
    for (let at = 0; at < 200; at += 1) world.broker.append(TOPIC, 0, { key: `n${at}`, value: String(at) });
    await world.broker.step(1000);
    for (let at = 0; at < 10; at += 1) await tick(world, 250);
    expect(lengths.at(-1)).toBeLessThanOrEqual(100);
    expect(decodeMap(world.source.commits.at(-1)?.metadata ?? '', { clusterHash: 'AAAAAA', offset: 0n }).do).toBe(
      'map',
    );
  });
});

/** A broker that takes no metadata beside an offset: `offset.metadata.max.bytes` of 0. */
function takingNoMap({ source }: World): void {
  const commit = source.commit.bind(source);
  source.commit = async (commits) => {
    if (commits.some(({ metadata }) => metadata !== '')) throw new Fault('METADATA_TOO_LARGE', 'too large');
    await commit(commits);
  };
}

/** A world at such a broker, in which so many have been read behind the record that hangs. */
async function withoutMap(count: number): Promise<World> {
  const world = await stuck(0);
  takingNoMap(world);
  for (let at = 0; at < count; at += 1) world.broker.append(TOPIC, 0, { key: `n${at}`, value: String(at) });
  await world.broker.step(count);
  for (let ms = 0; ms < 15_000; ms += 250) await tick(world, 250);
  return world;
}

const pauses = (world: World): unknown => world.engine.status().partitions[0]?.pauses;

describe('a broker that takes no map', () => {
  test('keeps nothing from being read behind a record that waits', async () => {
    const world = await withoutMap(1000);
    expect([world.flow.items.length, committed(world), pauses(world)]).toEqual([1001, 0n, []]);
    expect(world.engine.status().flows[0]).toMatchObject({ unsaved: 1000, waits: [{ cause: 'service_down' }] });
  });

  test('bounds what a crash would repeat: reading pauses, says why, and goes on when the record has ended', async () => {
    const world = await withoutMap(1500);
    expect(pauses(world)).toEqual(['map_full']);
    expect(world.engine.status().flows[0]?.waits.map(({ cause }) => cause)).toContain('map_full');
    world.flow.answer = () => DELIVERED;
    await tick(world, 600_000);
    await tick(world, 250);
    expect([committed(world), pauses(world)]).toEqual([1501n, []]);
    expect(world.engine.status().flows[0]?.waits).toEqual([]);
  });
});

test('reading that pauses because the map is full says so', async () => {
  const world = await stuck(0);
  world.flow.answer = ({ item }) => (Number(item) % 2 === 0 ? DELIVERED : { do: 'wait', forMs: 1e6, why: 'kafka' });
  for (let at = 0; at < 4000; at += 1) world.broker.append(TOPIC, 0, { key: `n${at}`, value: String(at) });
  await world.broker.step(4000);
  await settled();
  await tick(world, 250);
  expect(world.engine.status().partitions[0]?.pauses).toEqual(['map_full']);
  expect(world.engine.status().flows[0]?.waits.map(({ cause }) => cause)).toContain('map_full');
});

describe('while commits fail', () => {
  test('what starts as a stall ends is looked at in its time, although nothing else happens', async () => {
    const world = makeWorld(undefined, 10_000);
    const { flow, broker } = world;
    flow.limit = 2000;
    for (let at = 0; at < 2000; at += 1) broker.append(TOPIC, 0, { key: `k${at}`, value: `v${at}` });
    broker.append(TOPIC, 0, { key: 'of a batch', value: 'of a batch' });
    let isDown = true;
    const commit = world.source.commit.bind(world.source);
    world.source.commit = async (commits) => {
      if (isDown) throw new Fault('KAFKA_FAILED', 'coordinator away');
      await commit(commits);
    };
    await world.engine.start();
    await broker.step(10_000);
    await settled();
    flow.limit = 0;
    for (const { end } of flow.started) end(DELIVERED);
    await tick(world, 250);
    expect(world.said).toContain('hold_started');
    flow.limit = 1;
    // As the first of a batch, which is to be closed by its age.
    flow.onRun = () => {
      flow.dueMs = world.clock.monotonicMs() + 50;
    };
    isDown = false;
    await tick(world, 250);
    expect(flow.items.at(-1)).toBe('of a batch');
    await tick(world, 50);
    expect(flow.ticks).toHaveLength(1);
  });

  test('nothing new starts once 2,000 records are finished and not committed, and it is said until one succeeds', async () => {
    const world = makeWorld(undefined, 10_000);
    world.flow.limit = 100;
    world.flow.answer = () => DELIVERED;
    for (let at = 0; at < 4000; at += 1) world.broker.append(TOPIC, 0, { key: `k${at}`, value: `v${at}` });
    let isDown = true;
    const commit = world.source.commit.bind(world.source);
    world.source.commit = async (commits) => {
      if (isDown) throw new Fault('KAFKA_FAILED', 'coordinator away');
      await commit(commits);
    };
    await world.engine.start();
    await world.broker.step(10_000);
    for (let at = 0; at < 8; at += 1) await tick(world, 250);
    expect(world.flow.items.length).toBeGreaterThanOrEqual(2000);
    expect(world.flow.items.length).toBeLessThanOrEqual(2000 + world.flow.limit);
    expect(world.errors).toEqual(['Fault KAFKA_FAILED']);
    isDown = false;
    for (let at = 0; at < 4; at += 1) await tick(world, 250);
    expect(world.said).toContain('hold_ended');
    expect(committed(world)).toBe(4000n);
  });

  test('records start again when what could not be committed went with its partitions', async () => {
    const world = makeWorld();
    world.broker.append(TOPIC, 0, { key: 'a', value: 'a' });
    await started(world);
    // Until the rebalance no commit gets through, the barrier's own included.
    for (let commits = 0; commits < 26; commits += 1) world.source.failCommit();
    world.flow.started[0]?.end(DELIVERED);
    await settled();
    await tick(world, 250);
    await tick(world, 6000);
    expect(world.said).toContain('hold_started');
    // Another member has done the work and committed it meanwhile: what was unsaved here is nobody's any more.
    world.broker.commitAs(GROUP, { topic: TOPIC, partition: 0, offset: 1n, metadata: '' });
    await world.broker.rebalance(GROUP);
    world.broker.append(TOPIC, 0, { key: 'b', value: 'b' });
    await world.broker.step();
    await tick(world, 1000);
    expect(world.flow.items).toEqual(['a', 'b']);
  });

  test('work goes on for five seconds when little is finished, then nothing new starts', async () => {
    const world = makeWorld();
    world.flow.answer = () => DELIVERED;
    world.source.commit = async () => await Promise.reject(new Fault('KAFKA_FAILED', 'coordinator away'));
    await started(world);
    for (let at = 0; at < 40; at += 1) {
      world.broker.append(TOPIC, 0, { key: `k${at}`, value: `v${at}` });
      world.broker.deliver();
      await settled();
      await tick(world, 250);
    }
    expect(world.flow.items.length).toBeGreaterThan(15);
    expect(world.flow.items.length).toBeLessThan(25);
  });
});

/** A world whose group has committed an offset that has expired. */
async function gone(onGap: 'earliest' | 'stop'): Promise<World> {
  const world = makeWorld(undefined, 1024, { onGap });
  for (const value of ['a', 'b', 'c']) world.broker.append(TOPIC, 0, { key: value, value });
  world.broker.append(TOPIC, 1, { key: 'd', value: 'd' });
  world.broker.commitAs(GROUP, { topic: TOPIC, partition: 0, offset: 0n, metadata: '' });
  world.broker.expire(TOPIC, 0, 1n);
  await started(world);
  return world;
}

describe('where the committed offset is not in the log any more', () => {
  test('reading goes on from the oldest record, and what is missing is said', async () => {
    const world = await gone('earliest');
    expect(world.said).toContain('offset_gap');
    expect(world.flow.items.toSorted()).toEqual(['b', 'c', 'd']);
  });

  test('the partition holds if it was told to, by name, and the others go on', async () => {
    const world = await gone('stop');
    expect(world.flow.items).toEqual(['d']);
    expect(world.engine.status().flows[0]?.waits).toMatchObject([{ cause: 'offset_gap' }]);
    await tick(world, 3000);
    expect(world.said).toContain('hold_started');
    world.source.crash();
    expect(world.engine.status().flows[0]?.waits).toEqual([]);
  });
});
