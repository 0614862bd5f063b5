import { describe, expect, test } from 'vitest';
import { replayCounts, exitOf, outcomesOf, reportLines, type ReplayReport } from '../../../src/replay/report.ts';

const DONE: ReplayReport = {
  id: 'x',
  topic: 't',
  from: '-24h',
  to: 'latest',
  result: 'done',
  resumed: false,
  partitions: [{ partition: 0, from: '0', end: '2000' }],
  read: 2000,
  sent: 1500,
  skipped: { newer_exists: 500 },
  deadLettered: {},
  repaired: 3,
  unsettled: 0,
  expired: 0,
  mayHaveExpired: 0,
  inSeveralPartitions: 0,
  liveBehind: 0,
  durationMs: 2500,
};
const text = (change: Partial<ReplayReport> = {}): string => reportLines({ ...DONE, ...change }).join('\n');

describe('the exit code of a replay', () => {
  test.each<[Partial<ReplayReport>, number]>([
    [{}, 0],
    [{ result: 'empty' }, 0],
    [{ result: 'dry_run', deadLettered: { ts_invalid: 1 } }, 0],
    [{ result: 'stopped' }, 1],
    [{ deadLettered: { ts_invalid: 1 } }, 1],
    [{ unsettled: 1 }, 1],
  ])('of %j is %i', (change, exit) => {
    expect(exitOf({ ...DONE, ...change })).toBe(exit);
  });
});

describe('the report for people', () => {
  test('begins with what came of it and has a line for each count', () => {
    expect(text().split('\n')[0]).toBe('Replay x of t from -24h to latest is done.');
    expect(text()).toMatch(/read +2,000\n +sent +1,500\n +skipped newer_exists +500\n +repaired +3\n/);
    expect(text()).toContain('took 2.5 s');
  });

  test('says why the exit code is 1, and which letters', () => {
    expect(text({ deadLettered: { ts_invalid: 2 } })).toMatch(/dead letter +2 +ts_invalid/);
    expect(text({ unsettled: 4 })).toMatch(/not settled +4 +newer updates kept coming/);
  });

  test('says what is gone, and what nobody can know', () => {
    expect(text({ expired: 7 })).toMatch(/expired before reading +7/);
    expect(text({ mayHaveExpired: 9 })).toMatch(/may have expired +9 +older offsets are gone/);
    expect(text({ liveBehind: 5 })).toMatch(/the live group has to come +5/);
    expect(text({ inSeveralPartitions: 1 })).toMatch(/in several partitions +1/);
  });

  test('an empty range is said to be empty, with what may have expired', () => {
    expect(text({ result: 'empty' })).toBe(
      'The range is empty: t from -24h to latest holds no records now. Nothing was sent.',
    );
    expect(text({ result: 'empty', mayHaveExpired: 3 })).toMatch(/may have expired +3/);
  });

  test('a dry run speaks of what would be, by day and status', () => {
    const dry = text({
      result: 'dry_run',
      deadLettered: { ts_invalid: 1 },
      wouldSend: [{ day: '2026-03-01', status: 'approved', updates: 1500 }],
    });
    expect(dry).toContain('Dry run of t from -24h to latest: nothing was sent.');
    expect(dry).toMatch(/would be sent +1,500/);
    expect(dry).toMatch(/would be dead letter +1 +ts_invalid/);
    expect(dry).toMatch(/2026-03-01 approved +1,500/);
    expect(dry).not.toContain('repaired');
  });

  test('says that the counts of a resumed replay are of this start', () => {
    expect(text({ resumed: true })).toContain('resumed: the numbers are of this start');
    expect(text({ result: 'stopped' })).toContain('was stopped before its end');
  });
});

test('the counts in one line', () => {
  expect(replayCounts({ ...DONE, deadLettered: { a: 1, b: 2 } })).toBe(
    'read 2000, sent 1500, skipped 500, dead_lettered 3, repaired 3',
  );
});

test('outcomes are told apart by their kind', () => {
  const outcomes = { delivered: 1, 'skip:tombstone': 2, 'dead_letter:ts_invalid': 3 };
  expect(outcomesOf(outcomes, 'skip')).toEqual({ tombstone: 2 });
  expect(outcomesOf(outcomes, 'dead_letter')).toEqual({ ts_invalid: 3 });
});
