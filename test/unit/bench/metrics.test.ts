import { expect, test } from 'vitest';
import { resultOf } from '../../bench/metrics.ts';
import { type Slice } from '../../bench/metrics-cost.ts';

/** Pairs with and without metrics by turns, of so many µs a record each. */
function slices(pairs: readonly (readonly [on: number, off: number])[]): readonly Slice[] {
  return pairs.flatMap(([on, off], index) => {
    const both = [
      { isOn: true, records: 1000, cpuUs: 1000 * on, ms: 1 },
      { isOn: false, records: 1000, cpuUs: 1000 * off, ms: 1 },
    ];
    return index % 2 === 0 ? both : both.toReversed();
  });
}

test('compares neighbours, so that a slow pair weighs no more than a quick one', () => {
  const { rows, missed } = resultOf([
    {
      path: 'plain',
      slices: slices([
        [10.1, 10],
        [40.8, 40],
        [20.2, 20],
      ]),
    },
  ]);
  expect(rows[0]?.slice(4)).toEqual(['1.00 %', '1.00 % to 2.00 %', '3']);
  expect(missed).toEqual([]);
});

test('misses its bar where the upper bound is above 3 %, although the middle is not', () => {
  const { missed } = resultOf([
    {
      path: 'scores',
      slices: slices([
        [10.1, 10],
        [10.5, 10],
        [10.2, 10],
      ]),
    },
  ]);
  expect(missed).toEqual(['score records on: metrics cost up to 5.00 % of the CPU, at most 3 %']);
});

test('tells what all slices together came to, with each record counted once', () => {
  const [row] = resultOf([
    {
      path: 'plain',
      slices: slices([
        [11, 10],
        [33, 30],
      ]),
    },
  ]).rows;
  expect(row?.slice(0, 4)).toEqual(['score records off', '20.00', '22.00', '10.00 %']);
});
