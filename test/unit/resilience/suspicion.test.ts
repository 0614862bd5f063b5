import { expect, test } from 'vitest';
import { isAtFault, suspectMore, type Suspect, type Tally } from '../../../src/resilience/suspicion.ts';

const LIMITS = { maxAttempts: 8, refuseAfterMs: 300_000 };
const SUSPECT: Suspect = { answers: 8, sinceMs: 1_000, before: { succeeded: 100, failed: 10 } };
/** As many of its own failures, and others' attempts. */
const after = (succeeded: number, failed = 0): Tally => ({ succeeded: 100 + succeeded, failed: 10 + 8 + failed });
const NOW_MS = 301_000;

test('is at fault after enough answers over enough time, while nearly all others succeed', () => {
  expect(isAtFault(SUSPECT, after(95, 5), LIMITS, NOW_MS)).toBe(true);
  expect(isAtFault(SUSPECT, after(20), LIMITS, NOW_MS)).toBe(true);
});

test.each([
  ['too few answers', { ...SUSPECT, answers: 7 }, after(95, 5), NOW_MS],
  ['too short a time', SUSPECT, after(95, 5), NOW_MS - 1],
  ['others that fail, too', SUSPECT, after(94, 6), NOW_MS],
  ['too few others to tell', SUSPECT, after(19), NOW_MS],
  ['no others', SUSPECT, after(0), NOW_MS],
])('is not proven with %s', (_why, suspect, tally, nowMs) => {
  expect(isAtFault(suspect, tally, LIMITS, nowMs)).toBe(false);
});

test('is judged by what happened since the first answer against it, that answer not included', () => {
  const first = suspectMore(null, { succeeded: 5, failed: 3 }, 7);
  expect(first).toEqual({ answers: 1, sinceMs: 7, before: { succeeded: 5, failed: 2 } });
  expect(suspectMore(first, { succeeded: 50, failed: 9 }, 99)).toEqual({ ...first, answers: 2 });
});
