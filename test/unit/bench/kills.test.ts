import { expect, test } from 'vitest';
import { type KillRow, resultOf } from '../../bench/kills.ts';

const row = (rival: KillRow['rival'], ...repeated: readonly number[]): KillRow => ({
  rival,
  rounds: repeated.map((each) => ({ asked: 5000, rate: 500, repeated: each, awayMs: 31_000 })),
});

test('the middle kill of each counts, and the worst is told', () => {
  const { rows, missed } = resultOf([row('connector', 9, 80, 10), row('each-message', 20, 30, 40)]);
  expect(rows).toEqual([
    ['fraud-screening-connector', '500', '10', '80', '20', '31.0'],
    ['kafkajs eachMessage', '500', '30', '40', '60', '31.0'],
  ]);
  expect(missed).toEqual([]);
});

test('one that repeats less of its work than the connector is a miss', () => {
  expect(resultOf([row('connector', 10), row('aiokafka', 9)]).missed).toEqual([
    'connector: work of 20 ms repeated, aiokafka of 18 ms',
  ]);
});
