import { describe, expect, test } from 'vitest';
import { ceilingFigures, type CeilingFigures } from '../../bench/ceiling-of.ts';
import { type Counts } from '../../bench/tally.ts';

const NONE: Counts = { answered: 0, answeredHot: 0, servedMs: 0, disorders: 0, overlaps: 0, doubled: 0 };

/** Ten seconds at 49 ms in the service and 1 ms on the way. */
const figures = (answered: number, answeredHot: number, hottestShare: number): CeilingFigures =>
  ceilingFigures(
    { fromMs: 5000, toMs: 15_000, from: NONE, to: { ...NONE, answered, answeredHot, servedMs: 49 * answered } },
    { inFlight: 64, hottestShare, networkMs: 1 },
  );

describe('the ceiling', () => {
  test('is requests at once ÷ latency where keys are even', () => {
    const { ceiling, rate, share, latencyMs } = figures(12_800, 1, 0.0001);
    expect([ceiling, rate, share, latencyMs]).toEqual([1280, 1280, 1, 50]);
  });

  test('is that of the hottest key where it limits', () => {
    const { ceiling } = figures(12_800, 200, 0.2);
    expect(ceiling).toBeCloseTo(100);
  });

  test('is not passed by keys that run ahead of the hottest one', () => {
    const { share, answeredPerSecond } = figures(12_800, 190, 0.2);
    expect(answeredPerSecond).toBe(1280);
    expect(share).toBeCloseTo(0.95);
  });

  test('is not reached where the others fall behind the hottest one', () => {
    expect(figures(600, 200, 0.2).share).toBeCloseTo(0.5);
  });
});
