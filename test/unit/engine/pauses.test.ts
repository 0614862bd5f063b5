import { expect, test } from 'vitest';
import { DELIVERED } from '../../../src/kernel/outcome.ts';
import { GROUP, makeWorld, started, tick, TOPIC, type World } from '../../support/engine-world.ts';
import { type InMemoryBroker } from '../../support/in-memory-broker.ts';

const pressure = { partitionRecords: 1024, partitionSpan: 10, flowRecords: 10_000, flowBytes: 1e9 };

interface Said {
  readonly world: World;
  readonly said: [string, unknown][];
}

/** A world in which records with the value `stuck` wait, and all others are delivered. */
function worldWith(broker?: InMemoryBroker): Said {
  const said: [string, unknown][] = [];
  const world = makeWorld(broker, 1024, { pressure, emit: (event, fields) => said.push([event, fields]) });
  world.flow.answer = ({ item }) => (item === 'stuck' ? { do: 'wait', forMs: 60_000, why: 'service_down' } : DELIVERED);
  return { world, said };
}

/** One record in partition 0 that waits, with so many behind it that are done. */
async function stuck(others: number, { world }: Said): Promise<void> {
  world.broker.append(TOPIC, 0, { key: 'stuck', value: 'stuck', timestampMs: 1_700_000_000_000 });
  for (let n = 0; n < others; n += 1) world.broker.append(TOPIC, 0, { key: `k${String(n)}`, value: String(n) });
  await started(world);
  for (let ms = 0; ms < 15_000; ms += 250) await tick(world, 250);
}

const pausesOf = ({ world }: Said): unknown => world.engine.status().partitions.map(({ pauses }) => pauses);
const causesOf = ({ world }: Said): unknown => world.engine.status().flows[0]?.waits.map(({ cause }) => cause);

test('a partition is read as far as its span allows behind a record that waits, and no further', async () => {
  const within = worldWith();
  await stuck(8, within);
  expect([pausesOf(within), causesOf(within)]).toEqual([[[], []], ['service_down']]);
  const at = worldWith();
  await stuck(9, at);
  expect(pausesOf(at)).toEqual([['span_full'], []]);
  expect(at.world.source.flowing).toEqual([{ topic: TOPIC, partition: 1 }]);
});

test('a full span has a name within 15 s, and the position of the record', async () => {
  const full = worldWith();
  await stuck(9, full);
  expect(causesOf(full)).toEqual(['span_full', 'service_down']);
  expect(full.said).toContainEqual(['span_full', { topic: TOPIC, partition: 0, offset: '0' }]);
  expect(full.said).toContainEqual([
    'hold_started',
    { cause: 'span_full', scope: 'scripted', error: '', position: `${TOPIC}:0:0` },
  ]);
});

test('it is over when the record has ended, or the partition is lost', async () => {
  const full = worldWith();
  await stuck(9, full);
  full.world.flow.answer = () => DELIVERED;
  await tick(full.world, 60_000);
  expect([pausesOf(full), causesOf(full)]).toEqual([[[], []], []]);
  expect(full.said.filter(([event]) => event === 'hold_ended')).toHaveLength(2);
  const lost = worldWith();
  await stuck(9, lost);
  lost.world.source.crash();
  expect(causesOf(lost)).toEqual([]);
});

test('what a restart passes over counts: behind the same record it reads no further', async () => {
  const first = worldWith();
  await stuck(30, first);
  first.world.source.vanish();
  expect(first.world.broker.committed(GROUP, TOPIC, 0)?.offset).toBe(0n);
  const next = worldWith(first.world.broker);
  await next.world.engine.start();
  await next.world.broker.step(10);
  await next.world.broker.step(10);
  expect(pausesOf(next)).toEqual([['span_full'], []]);
  expect(next.world.engine.status().partitions[0]?.next).toBe(10n);
  next.world.flow.answer = () => DELIVERED;
  await tick(next.world, 60_000);
  await next.world.broker.step();
  await tick(next.world, 250);
  expect(next.world.broker.committed(GROUP, TOPIC, 0)?.offset).toBe(31n);
  expect(next.world.flow.items).toEqual(['stuck', 'stuck']);
});
