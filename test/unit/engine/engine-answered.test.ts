import { expect, test } from 'vitest';
import { DELIVERED } from '../../../src/kernel/outcome.ts';
import { settled } from '../../support/manual-clock.ts';
import { GROUP, makeWorld, started, TOPIC, tick, type World } from '../../support/engine-world.ts';

const UNWRITTEN = { do: 'wait', forMs: 1000, why: 'kafka', carry: 'a score' } as const;

/** A record of partition 0 that is answered and not written, among others that have no room. */
async function answered(): Promise<World> {
  const world = makeWorld();
  world.flow.limit = 1;
  for (const key of ['a', 'b', 'c']) world.broker.append(TOPIC, 0, { key, value: key });
  await started(world);
  world.flow.started[0]?.end(UNWRITTEN);
  await settled();
  return world;
}

test('a record that is answered and not written needs no room, and gives none to others', async () => {
  const world = await answered();
  expect(world.flow.items).toEqual(['a', 'b']);
  await tick(world, 1000);
  expect(world.flow.items).toEqual(['a', 'b', 'a']);
  world.flow.started[2]?.end(DELIVERED);
  await settled();
  expect(world.flow.items).toEqual(['a', 'b', 'a']);
});

test('it does not stand behind records that wait for room, its own next included', async () => {
  const world = await answered();
  world.flow.limit = 0;
  world.flow.started[1]?.end({ do: 'wait', forMs: 500, why: 'service_down' });
  await settled();
  await tick(world, 500);
  await tick(world, 500);
  expect(world.flow.items).toEqual(['a', 'b', 'a']);
});

test('it is not started once its partition is lost, and no more than once when it is read again', async () => {
  const world = await answered();
  world.source.crash();
  const joined = world.broker.rebalance(GROUP);
  await tick(world, 2000);
  await joined;
  world.broker.deliver();
  await settled();
  // The step of b that still runs keeps its partition back.
  expect(world.flow.items).toEqual(['a', 'b']);
  world.flow.started[1]?.end(DELIVERED);
  await settled();
  expect(world.flow.items).toEqual(['a', 'b', 'a']);
  expect(world.flow.started[2]?.job.carry).toBeUndefined();
});
