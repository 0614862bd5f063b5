import { describe, expect, test } from 'vitest';
import { type EngineOptions } from '../../../src/engine/engine-options.ts';
import { encodeMap } from '../../../src/engine/offset-map.ts';
import { type EventFields } from '../../../src/kernel/emit.ts';
import { DELIVERED } from '../../../src/kernel/outcome.ts';
import { committed, GROUP, makeWorld, started, tick, TOPIC, type World } from '../../support/engine-world.ts';
import { InMemoryBroker } from '../../support/in-memory-broker.ts';
import { settled } from '../../support/manual-clock.ts';

interface Reported extends World {
  readonly gaps: EventFields['offset_gap'][];
  readonly events: string[];
}

/** A world that keeps what is reported of gaps. */
function reporting(
  broker = new InMemoryBroker(),
  partitionRecords = 1024,
  over: Partial<EngineOptions> = {},
): Reported {
  const gaps: EventFields['offset_gap'][] = [];
  const events: string[] = [];
  const world = makeWorld(broker, partitionRecords, {
    emit: (name, fields) => {
      events.push(name);
      if (name === 'offset_gap') gaps.push(fields as EventFields['offset_gap']);
    },
    ...over,
  });
  return Object.assign(world, { gaps, events });
}

function append({ broker }: World, partition: number, count: number): void {
  for (let at = 0; at < count; at += 1) {
    const text = String(broker.watermarks(TOPIC, partition).high);
    broker.append(TOPIC, partition, { key: `${String(partition)} ${text}`, value: text, timestampMs: 5 });
  }
}

/** Ends every step that is under way, and those that follow, until nothing starts any more. */
async function finish(world: World): Promise<void> {
  world.flow.answer = () => DELIVERED;
  for (const open of world.flow.started) open.end(DELIVERED);
  for (let round = 0; round < 20; round += 1) {
    await settled();
    await world.broker.step();
  }
  await tick(world, 250);
}

const gap = (change: Partial<EventFields['offset_gap']>): EventFields['offset_gap'] => ({
  topic: TOPIC,
  partition: 0,
  why: 'expired',
  from: '0',
  to: '0',
  missing: '0',
  ...change,
});

const done = (world: World): number[] => world.flow.items.map(Number).toSorted((a, b) => a - b);
const range = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, at) => from + at);

/** A partition that is paused with five records in memory, while more lie behind them. */
async function paused(over: Partial<EngineOptions> = {}): Promise<Reported> {
  const world = reporting(undefined, 5, over);
  append(world, 0, 20);
  append(world, 1, 3);
  world.flow.limit = 2;
  await world.engine.start();
  await world.broker.step(5);
  await settled();
  expect(world.engine.status().partitions[0]).toMatchObject({ buffered: 5, pauses: ['partition_full'] });
  return world;
}

describe('while records are in memory', () => {
  test('retention takes nothing of them: they are delivered, and what nobody had read is counted', async () => {
    const world = await paused();
    world.broker.expire(TOPIC, 0, 12n);
    await finish(world);
    expect(done(world)).toEqual([...range(0, 3), ...range(0, 5), ...range(12, 20)].toSorted((a, b) => a - b));
    expect(world.gaps).toEqual([gap({ from: '5', to: '12', missing: '7' })]);
    expect([committed(world), committed(world, 1)]).toEqual([20n, 3n]);
  });

  test('retention below or at the reading position is nothing to report', async () => {
    for (const low of [3n, 5n]) {
      const world = await paused();
      world.broker.expire(TOPIC, 0, low);
      await finish(world);
      expect([done(world).length, world.gaps]).toEqual([23, []]);
    }
  });

  test('a gap is no rebalance: the other partition keeps its tenure, and what runs there counts', async () => {
    const world = await paused();
    const epochs = world.flow.started.map(({ job }) => job.tenure);
    world.broker.expire(TOPIC, 0, 12n);
    await finish(world);
    expect(epochs.map(({ phase }) => phase)).toEqual(['owned', 'owned']);
    expect(world.events.filter((name) => name === 'partitions_assigned')).toHaveLength(1);
  });

  test('all that is left of a log may go, too; reading goes on when something comes', async () => {
    const world = await paused();
    world.broker.expire(TOPIC, 0, 20n);
    await finish(world);
    expect(world.gaps).toEqual([gap({ from: '5', to: '20', missing: '15' })]);
    append(world, 0, 1);
    await finish(world);
    expect([done(world).at(-1), committed(world)]).toEqual([20, 21n]);
  });

  test('with KAFKA_OFFSET_GAP=stop that partition holds, what is in memory goes on, and no commit passes the gap', async () => {
    const world = await paused({ onGap: 'stop' });
    world.broker.expire(TOPIC, 0, 12n);
    await finish(world);
    expect(done(world)).toEqual([0, 0, 1, 1, 2, 2, 3, 4]);
    expect(world.gaps).toEqual([gap({ from: '5', to: '12', missing: '7' })]);
    expect(committed(world)).toBe(5n);
    expect(world.engine.status().flows[0]?.waits).toMatchObject([{ cause: 'offset_gap' }]);
    append(world, 1, 1);
    await world.broker.rebalance(GROUP);
    await finish(world);
    expect([done(world).length, world.gaps.length]).toEqual([9, 1]);
    world.source.vanish();
    const next = reporting(world.broker);
    await started(next);
    await finish(next);
    expect([done(next), next.gaps]).toEqual([range(12, 20), [gap({ from: '5', to: '12', missing: '7' })]]);
  });
});

