import { describe, expect, test } from 'vitest';
import { DELIVERED } from '../../../src/kernel/outcome.ts';
import { type AssignedPartition } from '../../../src/engine/ports.ts';
import { committed, GROUP, makeWorld, started, tick, TOPIC, type World } from '../../support/engine-world.ts';
import { settled } from '../../support/manual-clock.ts';

const LETTER = { do: 'dead_letter', letter: { reason: 'status_400', stage: 'score' } } as const;
const KEPT: AssignedPartition = { topic: TOPIC, partition: 0, committed: null, metadata: '', low: 0n, high: 1n };

/** One step that runs, and a barrier that has been given up. */
async function joining(): Promise<World> {
  const world = makeWorld();
  world.broker.append(TOPIC, 0, { key: 'a', value: 'a1' });
  await started(world);
  const barrier = world.engine.barrier();
  await tick(world, 2000);
  await barrier;
  return world;
}

describe('engine in a rebalance', () => {
  test('passes the barrier only when what runs has ended, and has committed it then', async () => {
    const world = makeWorld();
    world.broker.append(TOPIC, 0, { key: 'a', value: 'a1' });
    world.broker.append(TOPIC, 0, { key: 'a', value: 'a2' });
    await started(world);
    let passed = false;
    const rebalance = world.broker.rebalance(GROUP).then(() => (passed = true));
    await settled();
    expect(passed).toBe(false);
    world.flow.started[0]?.end(DELIVERED);
    await rebalance;
    await settled();
    expect(world.flow.barriers.at(-1)).toBe('join');
    expect(committed(world)).toBe(1n);
    expect(world.flow.items).toEqual(['a1', 'a2']);
  });

  test('gives up waiting for what runs after a third of the session', async () => {
    const world = makeWorld();
    world.broker.append(TOPIC, 0, { key: 'a', value: 'a1' });
    await started(world);
    const rebalance = world.broker.rebalance(GROUP);
    await settled();
    await tick(world, 2000);
    await rebalance;
    expect(world.said).toContain('barrier_incomplete');
  });

  test('keeps a partition it still owns: nothing is repeated, nothing forgotten', async () => {
    const world = makeWorld();
    for (const key of ['a', 'b', 'c']) world.broker.append(TOPIC, 0, { key, value: key });
    world.flow.limit = 2;
    await started(world);
    world.flow.started[1]?.end({ do: 'wait', forMs: 5000, why: 'service_down' });
    world.flow.started[0]?.end(DELIVERED);
    await settled();
    world.flow.started[2]?.end(DELIVERED);
    await settled();
    await world.broker.rebalance(GROUP);
    await world.broker.step();
    expect(world.flow.items).toEqual(['a', 'b', 'c']);
    await tick(world, 5000);
    expect(world.flow.items).toEqual(['a', 'b', 'c', 'b']);
  });

  test('starts over from the committed offset where somebody else has committed meanwhile', async () => {
    const world = makeWorld();
    for (const key of ['a', 'b', 'c']) world.broker.append(TOPIC, 0, { key, value: key });
    await started(world);
    for (const { end } of world.flow.started) end({ do: 'wait', forMs: 60_000, why: 'service_down' });
    await settled();
    world.broker.commitAs(GROUP, { topic: TOPIC, partition: 0, offset: 2n, metadata: '' });
    await world.broker.rebalance(GROUP);
    world.broker.deliver();
    expect(world.flow.items).toEqual(['a', 'b', 'c', 'c']);
  });

  test('keeps its own progress when only the answer to its last commit was lost', async () => {
    const world = makeWorld();
    for (const key of ['a', 'b']) world.broker.append(TOPIC, 0, { key, value: key });
    await started(world);
    world.flow.started[0]?.end(DELIVERED);
    world.flow.started[1]?.end({ do: 'wait', forMs: 60_000, why: 'service_down' });
    await settled();
    world.source.failCommit('after');
    await tick(world, 250);
    expect(world.said).toContain('commit_failed');
    await world.broker.rebalance(GROUP);
    world.broker.deliver();
    expect(world.flow.items).toEqual(['a', 'b']);
  });

  test('throws away what ends after its partition was lost', async () => {
    const world = makeWorld();
    world.broker.append(TOPIC, 0, { key: 'a', value: 'a1' });
    await started(world);
    world.source.crash();
    world.flow.started[0]?.end(DELIVERED);
    await tick(world, 1000);
    expect(committed(world)).toBeNull();
    expect(world.engine.status().flows[0]).toMatchObject({ buffered: 0, bufferedBytes: 0, outcomes: {} });
  });

  test('starts a key again only after its attempt of the lost tenure has ended', async () => {
    const world = makeWorld();
    world.broker.append(TOPIC, 0, { key: 'a', value: 'a1' });
    await started(world);
    world.source.crash();
    const joined = world.broker.step();
    await settled();
    world.clock.advance(2000);
    await joined;
    await settled();
    expect(world.engine.status().phase).toBe('running');
    expect(world.flow.items).toEqual(['a1']);
    world.flow.started[0]?.end(DELIVERED);
    await settled();
    expect(world.flow.items).toEqual(['a1', 'a1']);
  });

  test('reads on where the partition that had filled the flow went to another member', async () => {
    const pressure = { partitionRecords: 1024, partitionSpan: 1e6, flowRecords: 4, flowBytes: 1e9 };
    const first = makeWorld(undefined, 1024, { pressure });
    first.flow.limit = 0;
    for (let at = 0; at < 4; at += 1) first.broker.append(TOPIC, 1, { key: `k${at}`, value: `v${at}` });
    await started(first);
    expect(first.source.flowing).toEqual([]);
    const second = makeWorld(first.broker, 1024, { pressure });
    await second.engine.start();
    await first.broker.step();
    await settled();
    expect(first.source.flowing).toEqual([{ topic: TOPIC, partition: 0 }]);
  });

  test('two members share the partitions, and each record is delivered once', async () => {
    const first = makeWorld();
    const second = makeWorld(first.broker);
    for (const world of [first, second]) world.flow.answer = () => DELIVERED;
    for (let at = 0; at < 20; at += 1) first.broker.append(TOPIC, at % 2, { key: `k${at}`, value: `v${at}` });
    await first.engine.start();
    await first.broker.step(3);
    await settled();
    await second.engine.start();
    await first.broker.step(3);
    await settled();
    for (let i = 0; i < 10; i += 1) {
      await first.broker.step(3);
      await settled();
    }
    const all = [...first.flow.items, ...second.flow.items];
    expect(all).toHaveLength(20);
    expect(new Set(all).size).toBe(20);
    expect(second.flow.items.length).toBeGreaterThan(0);
  });
});

