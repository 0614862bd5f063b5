import { expect, test } from 'vitest';
import { type Flow } from '../../../src/engine/ports.ts';
import { DELIVERED } from '../../../src/kernel/outcome.ts';
import { settled } from '../../support/manual-clock.ts';
import { makeWorld, started, TOPIC, tick, type World } from '../../support/engine-world.ts';

function listening(onLetter: () => void = () => undefined): { readonly world: World; readonly told: string[] } {
  const world = makeWorld();
  const told: string[] = [];
  const flow: Flow<string, unknown> = world.flow;
  flow.lettered = (record) => {
    told.push(record.value?.toString() ?? '');
    onLetter();
  };
  world.flow.readings = (record) =>
    record.value?.toString() === 'bad' ? { do: 'dead_letter', letter: { reason: 'card_data', stage: 'read' } } : null;
  return { world, told };
}

test('tells a flow of a letter that was made at reading, behind the records of its key, and only once it is written', async () => {
  const { world, told } = listening();
  world.letterAnswer = 'dead_letter_topic';
  for (const value of ['a1', 'bad']) world.broker.append(TOPIC, 0, { key: 'a', value });
  await started(world);
  world.flow.started[0]?.end(DELIVERED);
  await settled();
  expect(told).toEqual([]);
  world.letterAnswer = 'written';
  await tick(world, 30_000);
  expect(told).toEqual(['bad']);
});

test('tells it nothing of a letter that its own step has made', async () => {
  const { world, told } = listening();
  world.broker.append(TOPIC, 0, { key: 'a', value: 'a1' });
  await started(world);
  world.flow.started[0]?.end({ do: 'dead_letter', letter: { reason: 'status_400', stage: 'score' } });
  await settled();
  expect(world.letters).toHaveLength(1);
  expect(told).toEqual([]);
});

test('ends the record though the flow throws at the news', async () => {
  const { world } = listening(() => {
    throw new TypeError('x');
  });
  for (const value of ['bad', 'a1']) world.broker.append(TOPIC, 0, { key: 'a', value });
  await started(world);
  await settled();
  expect(world.said).toContain('flow_broken');
  expect(world.engine.status().flows[0]?.outcomes).toEqual({ 'dead_letter:card_data': 1 });
  expect(world.flow.items).toEqual(['a1']);
});