/** One record that waits, 30 behind it that have ended and are committed, and kill -9. */
async function stuckAndKilled(): Promise<Reported> {
  const world = reporting();
  append(world, 0, 31);
  world.flow.answer = ({ item }) => (item === '0' ? { do: 'wait', forMs: 600_000, why: 'service_down' } : DELIVERED);
  await started(world);
  await tick(world, 250);
  expect(committed(world)).toBe(0n);
  world.source.vanish();
  return world;
}

describe('what had ended above a record that has expired', () => {
  test('is not repeated by the next start, and only the record itself is missing', async () => {
    const world = await stuckAndKilled();
    append(world, 0, 2);
    world.broker.expire(TOPIC, 0, 1n);
    const next = reporting(world.broker);
    await started(next);
    await finish(next);
    expect([done(next), next.gaps]).toEqual([[31, 32], [gap({ to: '1', missing: '1' })]]);
    expect(committed(next)).toBe(33n);
  });

  test('is not counted as missing where it has expired, too, and the rest of it is not repeated', async () => {
    const world = await stuckAndKilled();
    world.broker.expire(TOPIC, 0, 20n);
    const next = reporting(world.broker);
    await started(next);
    await finish(next);
    expect([done(next), next.gaps]).toEqual([[], [gap({ to: '20', missing: '1' })]]);
    expect(committed(next)).toBe(31n);
  });

  test('is told apart from what nobody had read behind it', async () => {
    const world = await stuckAndKilled();
    append(world, 0, 9);
    world.broker.expire(TOPIC, 0, 36n);
    const next = reporting(world.broker);
    await started(next);
    await finish(next);
    expect([done(next), next.gaps]).toEqual([range(36, 40), [gap({ to: '36', missing: '6' })]]);
  });

  test('is not believed of a log that ends before it: with no record left to compare, that may be another log', async () => {
    const world = await stuckAndKilled();
    world.broker.createTopic(TOPIC, 2);
    append(world, 0, 10);
    world.broker.expire(TOPIC, 0, 4n);
    const next = reporting(world.broker);
    await started(next);
    await finish(next);
    expect(done(next)).toEqual(range(4, 10));
    expect(next.events).toContain('offset_map_ignored');
  });

  test('is believed as far as a log reaches that has lost its end: new records get the offsets behind', async () => {
    const world = await stuckAndKilled();
    world.broker.truncate(TOPIC, 0, 10n);
    const next = reporting(world.broker);
    await started(next);
    append(next, 0, 5);
    await finish(next);
    expect([done(next), next.gaps]).toEqual([[0, ...range(10, 15)], []]);
  });
});