describe('a step that did not end before a join', () => {
  test('and comes to a letter leaves it unwritten where its partition has gone: whoever has it now may deliver the record', async () => {
    const world = await joining();
    world.flow.started[0]?.end(LETTER);
    await settled();
    world.engine.assigned([]);
    await tick(world, 60_000);
    expect(world.letters).toEqual([]);
  });

  test('and comes to a letter has it written once it is known that the partition has stayed, without another step', async () => {
    const world = await joining();
    world.flow.started[0]?.end(LETTER);
    await settled();
    expect(world.letters).toEqual([]);
    world.engine.assigned([KEPT]);
    await settled();
    expect([world.letters, world.flow.items]).toEqual([[LETTER.letter], ['a1']]);
    expect(world.engine.status().flows[0]).toMatchObject({ buffered: 0, outcomes: { 'dead_letter:status_400': 1 } });
  });

  test('nor before the next assignment has its letter written, whatever else comes: a second barrier, or a stop', async () => {
    const world = await joining();
    const again = world.engine.barrier();
    world.flow.started[0]?.end(LETTER);
    await again;
    const stopped = world.engine.stop(1000);
    await tick(world, 1000);
    await stopped;
    expect(world.letters).toEqual([]);
  });

  test('holds nothing back any more where its barrier ends behind the assignment of another membership', async () => {
    const world = makeWorld();
    world.broker.append(TOPIC, 0, { key: 'a', value: 'a1' });
    await started(world);
    const late = world.engine.barrier();
    world.engine.lost('crashed');
    world.engine.assigned([KEPT]);
    await tick(world, 2000);
    await late;
    world.broker.append(TOPIC, 0, { key: 'b', value: 'b1' });
    world.engine.records(KEPT, 0n, 2n, world.broker.records(TOPIC, 0));
    await settled();
    world.flow.answer = () => LETTER;
    world.flow.started[0]?.end(DELIVERED);
    await settled();
    expect(world.letters).toHaveLength(2);
    expect(world.engine.status()).toMatchObject({ phase: 'running', flows: [{ buffered: 0 }] });
  });

  test('is told apart from one that ends within the barrier: its letter is written, and committed, before the join', async () => {
    const world = makeWorld();
    world.broker.append(TOPIC, 0, { key: 'a', value: 'a1' });
    await started(world);
    const barrier = world.engine.barrier();
    world.flow.started[0]?.end(LETTER);
    await barrier;
    expect([world.letters, committed(world)]).toEqual([[LETTER.letter], 1n]);
  });
});

