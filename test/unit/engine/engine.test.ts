import { beforeEach, describe, expect, test } from 'vitest';
import { type Schemas } from '../../../src/engine/ports.ts';
import { DELIVERED } from '../../../src/kernel/outcome.ts';
import { committed, makeWorld, started, tick, TOPIC, type World } from '../../support/engine-world.ts';
import { InMemoryBroker } from '../../support/in-memory-broker.ts';
import { settled } from '../../support/manual-clock.ts';

describe('engine', () => {
  let world: World;
  beforeEach(() => {
    world = makeWorld();
  });

  test('starts one record of a key at a time, other keys meanwhile', async () => {
    for (const [key, value] of [
      ['a', 'a1'],
      ['a', 'a2'],
      ['b', 'b1'],
    ] as const)
      world.broker.append(TOPIC, 0, { key, value });
    await started(world);
    expect(world.flow.items).toEqual(['a1', 'b1']);
    world.flow.started[0]?.end(DELIVERED);
    await settled();
    expect(world.flow.items).toEqual(['a1', 'b1', 'a2']);
  });

  test('commits only what lies below every unsettled record', async () => {
    for (const key of ['a', 'b', 'c']) world.broker.append(TOPIC, 0, { key, value: key });
    await started(world);
    world.flow.started[1]?.end(DELIVERED);
    world.flow.started[2]?.end(DELIVERED);
    await settled();
    await tick(world, 250);
    expect(committed(world)).toBe(0n);
    world.flow.started[0]?.end(DELIVERED);
    await settled();
    await tick(world, 250);
    expect(committed(world)).toBe(3n);
  });

  test('commits nothing for a partition of which nothing was read', async () => {
    await started(world);
    await tick(world, 1000);
    expect(world.source.commits).toEqual([]);
  });

  test('starts no more than the flow has room for, and the rest when room comes back', async () => {
    world.flow.limit = 2;
    for (const key of ['a', 'b', 'c', 'd']) world.broker.append(TOPIC, 0, { key, value: key });
    await started(world);
    expect(world.flow.items).toEqual(['a', 'b']);
    world.flow.started[0]?.end(DELIVERED);
    await settled();
    expect(world.flow.items).toEqual(['a', 'b', 'c']);
  });

  test('asks records that wait for a cause again sooner, all within a span', async () => {
    for (const key of ['a', 'b', 'c', 'd']) world.broker.append(TOPIC, 0, { key, value: key });
    await started(world);
    const waits = [20_000, 30_000, 30_000, 500];
    for (const [at, forMs] of waits.entries())
      world.flow.started[at]?.end({ do: 'wait', forMs, why: at === 2 ? 'registry' : 'service_down' });
    await settled();
    world.flow.signals?.hurry(['service_down'], 1_000);
    await tick(world, 1_000);
    expect(world.flow.items.slice(4).toSorted()).toEqual(['a', 'b', 'd']);
    await tick(world, 30_000);
    expect(world.flow.items.slice(7)).toEqual(['c']);
  });

  test('gives a lane that became free its turn before records that came later', async () => {
    world.flow.limit = 1;
    for (const value of ['a1', 'b1', 'a2']) world.broker.append(TOPIC, 0, { key: value.slice(0, 1), value });
    world.broker.append(TOPIC, 0, { key: 'c', value: 'c1' });
    await started(world);
    for (const at of [0, 1, 2]) {
      world.flow.started[at]?.end(DELIVERED);
      await settled();
    }
    expect(world.flow.items).toEqual(['a1', 'a2', 'b1', 'c1']);
  });

  test('takes partitions in turn', async () => {
    world.flow.limit = 4;
    for (const partition of [0, 1])
      for (const at of [1, 2, 3])
        world.broker.append(TOPIC, partition, { key: `${partition}${at}`, value: `${partition}-${at}` });
    await started(world);
    expect([...world.flow.items].sort()).toEqual(['0-1', '0-2', '0-3', '1-1']);
    world.flow.started[0]?.end(DELIVERED);
    await settled();
    expect(world.flow.items.at(-1)).toBe('1-2');
  });

  test('goes on with a key at once, without a turn of all partitions, while its partition has no more than its share', async () => {
    const broker = new InMemoryBroker();
    broker.createTopic(TOPIC, 4);
    world = makeWorld(broker);
    world.flow.limit = 4;
    for (const at of [1, 2, 3]) world.broker.append(TOPIC, 0, { key: 'hot', value: `hot-${at}` });
    for (const partition of [1, 2, 3])
      for (const at of [1, 2, 3])
        world.broker.append(TOPIC, partition, { key: `${partition}${at}`, value: `${partition}-${at}` });
    await started(world);
    for (const at of [1, 2]) {
      world.flow.started.find(({ job }) => job.item === `hot-${at}`)?.end(DELIVERED);
      await settled();
      expect(world.flow.items.at(-1)).toBe(`hot-${at + 1}`);
    }
  });

  test('starves no partition while others always have a next record', async () => {
    const broker = new InMemoryBroker();
    broker.createTopic(TOPIC, 3);
    world = makeWorld(broker);
    world.flow.limit = 2;
    for (const partition of [0, 1, 2])
      for (let at = 0; at < 40; at += 1)
        world.broker.append(TOPIC, partition, { key: `${partition}`, value: `${partition}-${at}` });
    await started(world);
    for (let at = 0; at < 60; at += 1) {
      world.flow.started[at]?.end(DELIVERED);
      await settled();
    }
    const ofEach = [0, 1, 2].map((each) => world.flow.items.filter((item) => item.startsWith(`${each}-`)).length);
    expect(Math.min(...ofEach)).toBeGreaterThan(15);
  });

  test('forgets no partition when a flow says in the middle of a start that something has changed', async () => {
    world.flow.limit = 3;
    for (const partition of [0, 1])
      for (const at of [1, 2, 3, 4])
        world.broker.append(TOPIC, partition, { key: `${partition}${at}`, value: `${partition}-${at}` });
    world.flow.onRun = () => world.flow.signals?.changed();
    await started(world);
    for (let at = 0; at < 8; at += 1) {
      world.flow.started[at]?.end(DELIVERED);
      await settled();
    }
    expect(new Set(world.flow.items).size).toBe(8);
  });

  test('finishes at a stop what was refused: its letter is written, not left for the next start', async () => {
    world.broker.append(TOPIC, 0, { key: 'a', value: 'a1' });
    await started(world);
    const stop = world.engine.stop(5000);
    world.flow.started[0]?.end({ do: 'dead_letter', letter: { reason: 'status_400', stage: 'score' } });
    await stop;
    expect(world.letters).toHaveLength(1);
    expect(committed(world)).toBe(1n);
  });

  test('waits as long as the step asked, with its carry and the next attempt, and holds its lane meanwhile', async () => {
    world.broker.append(TOPIC, 0, { key: 'a', value: 'a1' });
    world.broker.append(TOPIC, 0, { key: 'a', value: 'a2' });
    await started(world);
    world.flow.started[0]?.end({ do: 'wait', forMs: 100, why: 'service_down', carry: { score: 7 } });
    await settled();
    await tick(world, 99);
    expect(world.flow.items).toEqual(['a1']);
    await tick(world, 1);
    const again = world.flow.started[1]?.job;
    expect([again?.item, again?.attempt, again?.carry]).toEqual(['a1', 2, { score: 7 }]);
  });

  test('says a hold once it has lasted, with its cause on the status, and its end', async () => {
    world.broker.append(TOPIC, 0, { key: 'a', value: 'a1' });
    world.flow.answer = ({ attempt }) => ({
      do: 'wait',
      forMs: 300,
      why: 'service_down',
      ...(attempt < 5 && { error: attempt < 4 ? 'timeout' : 'status_503' }),
    });
    await started(world);
    for (let i = 0; i < 10; i += 1) await tick(world, 300);
    expect(world.said.filter((name) => name === 'hold_started')).toHaveLength(1);
    expect(world.errors).toEqual(['status_503']);
    expect(world.engine.status().flows[0]?.waits).toMatchObject([
      { cause: 'service_down', records: 1, error: 'status_503' },
    ]);
    world.flow.answer = () => DELIVERED;
    await tick(world, 300);
    expect(world.said.filter((name) => name === 'hold_ended')).toHaveLength(1);
    expect(world.engine.status().flows[0]?.waits).toEqual([]);
  });

  test('asks a blocked lane again when it is woken, and by itself after half a second', async () => {
    let open = false;
    world.flow.blocks = () => (open ? null : 'not_scored_yet');
    world.broker.append(TOPIC, 0, { key: 'a', value: 'a1' });
    world.broker.append(TOPIC, 0, { key: 'b', value: 'b1' });
    await started(world);
    expect(world.flow.items).toEqual([]);
    open = true;
    world.flow.signals?.wake('b');
    expect(world.flow.items).toEqual(['b1']);
    await tick(world, 500);
    expect(world.flow.items).toEqual(['b1', 'a1']);
  });

  test('asks a lane that stays blocked ever more seldom, at least every two seconds', async () => {
    let asked = 0;
    world.flow.blocks = () => {
      asked += 1;
      return 'not_scored_yet';
    };
    world.broker.append(TOPIC, 0, { key: 'a', value: 'a1' });
    await started(world);
    for (const [ms, times] of [
      [500, 2],
      [1000, 3],
      [2000, 4],
      [2000, 5],
      [2000, 6],
    ] as const) {
      await tick(world, ms - 1);
      expect(asked).toBe(times - 1);
      await tick(world, 1);
      expect(asked).toBe(times);
    }
  });

  test('ends a dead letter only after it was written, and never runs the step again for it', async () => {
    world.letterAnswer = 'dead_letter_topic';
    world.broker.append(TOPIC, 0, { key: 'a', value: 'a1' });
    world.flow.answer = () => ({ do: 'dead_letter', letter: { reason: 'status_400', stage: 'score' } });
    await started(world);
    await tick(world, 250);
    expect(committed(world)).toBeNull();
    world.letterAnswer = 'written';
    await tick(world, 30_000);
    await tick(world, 250);
    expect(world.letters).toMatchObject([{ reason: 'status_400' }]);
    expect(world.flow.items).toEqual(['a1']);
    expect(committed(world)).toBe(1n);
  });

  test('counts a skip at once and lets the partition go on', async () => {
    world.flow.readings = (record) => (record.value === null ? { do: 'skip', rule: 'tombstone' } : null);
    world.broker.append(TOPIC, 0, { key: 'a', value: null });
    await started(world);
    await tick(world, 250);
    expect(committed(world)).toBe(1n);
    expect(world.engine.status().flows[0]?.outcomes).toEqual({ 'skip:tombstone': 1 });
  });

  test('parks the records an operator has named, without asking the flow', async () => {
    world.flow.answer = () => DELIVERED;
    world.broker.skipOffsets(TOPIC, 1, 68);
    for (let at = 0; at < 9; at += 1) world.broker.append(TOPIC, 1, { key: `k${at}`, value: `v${at}` });
    await started(world);
    expect(world.letters).toEqual([{ reason: 'parked_by_operator', stage: 'read' }]);
    expect(world.flow.items).not.toContain('v2');
    expect(world.flow.items).toHaveLength(8);
  });

  test('writes the letter of an unreadable record behind the records of its key', async () => {
    world.flow.readings = (record) =>
      record.value?.toString() === 'bad'
        ? { do: 'dead_letter', letter: { reason: 'undecodable', stage: 'read' } }
        : null;
    for (const value of ['a1', 'bad', 'a2']) world.broker.append(TOPIC, 0, { key: 'a', value });
    await started(world);
    expect(world.letters).toEqual([]);
    world.flow.started[0]?.end(DELIVERED);
    await settled();
    expect(world.letters).toHaveLength(1);
    expect(world.flow.items).toEqual(['a1', 'a2']);
  });

  test('reads on only once the schema has come, from the record that needs it', async () => {
    let known = false;
    const answers: Awaited<ReturnType<Schemas['fetch']>>[] = [
      { do: 'wait', forMs: 1000, why: 'registry' },
      { do: 'ready' },
    ];
    world.schemas = {
      fetch: async () => {
        const answer = answers.shift() ?? { do: 'ready' };
        known = answer.do === 'ready';
        return await Promise.resolve(answer);
      },
    };
    world.flow.readings = (record) =>
      record.value?.toString() === 'avro' && !known ? { do: 'needs', schema: 7 } : null;
    for (const value of ['json', 'avro', 'after']) world.broker.append(TOPIC, 0, { key: value, value });
    world.flow.answer = () => DELIVERED;
    await started(world);
    await world.broker.step();
    await tick(world, 250);
    expect(world.flow.items).toEqual(['json']);
    expect(committed(world)).toBe(1n);
    expect(world.engine.status().flows[0]?.waits).toMatchObject([{ cause: 'registry' }]);
    await tick(world, 1000);
    await world.broker.step();
    await settled();
    await tick(world, 250);
    expect(world.flow.items).toEqual(['json', 'avro', 'after']);
    expect(committed(world)).toBe(3n);
  });

  test('a flow that throws loses nothing: the record waits, and becomes a letter only if others succeed', async () => {
    world.broker.append(TOPIC, 0, { key: 'a', value: 'broken' });
    await started(world);
    for (let i = 0; i < 12; i += 1) {
      world.flow.started.at(-1)?.fail(new RangeError('secret text'));
      await settled();
      await tick(world, 30_000);
    }
    expect(world.letters).toEqual([]);
    world.broker.append(TOPIC, 1, { key: 'b', value: 'fine' });
    await world.broker.step();
    world.flow.started.find(({ job }) => job.item === 'fine')?.end(DELIVERED);
    world.flow.started.findLast(({ job }) => job.item === 'broken')?.fail(new RangeError('secret text'));
    await settled();
    expect(world.letters).toEqual([{ reason: 'connector_fault', stage: 'scripted', detail: 'RangeError' }]);
  });

  test('a flow that throws when asked whether a record may start stops neither it nor the others', async () => {
    let broken = true;
    world.flow.blocks = ({ item }) => {
      if (broken && item === 'a1') throw new TypeError('defect');
      return null;
    };
    for (const key of ['a', 'b']) world.broker.append(TOPIC, 0, { key, value: `${key}1` });
    await started(world);
    expect(world.flow.items).toEqual(['b1']);
    broken = false;
    await tick(world, 1000);
    expect(world.flow.items).toEqual(['b1', 'a1']);
  });

  test('pauses a partition that holds too much and resumes it at half', async () => {
    world = makeWorld(new InMemoryBroker(), 4);
    for (let at = 0; at < 6; at += 1) world.broker.append(TOPIC, 0, { key: `k${at}`, value: `v${at}` });
    await world.engine.start();
    await world.broker.step(4);
    await settled();
    expect(world.source.flowing).toEqual([{ topic: TOPIC, partition: 1 }]);
    world.flow.started[0]?.end(DELIVERED);
    await settled();
    expect(world.source.flowing).toHaveLength(1);
    world.flow.started[1]?.end(DELIVERED);
    await settled();
    expect(world.source.flowing).toHaveLength(2);
    world.broker.deliver();
    expect(world.flow.items).toHaveLength(6);
  });

  test('calls the flow when its batch is due', async () => {
    await started(world);
    world.flow.dueMs = 500;
    world.flow.signals?.changed();
    await tick(world, 499);
    expect(world.flow.ticks).toEqual([]);
    await tick(world, 1);
    expect(world.flow.ticks).toEqual([500]);
  });
});
