import { expect, test } from 'vitest';
import { type MetricsRound, resultOf } from '../../bench/metrics.ts';

const round = (without: number, withThem: number): MetricsRound => ({
  without: { usPerRecord: without, records: 1000, seconds: 1 },
  with: { usPerRecord: withThem, records: 1000, seconds: 1 },
});

test('compares within each round, so that a slow round weighs no more than a quick one', () => {
  const { rows, missed } = resultOf([round(10, 10.1), round(40, 40.8), round(20, 20.2)]);
  expect(rows.at(-1)).toEqual(['more', '1.0 %', '']);
  expect(missed).toEqual([]);
});

test('misses its bar where metrics cost more than 3 %', () => {
  expect(resultOf([round(10, 10.5)]).missed).toEqual(['metrics cost 5.0 % of the CPU, at most 3 %']);
});
