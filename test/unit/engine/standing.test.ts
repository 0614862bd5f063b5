import fc from 'fast-check';
import { beforeEach, describe, expect, test } from 'vitest';
import { encodeMap } from '../../../src/engine/offset-map.ts';
import { type FlowStatus } from '../../../src/engine/ports.ts';
import { Fault } from '../../../src/kernel/fault.ts';
import { DELIVERED } from '../../../src/kernel/outcome.ts';
import { makeWorld, started, tick, TOPIC, type World } from '../../support/engine-world.ts';
import { settled } from '../../support/manual-clock.ts';

describe('what a crash would do again', () => {
  let world: World;
  beforeEach(() => {
    world = makeWorld();
  });

  const standing = (): Pick<FlowStatus, 'answered' | 'unsaved' | 'unsavedSinceMs'> | undefined => {
    const [flow] = world.engine.status().flows;
    return flow && { answered: flow.answered, unsaved: flow.unsaved, unsavedSinceMs: flow.unsavedSinceMs };
  };
  const read = async (...keys: readonly string[]): Promise<void> => {
    for (const key of keys) world.broker.append(TOPIC, 0, { key, value: key });
    await started(world);
  };
  const end = async (...at: readonly number[]): Promise<void> => {
    for (const index of at) world.flow.started[index]?.end(DELIVERED);
    await settled();
  };

  test('holds what has ended since the last commit, and since when', async () => {
    await read('a', 'b', 'c');
    expect(standing()).toEqual({ answered: 0, unsaved: 0, unsavedSinceMs: null });
    await tick(world, 100);
    const sinceMs = world.clock.monotonicMs();
    await end(1);
    world.clock.advance(20);
    await end(2);
    expect(standing()).toEqual({ answered: 0, unsaved: 2, unsavedSinceMs: sinceMs });
  });

  test('holds nothing that the committed map says, though the committed offset is below it', async () => {
    await read('a', 'b', 'c');
    await end(1, 2);
    await tick(world, 250);
    expect(standing()).toEqual({ answered: 0, unsaved: 0, unsavedSinceMs: null });
  });

  test('holds it while commits fail, and while their outcome is not known', async () => {
    await read('a', 'b');
    await end(1);
    for (const when of ['before', 'after'] as const) {
      world.source.failCommit(when);
      await tick(world, 250);
      expect(standing()).toMatchObject({ unsaved: 1 });
    }
    await tick(world, 250);
    expect(standing()).toMatchObject({ unsaved: 0, unsavedSinceMs: null });
  });

  test('holds what did not fit into the committed map', async () => {
    await read('a', 'b', 'c', 'd', 'e');
    const commit = world.source.commit.bind(world.source);
    world.source.commit = async (commits) => {
      if (commits.some(({ metadata }) => metadata !== '')) throw new Fault('METADATA_TOO_LARGE', 'too large');
      await commit(commits);
    };
    await end(1, 3, 4);
    for (let round = 0; round < 12; round += 1) await tick(world, 250);
    expect(standing()).toMatchObject({ unsaved: 3 });
    expect(standing()?.unsavedSinceMs).not.toBeNull();
    await end(0, 2);
    await tick(world, 250);
    expect(standing()).toEqual({ answered: 0, unsaved: 0, unsavedSinceMs: null });
  });

  test('holds what the service has answered and Kafka has not taken, and no other wait', async () => {
    world.letterAnswer = 'dead_letter_topic';
    Object.assign(world.flow, { isAnswered: (carry: unknown) => carry === 'a score' });
    await read('a', 'b', 'c', 'd');
    world.flow.started[0]?.end({ do: 'wait', forMs: 500, why: 'kafka', carry: 'a score' });
    world.flow.started[1]?.end({ do: 'wait', forMs: 500, why: 'service_down', carry: 'an attempt' });
    world.flow.started[2]?.end({ do: 'dead_letter', letter: { reason: 'status_400', stage: 'score' } });
    await settled();
    expect(standing()).toMatchObject({ answered: 2, unsaved: 0 });
    expect(world.engine.status().flows[0]?.inFlight).toBe(1);
  });

  test('holds no unreadable record whose letter waits: nothing was sent for it', async () => {
    world.letterAnswer = 'dead_letter_topic';
    world.flow.readings = () => ({ do: 'dead_letter', letter: { reason: 'undecodable', stage: 'read' } });
    await read('a');
    expect(world.engine.status().flows[0]).toMatchObject({ buffered: 1, answered: 0 });
  });

  test('forgets what belongs to partitions that are lost', async () => {
    await read('a', 'b');
    await end(1);
    world.source.crash();
    await settled();
    expect(standing()).toEqual({ answered: 0, unsaved: 0, unsavedSinceMs: null });
  });
});

