import fc from 'fast-check';
import { expect, test } from 'vitest';
import { askedWaitMs, backoffMs, fullJitter } from '../../../src/resilience/backoff.ts';

test.each([
  [1, 200],
  [2, 400],
  [3, 800],
  [8, 25_600],
  [9, 30_000],
  [1_000_000, 30_000],
])('draws from nothing to the ceiling of attempt %i: %i ms', (attempt, ceiling) => {
  expect(fullJitter(attempt, () => 0)).toBe(0);
  expect(fullJitter(attempt, () => 0.5)).toBe(ceiling / 2);
  expect(fullJitter(attempt, () => 0.999_999)).toBeLessThan(ceiling);
});

test('is never negative and never more than 30 s', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: -5, max: 1_000 }),
      fc.double({ min: 0, max: 0.999_999, noNaN: true }),
      (attempt, drawn) => {
        const waitMs = fullJitter(attempt, () => drawn);
        expect(waitMs).toBeGreaterThanOrEqual(0);
        expect(waitMs).toBeLessThanOrEqual(30_000);
      },
    ),
  );
});

test.each([
  [1, 200],
  [2, 400],
  [8, 25_600],
  [9, 51_200],
  [10, 60_000],
  [1_000_000, 60_000],
])('a record waits after attempt %i at least half and at most all of %i ms', (attempt, ceiling) => {
  expect(backoffMs(attempt, () => 0)).toBe(ceiling / 2);
  expect(backoffMs(attempt, () => 0.5)).toBe(ceiling * 0.75);
  expect(backoffMs(attempt, () => 0.999_999)).toBeLessThan(ceiling);
});

test('waits at least as long as the other side asks, and at most a second more', () => {
  expect(askedWaitMs(7_000, () => 0)).toBe(7_000);
  expect(askedWaitMs(7_000, () => 0.5)).toBe(7_500);
  expect(askedWaitMs(null, () => 0.5)).toBeNull();
});
