import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Deadlines, type Due } from '../../../../src/edges/screening-api/deadlines.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

const dueOf = (expire: () => void): Due => ({ dueMs: 0, earlier: null, later: null, expire });

test('needs one timer for any number, and none once nothing is due', () => {
  const clock = new ManualClock();
  const deadlines = new Deadlines(clock, 100);
  const all = Array.from({ length: 1_000 }, () => dueOf(() => {}));
  for (const due of all) deadlines.add(due);
  expect(clock.pending).toBe(1);
  for (const due of all) deadlines.remove(due);
  clock.advance(100);
  expect(clock.pending).toBe(0);
});

test('expires exactly those that have not ended, each at its time', () => {
  fc.assert(
    fc.property(
      fc.array(fc.record({ waitMs: fc.integer({ min: 0, max: 60 }), endsAfterMs: fc.integer({ min: 0, max: 200 }) })),
      (plan) => {
        const clock = new ManualClock();
        const deadlines = new Deadlines(clock, 100);
        const expired: number[] = [];
        const expected: number[] = [];
        for (const { waitMs, endsAfterMs } of plan) {
          clock.advance(waitMs);
          const atMs = clock.monotonicMs();
          const due = dueOf(() => expired.push(clock.monotonicMs()));
          // The end is due first where both fall on one moment, as its timer was made first.
          clock.after(endsAfterMs, () => {
            deadlines.remove(due);
          });
          deadlines.add(due);
          if (endsAfterMs > 100) expected.push(atMs + 100);
        }
        clock.advance(1_000);
        expect(expired.filter((ms) => expected.includes(ms)).length).toBe(expected.length);
        expect(expired.length - expected.length).toBeLessThanOrEqual(
          plan.filter(({ endsAfterMs }) => endsAfterMs === 100).length,
        );
        expect(clock.pending).toBe(0);
      },
    ),
  );
});
