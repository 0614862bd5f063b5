import { describe, expect, test } from 'vitest';
import { stallsOf, type Worked } from '../../chaos/stalls.ts';

const worked = (writtenMs: number, workedMs: number, partition = 0): Worked => ({ partition, writtenMs, workedMs });

describe('stalls', () => {
  test('are none where there was nothing', () => {
    expect(stallsOf([])).toEqual({ longestStallMs: 0, longestWaitMs: 0 });
  });

  test('are no times without work', () => {
    expect(stallsOf([worked(0, 10), worked(5000, 5010)]).longestStallMs).toBe(10);
  });

  test('are counted from when work was there', () => {
    expect(stallsOf([worked(0, 10), worked(100, 3000), worked(90, 3001)]).longestStallMs).toBe(2910);
  });

  test('are no backlog that is worked off', () => {
    const backlog = Array.from({ length: 100 }, (_, index) => worked(0, index * 10));
    expect(stallsOf(backlog)).toEqual({ longestStallMs: 10, longestWaitMs: 990 });
  });

  test('are seen in one partition though another one goes on', () => {
    const busy = Array.from({ length: 100 }, (_, index) => worked(index * 10, index * 10 + 5, 1));
    expect(stallsOf([...busy, worked(0, 900)]).longestStallMs).toBe(900);
  });
});
