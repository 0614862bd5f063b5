import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { HeldTime } from '../../../../src/flows/sync/held-time.ts';

function looks(...states: readonly (readonly [nowMs: number, isHeld: boolean])[]): number {
  let isHeld = false;
  const time = new HeldTime(() => isHeld);
  let heldMs = 0;
  for (const [nowMs, state] of states) {
    isHeld = state;
    heldMs = time.upTo(nowMs);
  }
  return heldMs;
}

describe('time between two looks', () => {
  test.each([
    [false, false, 0],
    [true, true, 100],
    [true, false, 100],
    [false, true, 100],
  ])('counts as held if it was so at either end: %s, %s', (before, after, heldMs) => {
    expect(looks([50, before], [150, after])).toBe(heldMs);
  });

  test('before the first look is nobody knows what, and counts as nothing', () => {
    expect(looks([1_000_000, true])).toBe(0);
  });

  test('that goes back is none', () => {
    expect(looks([100, true], [50, true], [120, true])).toBe(20);
  });
});

test('never goes back, and never counts more than has passed', () => {
  const states = fc.array(fc.tuple(fc.nat(1000), fc.boolean()), { minLength: 1, maxLength: 30 });
  fc.assert(
    fc.property(states, (steps) => {
      let [nowMs, isHeld, before] = [0, false, 0];
      const time = new HeldTime(() => isHeld);
      time.upTo(0);
      for (const [passedMs, state] of steps) {
        nowMs += passedMs;
        isHeld = state;
        const heldMs = time.upTo(nowMs);
        expect(heldMs).toBeGreaterThanOrEqual(before);
        expect(heldMs - before).toBeLessThanOrEqual(passedMs);
        before = heldMs;
      }
    }),
  );
});
