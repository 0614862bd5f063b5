import { expect, test } from 'vitest';
import { type AdaptiveRow, resultOf } from '../../bench/adaptive.ts';

const ROW: AdaptiveRow = {
  limit: 'adaptive',
  capacity: 16,
  share: 0.8,
  shareFound: 0.95,
  refused: 1,
  disorders: 0,
  overlaps: 0,
  doubled: 0,
};

test('an adaptive limit misses when it does not find the capacity, a fixed one may', () => {
  expect(resultOf([{ ...ROW, shareFound: 0.5 }]).missed).toEqual(['0.50 of a capacity of 16, at least 0.9']);
  expect(resultOf([ROW, { ...ROW, limit: 'fixed', shareFound: 0.02 }]).missed).toEqual([]);
});

test('both miss when order is broken', () => {
  expect(resultOf([{ ...ROW, limit: 'fixed', overlaps: 1 }]).missed).toHaveLength(1);
});
