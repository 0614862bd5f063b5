import { beforeEach, describe, expect, test } from 'vitest';
import { Engine } from '../../../src/engine/engine.ts';
import { type DeadLetters, type Flow, type Schemas } from '../../../src/engine/ports.ts';
import { type EventName } from '../../../src/kernel/emit.ts';
import { DELIVERED, type HoldCause, type Letter } from '../../../src/kernel/outcome.ts';
import { InMemoryBroker, type InMemorySource } from '../../support/in-memory-source.ts';
import { ManualClock, settled } from '../../support/manual-clock.ts';
import { ScriptedFlow } from '../../support/scripted-flow.ts';

const TOPIC = 'payments';
const GROUP = 'group';

interface World {
  readonly broker: InMemoryBroker;
  readonly source: InMemorySource;
  readonly flow: ScriptedFlow;
  readonly clock: ManualClock;
  readonly engine: Engine;
  readonly letters: Letter[];
  readonly said: EventName[];
  letterAnswer: 'written' | HoldCause;
  schemas: Schemas;
}

function makeWorld(broker = new InMemoryBroker(), partitionRecords = 1024): World {
  if (broker.partitions(TOPIC) === 0) broker.createTopic(TOPIC, 2);
  const flow = new ScriptedFlow();
  const clock = new ManualClock();
  const letters: Letter[] = [];
  const said: EventName[] = [];
  const source = broker.source(GROUP, [TOPIC]);
  const deadLetters: DeadLetters = {
    write: async (_record, letter) => {
      await Promise.resolve();
      if (world.letterAnswer === 'written') letters.push(letter);
      return world.letterAnswer;
    },
  };
  const engine = new Engine({
    source,
    flows: new Map<string, Flow<unknown, unknown>>([[TOPIC, flow]]),
    deadLetters,
    schemas: { fetch: async (id) => await world.schemas.fetch(id) },
    clock,
    draw: () => 0.5,
    emit: (name) => {
      said.push(name);
    },
    commitIntervalMs: 250,
    barrierMs: 2000,
    pressure: { partitionRecords, flowRecords: 10_000, flowBytes: 1e9 },
  });
  const world: World = {
    broker,
    source,
    flow,
    clock,
    engine,
    letters,
    said,
    letterAnswer: 'written',
    schemas: { fetch: async () => await Promise.resolve({ do: 'ready' }) },
  };
  return world;
}

async function started(world: World): Promise<void> {
  await world.engine.start();
  await world.broker.step();
  await settled();
}

async function tick(world: World, ms: number): Promise<void> {
  world.clock.advance(ms);
  await settled();
}

const committed = (world: World, partition = 0): bigint | null =>
  world.broker.committed(GROUP, TOPIC, partition)?.offset ?? null;

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
    await tick(world, 250);
    expect(committed(world)).toBeNull();
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
    world.flow.answer = () => ({ do: 'wait', forMs: 300, why: 'service_down' });
    await started(world);
    for (let i = 0; i < 10; i += 1) await tick(world, 300);
    expect(world.said.filter((name) => name === 'hold_started')).toHaveLength(1);
    expect(world.engine.status().flows[0]?.waits).toMatchObject([{ cause: 'service_down', records: 1 }]);
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
    world.flow.started
      .filter(({ job }) => job.item === 'broken')
      .at(-1)
      ?.fail(new RangeError('secret text'));
    await settled();
    expect(world.letters).toEqual([{ reason: 'connector_fault', stage: 'scripted', detail: 'RangeError' }]);
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
