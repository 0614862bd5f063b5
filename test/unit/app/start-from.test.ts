import { describe, expect, test } from 'vitest';
import { readStartFrom, settleStart } from '../../../src/app/start-from.ts';
import { type Config } from '../../../src/config/config.ts';
import { type KafkaAdmin } from '../../../src/edges/kafka/admin.ts';
import { type EventFields } from '../../../src/kernel/emit.ts';
import { StopRequest } from '../../../src/lifecycle/stop-request.ts';
import { ManualClock, settled } from '../../support/manual-clock.ts';

const NOW = Date.UTC(2026, 0, 10);

interface Topic {
  committed: boolean;
  /** Offset of the first record of the last hour. */
  recent: bigint;
}

function rig(startFrom: string | null, topic: Topic) {
  const commits: (readonly [number, bigint])[][] = [];
  const holds: EventFields['hold_started'][] = [];
  const admin = {
    hasCommitted: async () => await Promise.resolve(topic.committed),
    watermarks: async () => await Promise.resolve([{ partition: 0, low: 10n, high: 50n }]),
    offsetsAt: async (_topic: string, ms: number) =>
      await Promise.resolve(new Map([[0, ms >= NOW - 3_600_000 ? topic.recent : 20n]])),
    commitFor: async (_group: string, _topic: string, offsets: ReadonlyMap<number, bigint>) => {
      await Promise.resolve();
      commits.push([...offsets]);
    },
  } as unknown as KafkaAdmin;
  const stop = new StopRequest();
  const clock = new ManualClock(NOW);
  const settle = settleStart({
    admin,
    config: { kafka: { groupId: 'g', startFrom } } as Config,
    topics: ['payments.created'],
    clock,
    draw: () => 0.5,
    emit: (event, fields) => {
      if (event === 'hold_started') holds.push(fields as EventFields['hold_started']);
    },
    stop,
  });
  return { settle, commits, holds, stop, clock };
}

describe('where a new group begins', () => {
  test('refuses a time that is none', () => {
    expect(() => readStartFrom('2026-02-30T00:00:00Z', NOW)).toThrow(/KAFKA_START_FROM/);
  });

  test('understands times and spans', () => {
    expect(readStartFrom('-24h', NOW)).toEqual({ do: 'at', ms: NOW - 86_400_000 });
    expect(readStartFrom('2026-01-01T00:00:00Z', NOW)).toEqual({ do: 'at', ms: Date.UTC(2026, 0, 1) });
    expect(readStartFrom('latest', NOW)).toEqual({ do: 'latest' });
  });

  test('holds on a topic with old records, says how many would be sent, and goes on when another process has begun', async () => {
    const topic: Topic = { committed: false, recent: 49n };
    const { settle, holds, clock } = rig(null, topic);
    await settled();
    expect(holds).toMatchObject([{ cause: 'start_position', scope: 'payments.created' }]);
    expect(holds[0]?.error).toContain('40 records');
    topic.committed = true;
    clock.advance(10_000);
    expect(await settle).toBe(true);
  });

  test('ends its hold when a stop is asked for', async () => {
    const { settle, stop } = rig(null, { committed: false, recent: 49n });
    await settled();
    stop.ask('SIGTERM');
    expect(await settle).toBe(false);
  });

  test('begins by itself where all records are of the last hour', async () => {
    const { settle, commits } = rig(null, { committed: false, recent: 10n });
    expect(await settle).toBe(true);
    expect(commits).toEqual([]);
  });

  test('begins where it was told: at the end, or at a time; earliest needs no commit', async () => {
    const fresh = { committed: false, recent: 49n };
    const latest = rig('latest', fresh);
    expect(await latest.settle).toBe(true);
    expect(latest.commits).toEqual([[[0, 50n]]]);
    const dayAgo = rig('-24h', fresh);
    expect(await dayAgo.settle).toBe(true);
    expect(dayAgo.commits).toEqual([[[0, 20n]]]);
    const earliest = rig('earliest', fresh);
    expect(await earliest.settle).toBe(true);
    expect(earliest.commits).toEqual([]);
  });

  test('changes nothing for a group that is known', async () => {
    const { settle, commits } = rig('latest', { committed: true, recent: 49n });
    expect(await settle).toBe(true);
    expect(commits).toEqual([]);
  });
});