describe('keys that are held', () => {
  let world: World;
  beforeEach(() => {
    world = makeWorld();
  });

  const held = (): number | undefined => world.engine.status().flows[0]?.heldLanes;
  const read = async (...keys: readonly string[]): Promise<void> => {
    for (const key of keys) world.broker.append(TOPIC, 0, { key, value: key });
    await started(world);
  };

  test('are none while records only wait for room', async () => {
    world.flow.limit = 1;
    await read('a', 'b', 'c');
    expect(held()).toBe(0);
  });

  test('are those whose first record waits, not the records behind it', async () => {
    await read('a', 'a', 'a', 'b');
    expect(held()).toBe(0);
    for (const open of world.flow.started) open.end({ do: 'wait', forMs: 60_000, why: 'service_down' });
    await settled();
    expect(held()).toBe(2);
  });

  test('are those whose wait is over too, until their record is tried again', async () => {
    await read('a');
    world.flow.started[0]?.end({ do: 'wait', forMs: 500, why: 'service_down' });
    await settled();
    world.flow.limit = 0;
    await tick(world, 500);
    expect([world.flow.started.length, held()]).toEqual([1, 1]);
    world.flow.limit = 1;
    world.flow.signals?.changed();
    expect([world.flow.started.length, held()]).toEqual([2, 0]);
  });

  test('are all that have records, tried or not, while nothing may go out', async () => {
    world.flow.limit = 1;
    await read('a', 'b', 'b', 'c', 'd');
    world.flow.started[0]?.end({ do: 'wait', forMs: 60_000, why: 'service_down' });
    world.flow.standing = 0;
    world.flow.limit = 0;
    await settled();
    expect(held()).toBe(4);
    world.flow.standing = null;
    expect(held()).toBe(1);
  });

  test('are with those whose record is under way and stands still', async () => {
    world.flow.limit = 2;
    await read('a', 'b', 'c');
    world.flow.standing = 2;
    expect(held()).toBe(3);
  });

  test('are not those whose dead letter is being written: it needs no service', async () => {
    world = makeWorld(undefined, undefined, {
      deadLetters: { write: async () => await new Promise(() => undefined) },
    });
    world.flow.readings = () => ({ do: 'dead_letter', letter: { reason: 'undecodable', stage: 'read' } });
    world.flow.standing = 0;
    await read(...Array.from({ length: 300 }, (_, at) => `k${String(at)}`));
    expect([world.engine.status().flows[0]?.inFlight, held()]).toEqual([300, 0]);
  });

  test('are all that have records while commits fail for so long that nothing starts', async () => {
    world = makeWorld(undefined, 4096);
    world.flow.limit = 2100;
    await read(...Array.from({ length: 2102 }, (_, at) => `k${String(at)}`));
    for (let round = 0; round < 40; round += 1) {
      world.source.failCommit();
      for (const open of world.flow.started.splice(0)) open.end(DELIVERED);
      await tick(world, 250);
    }
    await world.broker.step();
    const { inFlight, buffered } = world.engine.status().flows[0] ?? {};
    expect(inFlight).toBe(0);
    expect(buffered).toBeGreaterThan(0);
    expect(held()).toBe(buffered);
  });
});

test('a map tells how many offsets it had no room for', () => {
  const ranges = fc
    .array(fc.record({ gap: fc.integer({ min: 1, max: 50 }), length: fc.integer({ min: 1, max: 50 }) }))
    .map((pairs) => {
      let end = 0;
      return pairs.map(({ gap, length }) => {
        const from = end + gap;
        end = from + length;
        return { from, length };
      });
    });
  fc.assert(
    fc.property(ranges, fc.integer({ min: 10, max: 120 }), (given, limit) => {
      const map = { clusterHash: 'AAAAAA', nonce: 'x', offset: 0n, timestampMs: null, ranges: given };
      const { complete, leftOut } = encodeMap(map, limit);
      const all = given.reduce((sum, { length }) => sum + length, 0);
      expect(leftOut).toBeLessThanOrEqual(all);
      expect(leftOut > 0).toBe(!complete && all > 0);
    }),
  );
});
