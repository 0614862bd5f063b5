import { expect, test } from 'vitest';
import { resultOf as ceilingResult, type CeilingRow } from '../../bench/ceiling.ts';
import { resultOf as engineResult } from '../../bench/engine.ts';
import { tableLines } from '../../bench/result.ts';
import { median, slopeOf } from '../../bench/statistics.ts';

const ROW: CeilingRow = {
  keys: 'zipf',
  rate: 95,
  ceiling: 100,
  share: 0.95,
  latencyMs: 50,
  answeredPerSecond: 900,
  hottestShare: 0.2,
  cpuPerThousand: 0.1,
  rssMb: 150,
  disorders: 0,
  overlaps: 0,
  doubled: 0,
};

test('a share below the bar of its keys is a miss, and so is a broken order', () => {
  expect(ceilingResult([ROW]).missed).toEqual([]);
  expect(ceilingResult([{ ...ROW, keys: 'even' }]).missed).toEqual(['even keys: 0.950 of the ceiling, at least 0.97']);
  expect(ceilingResult([{ ...ROW, overlaps: 1 }]).missed).toEqual(['zipf keys: order, overlaps and doubled must be 0']);
});

test('a record that costs the engine more than its bar is a miss', () => {
  const found = { partitions: 12, keys: 10, records: 1000, usPerRecord: 4.5, seconds: 1, rssMb: 90 };
  const { rows, missed } = engineResult([found]);
  expect(rows[1]).toEqual(['12 partitions', '4.50', '-', '-']);
  expect(missed).toEqual(['12 partitions, 10 keys: 4.5 µs, at most 4']);
});

test('a table has its first column to the left and the others to the right', () => {
  expect(tableLines({ columns: ['keys', 'rate'], rows: [['even', '7']] })).toEqual(['keys  rate', 'even     7']);
});

test('the median is the middle one, the slope that of the best line', () => {
  expect([median([]), median([5, 1, 3])]).toEqual([0, 3]);
  const line = [1, 2, 3].map((x) => ({ x, y: 2 * x + 1 }));
  expect([slopeOf(line), slopeOf([]), slopeOf(line.slice(0, 1))]).toEqual([2, 0, 0]);
});
