import { expect, test } from 'vitest';
import { countsText, type Ended, headlineOf, rowsInto, sumOf, tookLine } from '../../../src/kernel/report-text.ts';

const ENDED: Omit<Ended, 'result'> = { id: 'r1', topic: 'updates', from: 'earliest', to: 'latest' };

test.each<[Ended['result'], string]>([
  ['done', 'Replay r1 of updates from earliest to latest is done.'],
  ['stopped', 'Replay r1 of updates from earliest to latest was stopped before its end.'],
  ['dry_run', 'Dry run of updates from earliest to latest: nothing was sent.'],
  ['empty', 'The range is empty: updates from earliest to latest holds no records now. Nothing was sent.'],
])('begins with how it ended: %s', (result, line) => {
  expect(headlineOf({ ...ENDED, result }, 'Replay', 'records')).toBe(line);
});

test('writes numbers under each other, and a note only where there is one', () => {
  const lines: string[] = [];
  const row = rowsInto(lines);
  row('read', 1_234_567);
  row('skipped tombstone', 5, 'has no value');
  expect(lines).toEqual([
    '  read                           1,234,567',
    '  skipped tombstone                      5  has no value',
  ]);
});

test('ends with how long it took, and says where its numbers are not all', () => {
  expect(tookLine({ durationMs: 61_249, resumed: false })).toBe('  took 61.2 s');
  expect(tookLine({ durationMs: 1_234_500, resumed: true })).toBe(
    '  took 1,234.5 s; resumed: the numbers are of this start',
  );
});

test('is one short text for an audit line', () => {
  expect(countsText({ read: 10, sent: sumOf({ a: 3, b: undefined, c: 4 }) })).toBe('read 10, sent 7');
  expect(sumOf({})).toBe(0);
});
