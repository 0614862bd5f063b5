import { expect, test } from 'vitest';
import { clockOf, roundUp, shown } from '../../pictures/scale.ts';

test.each([
  [0, 's', '0 s'],
  [0.02, 's', '20 ms'],
  [45, 's', '45 s'],
  [240, 's', '4 min'],
  [0.338, 'percentunit', '33.8 %'],
  [12_500, 'short', '12.5 k'],
  [2_000_000, 'short', '2 M'],
  [320, 'rps', '320/s'],
  [268_435_456, 'bytes', '256 MiB'],
  [1, 'none', '1'],
  [5, 'a unit that is new', '5'],
])('%d in %s is shown as %s', (value, unit, words) => {
  expect(shown(value, unit)).toBe(words);
});

test.each([
  [0, 'short', 1],
  [0.3, 'short', 0.4],
  [4400, 'short', 5000],
  [9999, 'short', 10_000],
  [75, 's', 120],
  [3.2, 's', 4],
  [300 * 1_048_576, 'bytes', 512 * 1_048_576],
  [100_000, 's', 100_000],
])('above %d in %s the axis ends at %d', (value, unit, end) => {
  expect(roundUp(value, unit)).toBeCloseTo(end, 9);
});

test('seconds are minutes and seconds', () => {
  expect([0, 36, 60, 125].map(clockOf)).toEqual(['0:00', '0:36', '1:00', '2:05']);
});
