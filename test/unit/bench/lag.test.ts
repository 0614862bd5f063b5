import { describe, expect, test } from 'vitest';
import { resultOf, type Sample } from '../../bench/lag.ts';

/** A minute of samples whose resident memory follows `rssAt` (seconds). */
const samples = (rssAt: (second: number) => number, seconds = 60): readonly Sample[] =>
  Array.from({ length: seconds }, (_, second) => ({
    atMs: 1000 * second,
    answered: 10_000 * second,
    rssMb: rssAt(second),
    heapMb: 50,
    heapUsedMb: 40,
    externalMb: 10,
    buffersMb: 5,
  }));

describe('the memory with a backlog', () => {
  test('that grows misses the bar, with its slope', () => {
    const { missed, rows } = resultOf(
      samples((second) => 100 + second),
      0,
    );
    expect(missed).toEqual(['the memory grew by 32 %, at most 5 %']);
    expect(rows[0]).toEqual(['rss', '137', '159', '60.0', '100.0']);
  });

  test('of too few samples says nothing', () => {
    expect(
      resultOf(
        samples(() => 100, 8),
        0,
      ).missed,
    ).toEqual(['fewer than 10 samples: more records, or more seconds']);
  });

  test('is of no use where the order was broken', () => {
    expect(
      resultOf(
        samples(() => 100),
        1,
      ).missed,
    ).toEqual(['order, overlaps and doubled must be 0']);
  });

  test('is flat where it fills up at the beginning only', () => {
    expect(
      resultOf(
        samples((second) => Math.min(150, 100 + 5 * second)),
        0,
      ).missed,
    ).toEqual([]);
  });
});
