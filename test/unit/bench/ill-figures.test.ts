import { describe, expect, test } from 'vitest';
import { type Ending, loadWhileDead, phaseFigures, resultOf, type Second } from '../../bench/ill-figures.ts';

const RATE = 100;

function seconds(phase: string, scored: readonly number[], more: Partial<Second> = {}): readonly Second[] {
  return scored.map((count, index) => ({
    atMs: 1000 * index,
    phase,
    requests: count,
    scored: count,
    batches: 1,
    updates: count,
    lag: 10 * RATE,
    rssMb: 100 + index,
    ...more,
  }));
}

const DONE: Ending = {
  payments: 10,
  updates: 10,
  notScored: 0,
  notReported: 0,
  notPublished: 0,
  letters: 0,
  disorders: 0,
  overlaps: 0,
  early: 0,
  scoredTwice: 3,
  settledAfterSeconds: 1,
};
const dead = 'dead';

function fullAfter(scored: readonly number[], more: Partial<Second> = {}): number | null {
  return phaseFigures({ name: 'after', isIll: false }, seconds('after', scored, more), RATE).fullAfterSeconds;
}

function missedOf(ending: Partial<Ending>, deadLoad = 0, scored: readonly number[] = []): readonly string[] {
  const all = [...seconds(dead, Array<number>(30).fill(deadLoad), { batches: 0 }), ...seconds('after', scored)];
  const phases = ['dead', 'after'].map((name) => phaseFigures({ name, isIll: name === dead }, all, RATE));
  return resultOf(phases, { ...DONE, ...ending }, { seconds: all, dead }).missed;
}

describe('the full rate after health', () => {
  test('is not told where there was too little to catch up with', () => {
    expect(fullAfter([0, 500, 500, 500, 500, 500], { lag: RATE })).toBeNull();
    expect(fullAfter([0, 500, 500])).toBeNull();
  });

  test('is reached in the first second that comes near the middle one', () => {
    expect(fullAfter([0, 0, 200, 460, 500, 500, 500, 510])).toBe(4);
  });

  test('is no question while the service is ill', () => {
    const ill = phaseFigures({ name: 'ill', isIll: true }, seconds('ill', [0, 1, 2, 500, 500, 500]), RATE);
    expect(ill.fullAfterSeconds).toBeNull();
    expect([ill.mostRequests, ill.mostLag, ill.mostRssMb, ill.seconds]).toEqual([500, 1000, 105, 6]);
  });
});

describe('the result', () => {
  test.each(['notScored', 'notReported', 'notPublished', 'letters', 'disorders', 'overlaps', 'early'] as const)(
    'misses where anything is to be told of %s',
    (name) => {
      expect(missedOf({ [name]: 1 })).toEqual([`${name}: 1, must be 0`]);
    },
  );

  test('misses where an ill service is asked too much, rates come back late, or not all is done in time', () => {
    expect(missedOf({}, 3)).toEqual(['3.0 requests a second while dead, at most 2']);
    const late = [...Array.from({ length: 20 }, () => 0), ...Array.from({ length: 30 }, () => 500)];
    expect(missedOf({}, 0, late)).toEqual(['after: full rate after 21 s, at most 20']);
    expect(missedOf({ settledAfterSeconds: null })).toEqual(['not everything was done in time']);
  });

  test('misses nothing where all is done; what was scored twice is told', () => {
    expect(missedOf({}, 1, [0, 500, 500, 500, 500, 500])).toEqual([]);
  });

  test('does not count what had begun when answers ended', () => {
    const all = seconds(dead, [...Array.from({ length: 15 }, () => 64), 0, 0, 2, 0], { batches: 0 });
    expect(loadWhileDead(all, dead)).toBe(0.5);
  });
});
