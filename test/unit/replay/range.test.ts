import { describe, expect, test } from 'vitest';
import { type Position } from '../../../src/replay/position.ts';
import { type Mark, type RangeEnd, resolveRange } from '../../../src/replay/range.ts';

const MARKS: readonly Mark[] = [
  { partition: 0, low: 0n, high: 100n },
  { partition: 1, low: 40n, high: 60n },
  { partition: 2, low: 7n, high: 7n },
];

function end(position: Position, offsets: readonly (readonly [number, bigint])[] = []): RangeEnd {
  return { position, offsets: new Map(offsets) };
}
const EARLIEST = end({ do: 'earliest' });
const LATEST = end({ do: 'latest' });
const at = (ms: number, ...offsets: readonly (readonly [number, bigint])[]): RangeEnd => end({ do: 'at', ms }, offsets);
const list = (...offsets: readonly (readonly [number, bigint])[]): RangeEnd =>
  end({ do: 'offsets', offsets: new Map(offsets) });
const spans = (from: RangeEnd, to: RangeEnd): unknown =>
  [...resolveRange(MARKS, from, to).spans].map(([partition, span]) => [partition, Number(span.from), Number(span.end)]);

describe('a range', () => {
  test.each<[string, RangeEnd, RangeEnd, RegExp]>([
    ['an end before its start, by time', at(2000), at(1000), /^The end of the range lies before its start\.$/],
    ['an end before its start, by offset', list([0, 9n]), list([0, 8n]), /before its start in partition 0/],
    ['latest to earliest', LATEST, EARLIEST, /before its start in partition 0/],
    ['a partition that is not there', list([3, 0n]), LATEST, /^--from: there is no partition 3; there are 3\.$/],
    ['an end that is still to come', EARLIEST, list([1, 61n]), /^--to: 1:61 lies in the future; .* ends at 60\.$/],
  ])('refuses %s', (_, from, to, message) => {
    expect(() => spans(from, to)).toThrow(message);
  });

  test('is the whole log from earliest to latest', () => {
    expect(spans(EARLIEST, LATEST)).toEqual([
      [0, 0, 100],
      [1, 40, 60],
      [2, 7, 7],
    ]);
  });

  test('leaves out partitions that a list of offsets does not name', () => {
    expect(spans(list([1, 50n]), LATEST)).toEqual([
      [0, 100, 100],
      [1, 50, 60],
      [2, 7, 7],
    ]);
  });

  test('begins at a time where the log has it, and at the end where it has nothing later', () => {
    expect(spans(at(1000, [0, 20n], [1, 45n]), LATEST)).toEqual([
      [0, 20, 100],
      [1, 45, 60],
      [2, 7, 7],
    ]);
  });

  test('is empty where timestamps that fall put two times the wrong way round', () => {
    expect(spans(at(1000, [0, 30n]), at(2000, [0, 20n]))).toEqual([
      [0, 30, 30],
      [1, 60, 60],
      [2, 7, 7],
    ]);
  });

  test('keeps offsets that have expired: what is gone is counted when it is read', () => {
    expect(spans(list([1, 3n]), list([1, 50n]))).toEqual([
      [0, 100, 100],
      [1, 3, 50],
      [2, 7, 7],
    ]);
  });

  test('says how much may be gone where the log begins within a range of time', () => {
    const { mayBeGone } = resolveRange(MARKS, at(1000, [0, 0n], [1, 40n], [2, 7n]), LATEST);
    expect(mayBeGone).toBe(47n);
    expect(resolveRange(MARKS, EARLIEST, LATEST).mayBeGone).toBe(0n);
  });
});
