import { beforeEach, describe, expect, test } from 'vitest';
import { type Distribution } from '../../../src/kernel/bucket-counts.ts';
import { DELIVERED } from '../../../src/kernel/outcome.ts';
import { type EventFields } from '../../../src/kernel/emit.ts';
import { makeWorld, started, tick, TOPIC, type World } from '../../support/engine-world.ts';
import { settled } from '../../support/manual-clock.ts';

let world: World;
beforeEach(() => {
  world = makeWorld();
});

const flow = () => {
  const found = world.engine.status().flows[0];
  if (found === undefined) throw new Error('there is no flow');
  return found;
};
const told = ({ count, sum }: Distribution): object => ({ count, sum });

describe('what the engine counts of records', () => {
  test('the topic, what was read, and nothing ended yet', async () => {
    for (const key of ['a', 'b', 'b']) world.broker.append(TOPIC, 0, { key, value: key });
    await started(world);
    expect(flow()).toMatchObject({ topic: TOPIC, consumed: 3 });
    expect([flow().endToEnd.count, flow().processing.count]).toEqual([0, 0]);
  });

  test('how long a record took from its first step to its end, waits included, and since its timestamp', async () => {
    const timestampMs = world.clock.nowMs() - 7000;
    world.broker.append(TOPIC, 0, { key: 'a', value: 'a', timestampMs });
    await started(world);
    await tick(world, 1000);
    world.flow.started[0]?.end({ do: 'wait', forMs: 500, why: 'service_down' });
    await settled();
    await tick(world, 500);
    world.flow.started[1]?.end(DELIVERED);
    await settled();
    expect(told(flow().processing)).toEqual({ count: 1, sum: 1.5 });
    expect(told(flow().endToEnd)).toEqual({ count: 1, sum: 8.5 });
  });

  test('the wait for room before its first step is none of its processing', async () => {
    world.flow.limit = 1;
    for (const key of ['a', 'b']) world.broker.append(TOPIC, 0, { key, value: key });
    await started(world);
    await tick(world, 3000);
    world.flow.started[0]?.end(DELIVERED);
    await settled();
    await tick(world, 1000);
    world.flow.started[1]?.end(DELIVERED);
    await settled();
    expect(told(flow().processing)).toEqual({ count: 2, sum: 4 });
  });

  test('a record that ends as it is read has a whole way and no processing', async () => {
    world.flow.readings = () => ({ do: 'skip', rule: 'tombstone' });
    world.broker.append(TOPIC, 0, { key: 'a', value: 'a', timestampMs: world.clock.nowMs() - 2000 });
    await started(world);
    expect(told(flow().endToEnd)).toEqual({ count: 1, sum: 2 });
    expect(flow().processing.count).toBe(0);
  });

  test('a timestamp from the future is no time below zero', async () => {
    world.flow.readings = () => ({ do: 'skip', rule: 'tombstone' });
    world.broker.append(TOPIC, 0, { key: 'a', value: 'a', timestampMs: world.clock.nowMs() + 60_000 });
    await started(world);
    expect(told(flow().endToEnd)).toEqual({ count: 1, sum: 0 });
  });

  test('the timestamp of the last record read', async () => {
    const lastReadMs = (): number | null | undefined => world.engine.status().partitions[0]?.lastReadMs;
    await started(world);
    expect(lastReadMs()).toBeNull();
    world.broker.append(TOPIC, 0, { key: 'a', value: 'a', timestampMs: 1234 });
    await world.broker.step();
    expect(lastReadMs()).toBe(1234);
  });
});

describe('what the engine counts of commits and rebalances', () => {
  test('commits by their end', async () => {
    world.flow.answer = () => DELIVERED;
    world.broker.append(TOPIC, 0, { key: 'a', value: 'a' });
    await started(world);
    await tick(world, 250);
    world.source.failCommit();
    world.broker.append(TOPIC, 0, { key: 'b', value: 'b' });
    await world.broker.step();
    await settled();
    await tick(world, 250);
    const { ok, failed } = world.engine.status().commits;
    expect([ok.count, failed.count]).toEqual([1, 1]);
  });

  test('from the barrier to the assignment, and the first time from the start', async () => {
    const spans: number[] = [];
    world = makeWorld(undefined, undefined, {
      emit: (event, fields) => {
        if (event === 'partitions_assigned') spans.push((fields as EventFields['partitions_assigned']).afterMs);
      },
    });
    await world.engine.start();
    world.clock.advance(4000);
    await world.broker.step();
    await settled();
    await world.engine.barrier();
    world.clock.advance(1500);
    world.engine.assigned([]);
    expect(spans).toEqual([4000, 1500]);
  });
});
