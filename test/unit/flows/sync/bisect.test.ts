import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { partAccepted, partRefused, wholeBatch } from '../../../../src/flows/sync/bisect.ts';

/** Plays a plan against a service that refuses every part with a culprit in it. */
function play(
  members: readonly number[],
  culprits: ReadonlySet<number>,
): { found: number[]; accepted: number[]; calls: number } {
  let plan = wholeBatch(members);
  const accepted: number[] = [];
  let calls = 0;
  for (let [part] = plan.parts; part !== undefined; [part] = plan.parts) {
    calls += 1;
    if (part.some((member) => culprits.has(member))) plan = partRefused(plan);
    else {
      accepted.push(...part);
      plan = partAccepted(plan);
    }
  }
  expect(plan.accepted).toBe(accepted.length);
  return { found: [...plan.culprits], accepted, calls };
}

describe('the plan of a refused batch', () => {
  test('is empty for nothing, whatever it is told', () => {
    expect(partRefused(wholeBatch([]))).toEqual({ parts: [], culprits: [], accepted: 0 });
    expect(partAccepted(wholeBatch([]))).toEqual({ parts: [], culprits: [], accepted: 0 });
  });

  test('takes one call for one member', () => {
    expect(play([1], new Set([1]))).toEqual({ found: [1], accepted: [], calls: 1 });
  });

  test('sends the halves in the order of the batch', () => {
    expect(partRefused(wholeBatch([1, 2, 3])).parts).toEqual([[1, 2], [3]]);
  });

  test('finds every culprit and no other, within 2·k·⌈log2 n⌉ calls after the first', () => {
    const batches = fc
      .integer({ min: 1, max: 100 })
      .map((size) => Array.from({ length: size }, (_, index) => index))
      .chain((members) => fc.record({ members: fc.constant(members), culprits: fc.subarray(members) }));
    const law = fc.property(batches, fc.boolean(), ({ members, culprits: some }, isFew) => {
      const culprits = new Set(isFew ? some.slice(0, 3) : some);
      const { found, accepted, calls } = play(members, culprits);
      expect(found).toEqual([...culprits]);
      expect(accepted).toEqual(members.filter((member) => !culprits.has(member)));
      expect(calls - 1).toBeLessThanOrEqual(2 * culprits.size * Math.ceil(Math.log2(members.length)));
    });
    fc.assert(law);
  });
});
