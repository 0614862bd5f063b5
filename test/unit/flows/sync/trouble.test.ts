import { expect, test } from 'vitest';
import { NO_TROUBLE, type Trouble, troubleAfter, type TroubleKind } from '../../../../src/flows/sync/trouble.ts';

const TALLY = { succeeded: 40, failed: 7 };

function go(kinds: readonly TroubleKind[], size: number, from: Trouble = NO_TROUBLE): Trouble {
  return kinds.reduce((before, kind) => troubleAfter(before, { kind, size, tally: TALLY, nowMs: 5 }), from);
}

test('a first 500 is repeated as it is', () => {
  expect(go(['status_500'], 100)).toEqual({ answers: 1, mates: Infinity, suspect: null });
});

test.each<[string, readonly TroubleKind[], number]>([
  ['a time-out', ['timeout'], 50],
  ['a second 500', ['status_500', 'status_500'], 50],
  ['a second error_msg', ['status_500', 'error_msg'], 50],
])('is halved after %s', (_name, kinds, mates) => {
  expect(go(kinds, 100).mates).toBe(mates);
});

test('never grows again, and ends alone', () => {
  let trouble = NO_TROUBLE;
  const sizes: number[] = [];
  for (let size = 100; ; size = trouble.mates) {
    trouble = go(['timeout'], size, trouble);
    sizes.push(trouble.mates);
    if (trouble.mates === 1) break;
  }
  expect(sizes).toEqual([50, 25, 12, 6, 3, 1]);
  expect(go(['timeout'], 100, trouble).mates).toBe(1);
});

test('counts against an update only what was said of it alone, and never a time-out', () => {
  expect(go(['status_500', 'status_500'], 2).suspect).toBeNull();
  expect(go(['timeout', 'timeout'], 1).suspect).toBeNull();
  expect(go(['status_500', 'timeout', 'error_msg'], 1).suspect).toEqual({
    answers: 2,
    sinceMs: 5,
    before: { succeeded: 40, failed: 6 },
  });
});
