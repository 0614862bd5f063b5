import { expect, test } from 'vitest';
import { resultOf, type ScaleRow } from '../../bench/scale.ts';

const row = (over: Partial<ScaleRow> = {}): ScaleRow => ({
  processes: '4',
  latencyMs: 50,
  rate: 5000,
  share: 0.99,
  cpuPerThousand: 0.1,
  cores: 0.5,
  rssMb: 300,
  joinMs: 2000,
  gapMs: 60,
  disorders: 0,
  overlaps: 0,
  doubled: 0,
  ...over,
});

test('misses nothing where all is as it should be', () => {
  expect(resultOf([row()])).toMatchObject({ missed: [], rows: [expect.arrayContaining(['4', '50', '5000', '0.990'])] });
});

test('misses a share below the bar where the service is the limit, and nowhere else', () => {
  expect(resultOf([row({ share: 0.94 })]).missed).toHaveLength(1);
  expect(resultOf([row({ share: 0.5, latencyMs: 0 }), row({ share: null })]).missed).toEqual([]);
});

test.each(['disorders', 'overlaps', 'doubled'] as const)('misses any %s', (name) => {
  expect(resultOf([row({ [name]: 1, latencyMs: 0 })]).missed).toHaveLength(1);
});

test('has as many cells in each row as columns', () => {
  const { columns, rows } = resultOf([row(), row({ share: null })]);
  for (const cells of rows) expect(cells).toHaveLength(columns.length);
});
