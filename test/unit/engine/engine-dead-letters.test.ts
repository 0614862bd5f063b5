import { expect, test } from 'vitest';
import { DELIVERED } from '../../../src/kernel/outcome.ts';
import { InMemoryBroker } from '../../support/in-memory-broker.ts';
import { makeWorld, started, TOPIC, tick, type World } from '../../support/engine-world.ts';

const BAD = 'bad';
const WRITE_MS = 10_000;

/** A world of so many partitions, in which records with the value `bad` are dead letters and all others are delivered. */
function worldOf(partitions: number, over: Parameters<typeof makeWorld>[2] = {}): World {
  const broker = new InMemoryBroker();
  broker.createTopic(TOPIC, partitions);
  const world = makeWorld(broker, 1024, { parked: new Set(), ...over });
  world.flow.readings = ({ value }) =>
    String(value) === BAD ? { do: 'dead_letter', letter: { reason: 'undecodable', stage: 'read' } } : null;
  world.flow.answer = () => DELIVERED;
  return world;
}

function append(world: World, partition: number, count: number, value: string): void {
  const { high } = world.broker.watermarks(TOPIC, partition);
  for (let n = 0; n < count; n += 1)
    world.broker.append(TOPIC, partition, { key: `k${String(Number(high) + n)}`, value });
}

function pausesOf(world: World): readonly (readonly string[])[] {
  return world.engine.status().partitions.map(({ pauses }) => pauses);
}

const never = async (): Promise<never> => await new Promise(() => undefined);

test('dead letters that nobody takes keep back no record that needs none, however many they are', async () => {
  const world = worldOf(2, { deadLetters: { write: never } });
  append(world, 0, 400, BAD);
  append(world, 0, 100, 'good');
  append(world, 1, 500, 'good');
  await started(world);
  await tick(world, 250);
  expect(world.flow.items).toHaveLength(600);
});

test('a partition of which too many dead letters wait is not read, says why, and goes on by itself', async () => {
  const world = worldOf(2, {
    pressure: { partitionRecords: 8, partitionSpan: 1e6, flowRecords: 1000, flowBytes: 1e9 },
  });
  world.letterAnswer = 'dead_letter_topic';
  append(world, 0, 3, BAD);
  await started(world);
  expect(pausesOf(world)).toEqual([[], []]);
  append(world, 0, 1, BAD);
  append(world, 1, 50, 'good');
  world.broker.deliver();
  for (let ms = 0; ms < 15_000; ms += 250) await tick(world, 250);
  expect(pausesOf(world)).toEqual([['dead_letters'], []]);
  expect(world.source.flowing.map(({ partition }) => partition)).toEqual([1]);
  expect(world.flow.items).toHaveLength(50);
  expect(world.said).toContain('hold_started');
  expect(world.engine.status().flows[0]?.waits).toMatchObject([{ cause: 'dead_letter_topic', records: 4 }]);
  world.letterAnswer = 'written';
  for (let ms = 0; ms < 30_000; ms += 250) await tick(world, 250);
  expect(pausesOf(world)).toEqual([[], []]);
  expect(world.letters).toHaveLength(4);
  expect(world.said).toContain('hold_ended');
});

test('dead letters of a whole flow pause the partitions that they come from, and leave its room to the others', async () => {
  const pressure = { partitionRecords: 1000, partitionSpan: 1e6, flowRecords: 16, flowBytes: 1e9 };
  const world = worldOf(3, { pressure });
  world.letterAnswer = 'dead_letter_topic';
  append(world, 0, 10, BAD);
  append(world, 1, 10, BAD);
  append(world, 2, 10, 'good');
  await started(world);
  expect(pausesOf(world)).toEqual([['dead_letters'], ['dead_letters'], []]);
  expect(world.flow.items).toHaveLength(10);
});

test('so do few of them that are large', async () => {
  const pressure = { partitionRecords: 1000, partitionSpan: 1e6, flowRecords: 1000, flowBytes: 4 * BAD.length };
  const world = worldOf(2, { pressure });
  world.letterAnswer = 'dead_letter_topic';
  world.broker.append(TOPIC, 0, { key: '', value: BAD });
  await started(world);
  expect(pausesOf(world)).toEqual([['dead_letters'], []]);
});

test('the first one that is written again calls for the others', async () => {
  const world = worldOf(1);
  world.letterAnswer = 'dead_letter_topic';
  append(world, 0, 10, BAD);
  await started(world);
  await tick(world, 7000);
  append(world, 0, 10, BAD);
  world.broker.deliver();
  for (let ms = 0; ms < 300_000; ms += 1000) await tick(world, 1000);
  world.letterAnswer = 'written';
  let waitedMs = 0;
  for (; world.letters.length === 0 && waitedMs < 60_000; waitedMs += 100) await tick(world, 100);
  await tick(world, 1000);
  expect(world.letters).toHaveLength(20);
});

test('at 500 records/s, 2 % of them unreadable, a dead-letter topic that fails takes nothing from the rate of the others', async () => {
  const deadLetters = { write: async () => await new Promise<'dead_letter_topic'>(failLate) };
  const world = worldOf(4, { deadLetters });
  const failLate = (resolve: (outcome: 'dead_letter_topic') => void): void => {
    world.clock.after(WRITE_MS, () => {
      resolve('dead_letter_topic');
    });
  };
  await started(world);
  const perSecond: number[] = [];
  let sent = 0;
  for (let second = 0; second < 60; second += 1) {
    const before = world.flow.items.length;
    for (let tenth = 0; tenth < 10; tenth += 1) {
      // Those that are unreadable are in partitions 0 and 2.
      for (let n = 0; n < 50; n += 1, sent += 1)
        world.broker.append(TOPIC, sent % 4, { key: `k${String(sent)}`, value: sent % 50 === 0 ? BAD : 'good' });
      world.broker.deliver();
      await tick(world, 100);
    }
    perSecond.push(world.flow.items.length - before);
  }
  expect(new Set(perSecond)).toEqual(new Set([490]));
  expect(pausesOf(world)).toEqual([[], [], [], []]);
});
