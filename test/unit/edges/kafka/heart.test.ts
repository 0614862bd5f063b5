import { describe, expect, test } from 'vitest';
import { type Membership } from '../../../../src/edges/kafka/coordinator-repair.ts';
import { Heart } from '../../../../src/edges/kafka/heart.ts';
import { ManualClock, settled } from '../../../support/manual-clock.ts';

const confirmed = async (): Promise<void> => {
  await Promise.resolve();
};

type Beat = () => Promise<void>;

const beating = (
  beat: Beat | Pick<Membership, 'beats' | 'heartbeat'>,
  { sessionTimeoutMs = 6000, confirm = confirmed } = {},
) => {
  const kafkajs = typeof beat === 'function' ? { beats: 0, heartbeat: beat } : beat;
  const clock = new ManualClock();
  const said: string[] = [];
  let isMember = true;
  const fence = {
    hasLapsed: false,
    confirmedAtMs: null as number | null,
    confirmed: (sentAtMs: number) => {
      fence.confirmedAtMs = sentAtMs;
      fence.hasLapsed = false;
    },
  };
  const membership: Membership = {
    get beats() {
      return kafkajs.beats;
    },
    heartbeat: async (intervalMs) => {
      said.push('beat');
      await kafkajs.heartbeat(intervalMs);
    },
    confirm: async () => {
      said.push('confirm');
      await confirm();
    },
    commit: async () => await Promise.resolve(),
    findCoordinator: async () => {
      said.push('look');
      return await Promise.resolve(true);
    },
  };
  const heart = new Heart({
    clock,
    sessionTimeoutMs,
    intervalMs: sessionTimeoutMs / 10,
    fence,
    membership: () => (isMember ? membership : null),
  });
  const pass = async (ms: number): Promise<string[]> => {
    said.length = 0;
    for (let passed = 0; passed < ms; passed += 100) {
      clock.advance(100);
      await settled();
    }
    return [...said];
  };
  heart.start();
  return {
    clock,
    heart,
    fence,
    pass,
    leave: () => {
      isMember = false;
    },
  };
};
const never = async (): Promise<void> => {
  await Promise.withResolvers<undefined>().promise;
};

/** Sends as kafkajs does: when the last answer is `intervalMs` old by the wall clock. */
const byTheWallClock = () => {
  const membership = { beats: 0, heartbeat: async (_intervalMs: number) => await Promise.resolve() };
  const wall = { nowMs: 0, lastMs: 0, sent: 0 };
  membership.heartbeat = async (intervalMs) => {
    await Promise.resolve();
    if (wall.nowMs < wall.lastMs + intervalMs) return;
    wall.lastMs = wall.nowMs;
    wall.sent += 1;
    membership.beats += 1;
  };
  return { membership, wall };
};

describe('the heart of a membership', () => {
  test('is silent while there is no generation to belong to', async () => {
    const { pass, leave } = beating(async () => await Promise.resolve());
    leave();
    expect(await pass(6000)).toEqual([]);
  });

  test('says nothing any more when it is stopped', async () => {
    const { pass, heart, clock } = beating(async () => await Promise.resolve());
    heart.stop();
    expect(await pass(6000)).toEqual([]);
    expect(clock.pending).toBe(0);
  });

  test('beats ten times a session, whoever else does', async () => {
    const { pass } = beating(async () => await Promise.resolve());
    expect(await pass(6000)).toEqual(Array.from({ length: 10 }, () => 'beat'));
  });

  test('beats on when the wall clock is set back', async () => {
    const { membership, wall } = byTheWallClock();
    const { pass } = beating(membership);
    wall.nowMs = 50_000_000;
    await pass(600);
    wall.nowMs = 3_000_000;
    await pass(600);
    expect(wall.sent).toBe(2);
  });

  test('leaves a beat out where kafkajs has just sent one of its own', async () => {
    const { membership, wall } = byTheWallClock();
    const { pass } = beating(membership);
    await pass(600);
    wall.nowMs = 1100;
    await membership.heartbeat(600);
    wall.nowMs = 1200;
    await pass(600);
    expect(wall.sent).toBe(2);
  });

  test('tries every second while heartbeats fail, however long the session is', async () => {
    const { pass } = beating(async () => await Promise.reject(new Error('refused')), {
      sessionTimeoutMs: 30_000,
    });
    await pass(3000);
    expect((await pass(5000)).length).toBe(5);
  });

  test('has the membership confirmed after an answered heartbeat, once the lease has lapsed', async () => {
    const { pass, fence, clock } = beating(async () => await Promise.resolve());
    fence.hasLapsed = true;
    const sentAtMs = clock.monotonicMs() + 600;
    expect(await pass(1200)).toEqual(['beat', 'confirm', 'beat']);
    expect(fence.confirmedAtMs).toBe(sentAtMs);
  });

  test('asks again at each heartbeat while it is refused, and takes no refusal for a confirmation', async () => {
    const { pass, fence } = beating(async () => await Promise.resolve(), {
      confirm: async () => await Promise.reject(new Error('REBALANCE_IN_PROGRESS')),
    });
    fence.hasLapsed = true;
    expect(await pass(1200)).toEqual(['beat', 'confirm', 'beat', 'confirm']);
    expect(fence.confirmedAtMs).toBeNull();
  });

  test('has nothing confirmed when a join has begun during the heartbeat: its sync would be taken for the join’s', async () => {
    const { pass, fence, leave } = beating(async () => {
      leave();
      await Promise.resolve();
    });
    fence.hasLapsed = true;
    expect(await pass(1200)).toEqual(['beat']);
    expect(fence.confirmedAtMs).toBeNull();
  });

  test('asks who coordinates when an answer is late, and sends no second heartbeat after it', async () => {
    const { pass } = beating(never);
    expect(await pass(2000)).toEqual(['beat']);
    expect(await pass(600)).toEqual(['look']);
  });
});
