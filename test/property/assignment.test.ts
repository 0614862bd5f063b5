import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { assignUnits, type Claimant, NO_CLAIM } from '../../src/engine/assignment.ts';

/** Members that own what they were last assigned, some of them gone and new ones there, as a join finds them. */
const anyGroup = (mostMembers: number, mostUnits: number) =>
  fc
    .record({
      unitCount: fc.integer({ min: 0, max: mostUnits }),
      before: fc.integer({ min: 1, max: mostMembers }),
      gone: fc.array(fc.nat({ max: mostMembers }), { maxLength: mostMembers }),
      come: fc.integer({ min: 0, max: mostMembers }),
      grown: fc.integer({ min: 0, max: 50 }),
    })
    .map(({ unitCount, before, gone, come, grown }) => {
      const ids = Array.from({ length: before }, (_, index) => `m${String(index)}`);
      const first = assignUnits(
        unitCount,
        ids.map((id) => ({ id, claim: NO_CLAIM })),
      );
      const left = new Set(gone.map((index) => `m${String(index)}`));
      const stayed = ids.filter((id) => !left.has(id));
      const members: Claimant[] = [
        ...stayed.map((id) => ({ id, claim: { generation: 1, units: first.get(id) ?? [] } })),
        ...Array.from({ length: come + (stayed.length === 0 ? 1 : 0) }, (_, index) => ({
          id: `n${String(index)}`,
          claim: NO_CLAIM,
        })),
      ];
      return { unitCount: unitCount + grown, members };
    });

/** Members that own whatever they own, however unevenly; some units are nobody's. */
const anyClaims = fc
  .record({
    count: fc.integer({ min: 1, max: 12 }),
    owners: fc.array(fc.nat({ max: 14 }), { maxLength: 80 }),
  })
  .map(({ count, owners }) => ({
    unitCount: owners.length,
    members: Array.from({ length: count }, (_, index) => ({
      id: `m${String(index)}`,
      claim: { generation: 1, units: owners.flatMap((owner, unit) => (owner === index ? [unit] : [])) },
    })),
  }));

/** The most units that can stay where they are in any even assignment: the optimum, reckoned apart from the code. */
function mostKept(unitCount: number, members: readonly Claimant[]): number {
  const floor = Math.floor(unitCount / members.length);
  let extra = unitCount % members.length;
  let kept = 0;
  for (const { claim } of members) {
    const own = claim.units.filter((unit) => unit < unitCount).length;
    const withExtra = own > floor && extra > 0;
    if (withExtra) extra -= 1;
    kept += Math.min(own, floor + (withExtra ? 1 : 0));
  }
  return kept;
}

function keptUnits(unitCount: number, members: readonly Claimant[]): number {
  const assigned = assignUnits(unitCount, members);
  let count = 0;
  for (const { id, claim } of members) {
    const own = new Set(assigned.get(id));
    count += claim.units.filter((unit) => own.has(unit)).length;
  }
  return count;
}

/** Whether each unit has one owner, and sizes differ by one at most. */
function isEvenAndWhole(unitCount: number, members: readonly Claimant[]): boolean {
  const assigned = assignUnits(unitCount, members);
  const sizes = [...assigned.values()].map((own) => own.length);
  const owner = new Uint16Array(unitCount);
  for (const own of assigned.values()) for (const unit of own) owner[unit] = (owner[unit] ?? 0) + 1;
  const isWhole = assigned.size === members.length && owner.every((owners) => owners === 1);
  return isWhole && Math.max(...sizes) - Math.min(...sizes) <= 1;
}

describe('the assignment', () => {
  test('moves exactly as few units as evenness allows, whoever comes and goes, also when topics grow', () => {
    fc.assert(
      fc.property(fc.oneof(anyGroup(12, 80), anyClaims), ({ unitCount, members }) => {
        expect(keptUnits(unitCount, members)).toBe(mostKept(unitCount, members));
      }),
      { numRuns: 2000 },
    );
  });

  test('gives each unit to one member, evenly', () => {
    fc.assert(
      fc.property(anyGroup(12, 80), ({ unitCount, members }) => {
        expect(isEvenAndWhole(unitCount, members)).toBe(true);
      }),
    );
  });

  test('holds with 500 members and 5,000 partitions, within a second each', () => {
    fc.assert(
      fc.property(anyGroup(500, 5000), fc.boolean(), ({ unitCount, members }, reverse) => {
        const beforeMs = performance.now();
        assignUnits(unitCount, members);
        expect(performance.now() - beforeMs).toBeLessThan(1000);
        expect(isEvenAndWhole(unitCount, members)).toBe(true);
        const ordered = reverse ? members.toReversed() : members;
        expect(keptUnits(unitCount, ordered)).toBe(mostKept(unitCount, members));
      }),
      { numRuns: 20 },
    );
  });

  test('shares out 5,000 partitions among 500 members, 400 of them new, and loses none that may stay', () => {
    const first = assignUnits(
      5000,
      Array.from({ length: 100 }, (_, index) => ({ id: `m${String(index)}`, claim: NO_CLAIM })),
    );
    const members: Claimant[] = [
      ...[...first].map(([id, units]) => ({ id, claim: { generation: 3, units } })),
      ...Array.from({ length: 400 }, (_, index) => ({ id: `n${String(index)}`, claim: NO_CLAIM })),
    ];
    expect(isEvenAndWhole(5000, members)).toBe(true);
    expect(keptUnits(5000, members)).toBe(1000);
  });
});