describe('engine at its end', () => {
  test('sends what is open, waits for what runs, commits, leaves', async () => {
    const world = makeWorld();
    world.broker.append(TOPIC, 0, { key: 'a', value: 'a1' });
    await started(world);
    const stop = world.engine.stop(5000);
    await settled();
    expect(world.flow.barriers.at(-1)).toBe('stop');
    world.flow.started[0]?.end(DELIVERED);
    expect(await stop).toBe(0);
    expect(committed(world)).toBe(1n);
    expect(world.source.phase).toBe('idle');
    expect(world.clock.pending).toBe(0);
  });

  test('commits what is still owned, and not what a rebalance has given away meanwhile', async () => {
    const world = makeWorld();
    for (const partition of [0, 1]) world.broker.append(TOPIC, partition, { key: 'a', value: String(partition) });
    await started(world);
    const other = makeWorld(world.broker);
    await other.engine.start();
    const rebalance = world.broker.rebalance(GROUP);
    const stop = world.engine.stop(20_000);
    // The barrier does not wait that long.
    await tick(world, 2000);
    await rebalance;
    const [gone] = other.engine.status().partitions;
    for (const { end } of world.flow.started) end(DELIVERED);
    expect(await stop).toBe(0);
    const kept = gone?.partition === 0 ? 1 : 0;
    expect([committed(world, kept), committed(world, 1 - kept)]).toEqual([1n, null]);
    expect(world.said).not.toContain('commit_failed');
  });

  test('in the middle of a join waits for what it still owns, and commits that', async () => {
    const world = makeWorld();
    for (const partition of [0, 1]) world.broker.append(TOPIC, partition, { key: 'a', value: String(partition) });
    await started(world);
    const other = makeWorld(world.broker);
    await other.engine.start();
    const found = Promise.withResolvers<void>();
    for (const { source } of [world, other])
      source.readBack = async () => {
        await found.promise;
      };
    const rebalance = world.broker.rebalance(GROUP);
    const stop = world.engine.stop(20_000);
    await tick(world, 2000);
    for (const { end } of world.flow.started) end(DELIVERED);
    await settled();
    found.resolve();
    await rebalance;
    expect(await stop).toBe(0);
    expect([committed(world), committed(world, 1)].filter((offset) => offset === 1n)).toHaveLength(1);
    expect(world.clock.pending).toBe(0);
  });

  test('in the middle of a join that never ends leaves in time', async () => {
    const world = makeWorld();
    world.broker.append(TOPIC, 0, { key: 'a', value: 'a1' });
    await started(world);
    world.source.readBack = async () => {
      await new Promise<never>(() => undefined);
    };
    void world.broker.rebalance(GROUP);
    const stop = world.engine.stop(5000);
    await tick(world, 2000);
    world.flow.started[0]?.end(DELIVERED);
    await settled();
    await tick(world, 3000);
    expect(await stop).toBe(0);
    expect(committed(world)).toBeNull();
  });

  test('leaves in time although something hangs, says how much, and commits nothing of it', async () => {
    const world = makeWorld();
    world.broker.append(TOPIC, 0, { key: 'a', value: 'a1' });
    await started(world);
    const stop = world.engine.stop(5000);
    await tick(world, 5000);
    expect(await stop).toBe(1);
    expect(committed(world)).toBeNull();
    expect(world.source.phase).toBe('idle');
  });
});
