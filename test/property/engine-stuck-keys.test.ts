import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeMap } from '../../src/engine/offset-map.ts';
import { DELIVERED } from '../../src/kernel/outcome.ts';
import { committed, GROUP, makeWorld, tick, TOPIC, type World } from '../support/engine-world.ts';
import { InMemoryBroker } from '../support/in-memory-broker.ts';
import { settled } from '../support/manual-clock.ts';

const RECORDS = 5000;
const MINUTE_MS = 60_000;
const pressure = { partitionRecords: 2 * RECORDS, partitionSpan: 1e6, flowRecords: 6 * RECORDS, flowBytes: 1e9 };
const parked: ReadonlySet<string> = new Set();

const textOf = (partition: number, offset: number): string => `${String(partition)}:${String(offset)}`;

/** In each partition every `every`th record waits, from the first one on; the others are done, for a minute. */
async function stuck(partitions: number, every: number): Promise<World> {
  const broker = new InMemoryBroker();
  broker.createTopic(TOPIC, partitions);
  const world = makeWorld(broker, 0, { pressure, parked });
  world.flow.limit = pressure.flowRecords;
  world.flow.answer = ({ record }) =>
    Number(record.offset) % every === 0 ? { do: 'wait', forMs: 2 * MINUTE_MS, why: 'service_down' } : DELIVERED;
  for (let partition = 0; partition < partitions; partition += 1)
    for (let offset = 0; offset < RECORDS; offset += 1) {
      const text = textOf(partition, offset);
      broker.append(TOPIC, partition, { key: text, value: text, timestampMs: 1_700_000_000_000 });
    }
  await world.engine.start();
  await broker.step(RECORDS);
  for (let passedMs = 0; passedMs < MINUTE_MS; passedMs += 5000) await tick(world, 5000);
  return world;
}

/** What a restart has to repeat: what neither lies below the committed offset nor is named by its map. */
function unsaid(world: World, partition: number): string[] {
  const { offset = 0n, metadata = '' } = world.broker.committed(GROUP, TOPIC, partition) ?? {};
  const map = decodeMap(metadata, { clusterHash: 'AAAAAA', offset });
  const isSaid = Array.from({ length: RECORDS }, (_, at) => BigInt(at) < offset);
  for (const { from, length } of map.do === 'map' ? map.ranges : [])
    isSaid.fill(true, Number(offset) + from, Number(offset) + from + length);
  return isSaid.flatMap((said, at) => (said ? [] : [textOf(partition, at)]));
}

/** kill -9, and another process in its place, in which nothing is stuck. */
async function restarted({ broker, source }: World): Promise<World> {
  source.vanish();
  const next = makeWorld(broker, 0, { pressure, parked });
  next.flow.limit = pressure.flowRecords;
  next.flow.answer = () => DELIVERED;
  await next.engine.start();
  // What a map that is nearly full kept paused is fetched once there is room.
  for (let round = 0; round < 8; round += 1) {
    await broker.step(RECORDS);
    await settled();
    await tick(next, 250);
  }
  return next;
}

test('a restart repeats none of the thousands that were done above keys that had been stuck for a minute, in any partition', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 3 }),
      fc.integer({ min: 3, max: RECORDS }),
      async (partitions, every) => {
        const world = await stuck(partitions, every);
        const next = await restarted(world);
        const waited = Array.from({ length: partitions }, (_, partition) =>
          Array.from({ length: Math.ceil(RECORDS / every) }, (_at, turn) => textOf(partition, turn * every)),
        );
        expect(next.flow.items.toSorted()).toEqual(waited.flat().toSorted());
        for (let partition = 0; partition < partitions; partition += 1)
          expect(committed(next, partition)).toBe(BigInt(RECORDS));
      },
    ),
    { numRuns: 10, examples: [[2, 5]] },
  );
}, 60_000);

test('where the map is too large and was cut, a restart repeats just what it could not say', async () => {
  const world = await stuck(3, 2);
  const expected = [0, 1, 2].map((partition) => unsaid(world, partition));
  for (const texts of expected) {
    expect(texts.length).toBeGreaterThan(RECORDS / 2);
    expect(texts.length).toBeLessThan(RECORDS);
  }
  const next = await restarted(world);
  expect(next.flow.items.toSorted()).toEqual(expected.flat().toSorted());
});
