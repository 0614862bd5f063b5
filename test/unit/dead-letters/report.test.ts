import { expect, test } from 'vitest';
import { redriveCounts, redriveExitOf, redriveLines, type RedriveReport } from '../../../src/dead-letters/report.ts';

const report: RedriveReport = {
  id: 'r1',
  topic: 'x.dlq',
  from: 'earliest',
  to: 'latest',
  result: 'done',
  resumed: false,
  read: 10,
  sent: 5,
  skipped: { newer_exists: 2 },
  left: {},
  deadLettered: {},
  repaired: 0,
  unsettled: 0,
  expired: 0,
  durationMs: 1500,
};

test.for([
  ['all was sent or rightly passed over', {}, 0],
  ['nothing was there', { result: 'empty' }, 0],
  ['it was a dry run, whatever that found', { result: 'dry_run', deadLettered: { status_unknown: 1 } }, 0],
  ['a letter was written again', { deadLettered: { status_400: 1 } }, 1],
  ['a letter stays', { left: { source_gone: 1 } }, 1],
  ['it was stopped', { result: 'stopped' }, 1],
  ['newer updates kept coming', { unsettled: 1 }, 1],
] as const)('exits so where %s', ([, change, exit]) => {
  expect(redriveExitOf({ ...report, ...change })).toBe(exit);
});

test('says in lines what was done and why not', () => {
  const whole = redriveLines({
    ...report,
    resumed: true,
    left: { bad_signature: 1 },
    deadLettered: { status_400: 1 },
    repaired: 1,
    unsettled: 1,
    expired: 3,
  });
  expect(whole[0]).toBe('Redrive r1 of x.dlq from earliest to latest is done.');
  for (const said of [
    'skipped newer_exists                   2  a newer update of the transaction is in the topic',
    'left bad_signature                     1  a webhook',
    'dead letter again                      1  status_400',
    'repaired',
    'not settled',
    'expired',
    'took 1.5 s; resumed',
  ])
    expect(whole.join('\n')).toContain(said);
});

test('says of a dry run what would be sent, by day and reason', () => {
  const lines = redriveLines({
    ...report,
    result: 'dry_run',
    wouldSend: [{ day: '2026-01-01', reason: 'status_400', letters: 5 }],
  });
  expect(lines[0]).toContain('nothing was sent');
  expect(lines.join('\n')).toMatch(/would be sent +5[^]*2026-01-01 status_400 +5/);
});

test('says of nothing, and of a stop, that it is so', () => {
  expect(redriveLines({ ...report, result: 'empty' })).toHaveLength(1);
  expect(redriveLines({ ...report, result: 'stopped' })[0]).toContain('was stopped before its end');
});

test('has its counts in one line for the audit', () => {
  expect(redriveCounts(report)).toBe('read 10, sent 5, skipped 2, left 0, dead_lettered 0, repaired 0');
});
