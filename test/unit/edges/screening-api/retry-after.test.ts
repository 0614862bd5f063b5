import { expect, test } from 'vitest';
import { readRetryAfter } from '../../../../src/edges/screening-api/retry-after.ts';

const NOW = Date.UTC(2026, 10, 22, 8, 49, 0);

test.each([
  undefined,
  '',
  ' ',
  'soon',
  '-1',
  '1.5',
  '7s',
  '0x10',
  'Sun, 06 Nov 1994 08:49:37',
  'Sun, 31 Feb 1994 08:49:37 GMT',
  'Sun, 06 Abc 1994 08:49:37 GMT',
])('cannot read %j', (header) => {
  expect(readRetryAfter(header, NOW)).toBeNull();
});

test.each([
  ['0', 0],
  ['7', 7_000],
  [' 7 ', 7_000],
  ['300', 300_000],
  ['1000000000', 300_000],
  ['9'.repeat(400), 300_000],
  ['Sun, 22 Nov 2026 08:49:37 GMT', 37_000],
  ['Sunday, 22-Nov-26 08:49:37 GMT', 37_000],
  ['Sunday, 06-Nov-94 08:49:37 GMT', 0],
  ['Sun Nov 22 08:49:37 2026', 37_000],
  ['Sun Nov  1 08:49:37 2026', 0],
  ['Sun, 06 Nov 1994 08:40:00 GMT', 0],
  ['Sun, 06 Nov 2044 08:49:37 GMT', 300_000],
])('reads %j as %j ms', (header, waitMs) => {
  expect(readRetryAfter(header, NOW)).toBe(waitMs);
});

test('takes the first of several', () => {
  expect(readRetryAfter(['7', '9'], NOW)).toBe(7_000);
});
