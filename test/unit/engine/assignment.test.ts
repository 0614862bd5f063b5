import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { assignUnits, type Claimant, NO_CLAIM } from '../../../src/engine/assignment.ts';

const member = (id: string, generation = -1, units: number[] = []): Claimant => ({ id, claim: { generation, units } });

const anyMembers = fc.uniqueArray(
  fc.record({
    id: fc.string({ minLength: 1, maxLength: 4 }),
    claim: fc.record({
      generation: fc.integer({ min: -1, max: 9 }),
      units: fc.array(fc.integer({ min: -2, max: 40 })),
    }),
  }),
  { selector: ({ id }) => id, minLength: 1, maxLength: 7 },
);

describe('assignUnits', () => {
  test('gives nobody anything when nobody is there', () => {
    expect(assignUnits(4, [])).toEqual(new Map());
  });

  test('ignores claims that are no unit of the topics', () => {
    const units = assignUnits(2, [member('a', 3, [-1, 7, 0.5]), member('b')]);
    expect([...units.values()].map((own) => own.length)).toEqual([1, 1]);
  });

  test('lets members keep what they had when one joins', () => {
    const units = assignUnits(4, [member('a', 1, [0, 2]), member('b', 1, [1, 3]), member('c')]);
    expect(units.get('a')).toEqual([0, 2]);
    expect(units.get('b')).toEqual([1]);
    expect(units.get('c')).toEqual([3]);
  });

  test('prefers the newest claim over the one of a process that was stopped', () => {
    const units = assignUnits(2, [member('a', 1, [0]), member('b', 5, [0])]);
    expect(units.get('b')).toEqual([0]);
  });

  test('leaves a unit that two claim in the same generation to the smaller name', () => {
    for (const members of [
      [member('a', 3, [1]), member('b', 3, [1])],
      [member('b', 3, [1]), member('a', 3, [1])],
    ])
      expect(assignUnits(2, members).get('a')).toEqual([1]);
  });

  test('takes the highest units from a member that has too many, in whatever order it names them', () => {
    const units = assignUnits(12, [
      member('a', 1, [10, 2, 9, 11, 1, 3]),
      member('b', 1, [0, 4, 5, 6, 7, 8]),
      member('c'),
    ]);
    expect(units.get('a')).toEqual([1, 2, 3, 9]);
    expect(units.get('b')).toEqual([0, 4, 5, 6]);
    expect(units.get('c')).toEqual([7, 8, 10, 11]);
  });

  test('names the units of a member in rising order, wherever they come from', () => {
    const units = assignUnits(12, [member('a', 1, [10, 9]), member('b', 1, [11])]);
    expect(units.get('a')).toEqual([0, 1, 2, 3, 9, 10]);
    expect(units.get('b')).toEqual([4, 5, 6, 7, 8, 11]);
  });

  test('counts the claim of a member that owned nothing as older than any', () => {
    expect(NO_CLAIM).toEqual({ generation: -1, units: [] });
  });

  test('assigns each unit exactly once, evenly, whatever is claimed', () => {
    fc.assert(
      fc.property(fc.nat({ max: 40 }), anyMembers, (unitCount, members) => {
        const sizes = [...assignUnits(unitCount, members).values()].map((own) => own.length);
        const all = [...assignUnits(unitCount, members).values()].flat().sort((a, b) => a - b);
        expect(all).toEqual(Array.from({ length: unitCount }, (_, unit) => unit));
        expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(1);
      }),
    );
  });

  test('answers the same whatever the order of the members', () => {
    fc.assert(
      fc.property(fc.nat({ max: 40 }), anyMembers, (unitCount, members) => {
        const forth = assignUnits(unitCount, members);
        const back = assignUnits(unitCount, members.toReversed());
        expect(Object.fromEntries(back)).toEqual(Object.fromEntries(forth));
      }),
    );
  });

  test('moves nothing when the same members join again', () => {
    fc.assert(
      fc.property(fc.nat({ max: 40 }), fc.integer({ min: 1, max: 7 }), (unitCount, count) => {
        const ids = Array.from({ length: count }, (_, index) => `m${index}`);
        const first = assignUnits(
          unitCount,
          ids.map((id) => ({ id, claim: NO_CLAIM })),
        );
        const again = assignUnits(
          unitCount,
          ids.map((id) => ({ id, claim: { generation: 1, units: first.get(id) ?? [] } })),
        );
        expect(again).toEqual(first);
      }),
    );
  });
});
