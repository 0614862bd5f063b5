import fc from 'fast-check';
import { expect, test } from 'vitest';
import { BucketCounts, OPERATION_SECONDS, WAY_SECONDS } from '../../../src/kernel/bucket-counts.ts';

test('a number on a bound belongs below it, one above the last bound to the rest', () => {
  const counts = new BucketCounts([1, 2]);
  for (const value of [1, 1.5, 2, 2.1, 1e9]) counts.add(value);
  expect([...counts.counts]).toEqual([1, 2, 2]);
});

test('every number is in exactly one bucket, between its bounds; sum and count are of all', () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.double({ min: -10, max: 10, noNaN: true }), { maxLength: 20 }),
      fc.array(fc.double({ min: -20, max: 20, noNaN: true }), { maxLength: 50 }),
      (unsorted, values) => {
        const bounds = unsorted.toSorted((one, other) => one - other);
        const counts = new BucketCounts(bounds);
        for (const value of values) counts.add(value);
        const between = (index: number): number =>
          values.filter((value) => value <= (bounds[index] ?? Infinity) && value > (bounds[index - 1] ?? -Infinity))
            .length;
        expect([...counts.counts]).toEqual(Array.from({ length: bounds.length + 1 }, (_, index) => between(index)));
        expect(counts.count).toBe(values.length);
        expect(counts.sum).toBeCloseTo(
          values.reduce((sum, value) => sum + value, 0),
          6,
        );
      },
    ),
  );
});

test.each([OPERATION_SECONDS, WAY_SECONDS])('the bounds that are shared rise', (...bounds) => {
  expect(bounds.length).toBeGreaterThan(10);
  expect(bounds).toEqual(bounds.toSorted((one, other) => one - other));
});
