import fc from 'fast-check';
import { expect, test } from 'vitest';
import { editDistance, judgeUnknownNames } from '../../../src/config/unknown-names.ts';

test.each([
  ['', '', 0],
  ['', 'abc', 3],
  ['KAFKA_BROKER', 'KAFKA_BROKERS', 1],
  ['KAKFA_BROKERS', 'KAFKA_BROKERS', 2],
  ['flaw', 'lawn', 2],
])('the distance from %j to %j is %i', (one, other, distance) => {
  expect(editDistance(one, other)).toBe(distance);
});

test('the distance is symmetric, zero only for equals, and at most the longer length', () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 20 }), fc.string({ maxLength: 20 }), (one, other) => {
      const distance = editDistance(one, other);
      expect(distance).toBe(editDistance(other, one));
      expect(distance === 0).toBe(one === other);
      expect(distance).toBeLessThanOrEqual(Math.max(one.length, other.length));
    }),
  );
});

test('says the same in whatever order the environment is', () => {
  const forth = { KAFKA_FOO: '1', KAFKA_BAR: '1' };
  const back = { KAFKA_BAR: '1', KAFKA_FOO: '1' };
  expect(judgeUnknownNames(forth, false)).toEqual(judgeUnknownNames(back, false));
});

test.each([
  ['FLOODGATE_MAX_SHARE', 'DEAD_LETTER_MAX_SHARE'],
  ['PARK_POSITIONS', 'DEAD_LETTER_OFFSETS'],
])('%s is an error that names %s, whatever stands by its side', (old, now) => {
  for (const isLenient of [false, true]) {
    const { problems } = judgeUnknownNames({ [old]: '1', [now]: '1' }, isLenient);
    expect(problems).toEqual([expect.stringMatching(new RegExp(`^${old}: .*${now}`))]);
  }
});

test('an old name that is set to nothing is no error', () => {
  expect(judgeUnknownNames({ PARK_POSITIONS: '' }, false)).toEqual({ problems: [], warnings: [] });
});
