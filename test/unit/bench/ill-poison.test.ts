import { describe, expect, test } from 'vitest';
import { type PoisonFigures, resultOf } from '../../bench/ill-poison.ts';

const ONE: PoisonFigures = {
  part: 'one poison',
  updates: 10_000,
  delivered: 9_999,
  calls: 115,
  letters: 1,
  holds: [],
  seconds: 2,
};
const ALL: PoisonFigures = {
  part: 'all refused',
  updates: 0,
  delivered: 0,
  calls: 900,
  letters: 9,
  holds: ['service_refuses'],
  seconds: 60,
};
const AGAIN: PoisonFigures = { ...ONE, part: 'well again', delivered: 9_991, calls: 120, letters: 0 };

describe('refusals', () => {
  test.each<[string, readonly PoisonFigures[], string]>([
    ['a mate of the poison that was not delivered', [{ ...ONE, delivered: 9_998 }], '9998 delivered'],
    ['letters of its mates', [{ ...ONE, letters: 2 }], '2 letters, must be 1'],
    ['too many calls for one', [{ ...ONE, calls: 1_000 }], '1000 calls, at most 214'],
    ['letters in place of a hold', [ONE, { ...ALL, letters: 100 }], '100 letters, at most 20'],
    ['no hold', [ONE, { ...ALL, holds: [] }], 'no hold'],
    ['updates that stay away afterwards', [ONE, ALL, { ...AGAIN, delivered: 9_000 }], '9000 delivered'],
  ])('miss by %s', (_what, parts, missed) => {
    expect(resultOf(parts).missed).toEqual([expect.stringContaining(missed)]);
  });

  test('miss nothing where one poison is one letter, and a service that refuses all a hold', () => {
    expect(resultOf([ONE, ALL, AGAIN]).missed).toEqual([]);
  });
});
