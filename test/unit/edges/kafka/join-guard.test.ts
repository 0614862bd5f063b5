import { type Cluster } from 'kafkajs';
import { describe, expect, test } from 'vitest';
import { JoinGuard } from '../../../../src/edges/kafka/join-guard.ts';
import { settled } from '../../../support/manual-clock.ts';

type Find = Cluster['findGroupCoordinator'];
const COORDINATOR = {} as Awaited<ReturnType<Find>>;
const GROUP = { groupId: 'g' };

/** A guarded connection whose barriers and look-ups end when told. */
const guarded = () => {
  const barriers: PromiseWithResolvers<void>[] = [];
  const lookUps: PromiseWithResolvers<void>[] = [];
  const guard = new JoinGuard(async () => {
    const barrier = Promise.withResolvers<void>();
    barriers.push(barrier);
    await barrier.promise;
  });
  const cluster: { findGroupCoordinator: Find } = {
    findGroupCoordinator: async () => {
      const lookUp = Promise.withResolvers<void>();
      lookUps.push(lookUp);
      await lookUp.promise;
      return COORDINATOR;
    },
  };
  guard.guard(cluster);
  const mayJoin: string[] = [];
  const join = (name: string): void => {
    void cluster.findGroupCoordinator(GROUP).then(() => mayJoin.push(name));
  };
  return { guard, join, barriers, lookUps, mayJoin };
};

describe('the barrier before a join', () => {
  test('is passed before the coordinator is looked up', async () => {
    const { join, barriers, lookUps, mayJoin } = guarded();
    join('a');
    await settled();
    expect(lookUps).toHaveLength(0);
    barriers[0]?.resolve();
    await settled();
    lookUps[0]?.resolve();
    await settled();
    expect(mayJoin).toEqual(['a']);
  });

  test('is shared by all who want to join before a join has succeeded, repeats included', async () => {
    const { guard, join, barriers, lookUps, mayJoin } = guarded();
    join('a');
    join('b');
    barriers[0]?.resolve();
    await settled();
    join('a again');
    await settled();
    for (const lookUp of lookUps) lookUp.resolve();
    await settled();
    expect(barriers).toHaveLength(1);
    expect(mayJoin).toEqual(['a', 'b', 'a again']);
    expect(guard.isUp).toBe(true);
  });

  test('is passed anew by each join after one that has succeeded', async () => {
    const { guard, join, barriers } = guarded();
    join('a');
    barriers[0]?.resolve();
    await settled();
    guard.joined();
    expect(guard.isUp).toBe(false);
    join('b');
    expect(barriers).toHaveLength(2);
  });

  test('is passed again by one who shared it and has not joined when another has', async () => {
    const { guard, join, barriers, lookUps, mayJoin } = guarded();
    join('a');
    join('b');
    barriers[0]?.resolve();
    await settled();
    lookUps[0]?.resolve();
    await settled();
    guard.joined();
    lookUps[1]?.resolve();
    await settled();
    expect(mayJoin).toEqual(['a']);
    expect(barriers).toHaveLength(2);
    barriers[1]?.resolve();
    await settled();
    lookUps[2]?.resolve();
    await settled();
    expect(mayJoin).toEqual(['a', 'b']);
  });
});
