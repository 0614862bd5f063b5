import fc from 'fast-check';
import { expect, test } from 'vitest';
import { byPlace, type Candidate, LetterIndex } from '../../../src/dead-letters/letter-index.ts';
import { candidate, FAILED_MS } from './builders.ts';

const at = (offset: number, change: Partial<Candidate> = {}): Candidate =>
  candidate({ offset: BigInt(offset), timestampMs: FAILED_MS + offset, about: String(offset), ...change });

test('more letters than are kept in mind are refused, with what to do', () => {
  const index = new LetterIndex(2);
  for (const offset of [1, 2, 2]) index.add(at(offset));
  expect(() => {
    index.add(at(3));
  }).toThrow(
    expect.objectContaining({ code: 'INDEX_FULL', message: expect.stringContaining('--from and --to') as string }),
  );
});

test('of letters about one record the newest is kept, in whatever order they come', () => {
  for (const order of [
    [1, 2, 3],
    [3, 2, 1],
    [2, 3, 2],
  ]) {
    const index = new LetterIndex();
    for (const offset of order) index.add(at(offset, { about: 'same' }));
    expect(index.oldest(null).map(({ offset }) => offset)).toEqual([3n]);
  }
});

test('a letter that is shown twice is one', () => {
  const index = new LetterIndex();
  index.add(at(1));
  index.add(at(1));
  expect([index.size, index.repeated]).toEqual([1, 0]);
});

test('the oldest are chosen, the same whatever order they come in', () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.nat({ max: 50 })), fc.nat({ max: 60 }), (offsets, limit) => {
      const chosen = (order: readonly number[]): readonly bigint[] => {
        const index = new LetterIndex();
        for (const offset of order) index.add(at(offset, { timestampMs: FAILED_MS + Math.floor(offset / 3) }));
        return index.oldest(limit).map(({ offset }) => offset);
      };
      expect(chosen(offsets)).toEqual(chosen(offsets.toReversed()));
      expect(chosen(offsets)).toEqual(
        offsets
          .toSorted((one, other) => one - other)
          .slice(0, limit)
          .map(BigInt),
      );
    }),
  );
});

test('letters are found by their place', () => {
  expect(byPlace([at(7)]).get('0:7')?.offset).toBe(7n);
});
