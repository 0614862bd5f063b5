import { describe, expect, test } from 'vitest';
import { type Membership } from '../../../../src/edges/kafka/coordinator-repair.ts';
import { Heart } from '../../../../src/edges/kafka/heart.ts';
import { ManualClock, settled } from '../../../support/manual-clock.ts';

const beating = (heartbeat: () => Promise<void>, sessionTimeoutMs = 6000) => {
  const clock = new ManualClock();
  const said: string[] = [];
  let isMember = true;
  const membership: Membership = {
    beats: 0,
    heartbeat: async () => {
      said.push('beat');
      await heartbeat();
    },
    findCoordinator: async () => {
      said.push('look');
      return await Promise.resolve(true);
    },
  };
  const heart = new Heart({
    clock,
    sessionTimeoutMs,
    intervalMs: sessionTimeoutMs / 10,
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
    pass,
    leave: () => {
      isMember = false;
    },
  };
};
const never = async (): Promise<void> => {
  await Promise.withResolvers<undefined>().promise;
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

  test('tries every second while heartbeats fail, however long the session is', async () => {
    const { pass } = beating(async () => await Promise.reject(new Error('refused')), 30_000);
    await pass(3000);
    expect((await pass(5000)).length).toBe(5);
  });

  test('asks who coordinates when an answer is late, and sends no second heartbeat after it', async () => {
    const { pass } = beating(never);
    expect(await pass(2000)).toEqual(['beat']);
    expect(await pass(600)).toEqual(['look']);
  });
});
