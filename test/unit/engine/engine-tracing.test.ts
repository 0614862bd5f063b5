import { expect, test } from 'vitest';
import { DELIVERED } from '../../../src/kernel/outcome.ts';
import { makeWorld, started, tick, TOPIC, type World } from '../../support/engine-world.ts';
import { InMemoryBroker } from '../../support/in-memory-broker.ts';
import { settled } from '../../support/manual-clock.ts';
import { ToldTracing, toldParent } from '../../support/told-tracing.ts';

function traced(): { world: World; tracing: ToldTracing } {
  const tracing = new ToldTracing();
  return { world: makeWorld(new InMemoryBroker(), 1024, { tracing }), tracing };
}

test('a record is told of from its first step, with its waits, to its end, and its flow gets the span', async () => {
  const { world, tracing } = traced();
  world.broker.append(TOPIC, 0, { key: 'a', value: 'a1' });
  world.broker.append(TOPIC, 0, { key: 'a', value: 'a2' });
  await started(world);
  expect(tracing.told).toEqual(['scripted payments/0/0']);
  expect(world.flow.started[0]?.job.span?.context?.traceparent).toBe(toldParent(1));
  world.flow.started[0]?.end({ do: 'wait', forMs: 100, why: 'service_down' });
  await settled();
  await tick(world, 100);
  expect(world.flow.started[1]?.job.span).toBe(world.flow.started[0]?.job.span);
  world.flow.started[1]?.end(DELIVERED);
  await settled();
  expect(tracing.told).toEqual([
    'scripted payments/0/0',
    'payments/0/0 wait service_down',
    'payments/0/0 delivered 2',
    'scripted payments/0/1',
  ]);
});

test('a letter ends its record only when it is written, whether a step or the reading made it', async () => {
  const { world, tracing } = traced();
  world.letterAnswer = 'dead_letter_topic';
  world.flow.readings = (record) =>
    record.value?.toString() === 'bad' ? { do: 'dead_letter', letter: { reason: 'undecodable', stage: 'read' } } : null;
  world.broker.append(TOPIC, 0, { key: 'a', value: 'bad' });
  world.broker.append(TOPIC, 0, { key: 'b', value: 'refused' });
  await started(world);
  world.flow.started[0]?.end({ do: 'dead_letter', letter: { reason: 'status_422', stage: 'score' } });
  await settled();
  expect(tracing.told.filter((line) => line.includes('dead_letter '))).toEqual([]);
  world.letterAnswer = 'written';
  await tick(world, 60_000);
  expect(tracing.told.filter((line) => !line.includes(' wait ') && !line.startsWith('scripted')).toSorted()).toEqual([
    'payments/0/0 dead_letter undecodable 2',
    'payments/0/1 dead_letter status_422 2',
  ]);
});

test('what is under way when its partition is lost, or at the stop, is told as lost, and once', async () => {
  const { world, tracing } = traced();
  world.broker.append(TOPIC, 0, { key: 'a', value: 'a1' });
  world.broker.append(TOPIC, 0, { key: 'b', value: 'b1' });
  await started(world);
  world.flow.started[0]?.end({ do: 'wait', forMs: 5000, why: 'kafka' });
  await settled();
  world.engine.lost('gone');
  world.flow.started[1]?.end(DELIVERED);
  await settled();
  expect(tracing.told.slice(2)).toEqual(['payments/0/0 wait kafka', 'payments/0/0 lost 2', 'payments/0/1 lost 1']);
});

test('records that are passed over as they are read are not told of', async () => {
  const { world, tracing } = traced();
  world.flow.readings = () => ({ do: 'skip', rule: 'tombstone' });
  world.broker.append(TOPIC, 0, { key: 'a', value: null });
  await started(world);
  expect(tracing.told).toEqual([]);
});