describe('a gap that was passed over', () => {
  test('is committed at once, and never reported again', async () => {
    const world = await paused();
    world.broker.expire(TOPIC, 0, 12n);
    // The first record and those at both ends of the gap wait for ever; what lies between and behind ends.
    world.flow.answer = ({ record }) =>
      record.partition === 0 && [0n, 4n, 12n].includes(record.offset)
        ? { do: 'wait', forMs: 6e8, why: 'service_down' }
        : DELIVERED;
    for (const open of world.flow.started) open.end(world.flow.answer(open.job));
    for (let round = 0; round < 20; round += 1) {
      await settled();
      await world.broker.step();
    }
    await tick(world, 250);
    expect(committed(world)).toBe(0n);
    world.source.vanish();
    world.broker.expire(TOPIC, 0, 13n);
    const next = reporting(world.broker);
    await started(next);
    await finish(next);
    expect([world.gaps, next.gaps]).toEqual([
      [gap({ from: '5', to: '12', missing: '7' })],
      [gap({ to: '13', missing: '3' })],
    ]);
    expect(done(next)).toEqual([]);
  });

  test('at a start, too, is committed without anything having been read: the next start has nothing to report', async () => {
    const world = reporting();
    append(world, 0, 5);
    world.broker.commitAs(GROUP, { topic: TOPIC, partition: 0, offset: 0n, metadata: '' });
    world.broker.expire(TOPIC, 0, 5n);
    await started(world);
    await tick(world, 250);
    expect([world.gaps, committed(world)]).toEqual([[gap({ to: '5', missing: '5' })], 5n]);
  });
});

describe('a log that is not the one that was read any more', () => {
  test('because its end was cut off is read again from what had not ended, and only what was cut off out of memory is lost', async () => {
    const world = reporting(undefined, 10);
    append(world, 0, 12);
    append(world, 1, 1);
    world.broker.expire(TOPIC, 0, 1n);
    world.flow.limit = 20;
    await world.engine.start();
    await world.broker.step(10);
    await settled();
    // Of 1 to 10: 1 and 3 to 8 have ended.
    for (const { job, end } of world.flow.started) if (![2, 9, 10].includes(Number(job.item))) end(DELIVERED);
    await settled();
    world.broker.truncate(TOPIC, 0, 6n);
    await world.broker.step(10);
    expect(world.gaps).toEqual([gap({ why: 'truncated', from: '11', to: '2', missing: '2' })]);
    append(world, 0, 2);
    for (const { job, end } of world.flow.started) if (job.tenure.phase === 'lost') end(DELIVERED);
    const before = world.flow.items.length;
    await finish(world);
    // 2 has not ended; 3 to 5 have; 6 and 7 are new records.
    expect(world.flow.items.slice(before).map(Number)).toEqual([2, 6, 7]);
    expect(committed(world)).toBe(8n);
    expect(world.events.filter((name) => name === 'partitions_assigned')).toHaveLength(1);
  });

  test('because its topic was made anew is read whole, and the other partition notices nothing', async () => {
    const world = await paused();
    const other = world.broker.records(TOPIC, 1);
    world.broker.createTopic(TOPIC, 2);
    for (const { value } of other) world.broker.append(TOPIC, 1, { key: String(value), value });
    append(world, 0, 2);
    world.engine.outOfRange({ topic: TOPIC, partition: 0 }, { low: 0n, high: 2n });
    expect(world.gaps).toEqual([gap({ why: 'recreated', from: '5', to: '0', missing: '5' })]);
    const before = world.flow.items.length;
    await finish(world);
    expect(world.flow.items.slice(before).filter((item) => ['0', '1'].includes(item)).length).toBeGreaterThanOrEqual(2);
    expect([committed(world), committed(world, 1)]).toEqual([2n, 3n]);
    expect(world.events.filter((name) => name === 'partitions_assigned')).toHaveLength(1);
  });

  test('with KAFKA_OFFSET_GAP=stop holds that partition and starts nothing over', async () => {
    const world = await paused({ onGap: 'stop' });
    world.engine.outOfRange({ topic: TOPIC, partition: 0 }, { low: 0n, high: 2n });
    await finish(world);
    expect(world.gaps).toEqual([gap({ why: 'recreated', from: '5', to: '0' })]);
    expect(done(world)).toEqual([0, 0, 1, 1, 2, 2, 3, 4]);
  });

  test('a partition that turns out to be in the log reads on where it was', async () => {
    const world = await paused();
    world.engine.outOfRange({ topic: TOPIC, partition: 0 }, { low: 0n, high: 20n });
    await finish(world);
    expect([done(world).length, world.gaps]).toEqual([23, []]);
  });
});

test('a map that reaches beyond the end of the log never has a new record passed over', async () => {
  const world = reporting();
  append(world, 0, 3);
  const ranges = [{ from: 1, length: 1000 }];
  const map = { clusterHash: 'AAAAAA', nonce: 'elder', offset: 0n, timestampMs: 5, ranges };
  world.broker.commitAs(GROUP, { topic: TOPIC, partition: 0, offset: 0n, metadata: encodeMap(map).text });
  await started(world);
  append(world, 0, 2);
  await finish(world);
  expect(done(world)).toEqual([0, 3, 4]);
});
