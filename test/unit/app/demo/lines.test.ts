import { describe, expect, test } from 'vitest';
import { type Ending, momentLine, summaryLines } from '../../../../src/app/demo/lines.ts';
import { zeroCounters } from '../../../../src/sandbox/service/ledger-counters.ts';
import { emptyMoment } from './scenes.ts';

const FINE: Ending = {
  end: {
    payments: 500,
    scored: 500,
    statuses: 490,
    linked: 490,
    reviewsDecided: 40,
    reviewsPublished: 40,
    lost: 0,
    doubled: 0,
    outOfOrder: 0,
  },
  kills: 0,
  poison: 0,
  letters: 0,
  kept: true,
};

const wrong = (ending: Partial<Ending>): readonly string[] =>
  summaryLines({ ...FINE, ...ending }).filter((line) => line.includes('✗'));

describe('the line of a second', () => {
  test('tells rates against the second before', () => {
    const counters = { ...zeroCounters(), updatesByStatus: {} };
    const before = emptyMoment({ second: 1, created: 48, ledger: { ...counters, scorings: 40 } });
    const ledger = { ...counters, scorings: 100, updates: 70, linked: 70, batches: 2 };
    const now = emptyMoment({ second: 2, created: 99, ledger, lag: 15 });
    expect(momentLine(now, before)).toBe(
      '   2 s | payments 51/s, scored 60/s, lag 15 | approve 0 decline 0 review 0 custom 0 | statuses 70 in 2 batches (35.0 each) | reviews 0 of 0',
    );
  });

  test('has a dash for what is not known, and no number that was made up', () => {
    expect(momentLine(emptyMoment(), null)).toMatch(/lag - .* in 0 batches \(- each\)/);
  });
});

describe('the summary', () => {
  test('marks nothing when everything is as promised', () => {
    expect(wrong({})).toEqual([]);
    expect(summaryLines(FINE).at(-1)).toBe('Everything is as promised.');
    expect(summaryLines(FINE).join()).not.toContain('poison');
  });

  test.each([
    ['payments', { scored: 499 }],
    ['statuses', { linked: 489 }],
    ['reviews decided', { reviewsPublished: 39 }],
    ['lost', { lost: 1 }],
    ['doubled', { doubled: 1 }],
    ['out of order', { outOfOrder: 1 }],
  ])('marks %s that went wrong, alone', (what, change) => {
    const marked = wrong({ end: { ...FINE.end, ...change }, kept: false });
    expect(marked).toHaveLength(1);
    expect(marked[0]).toContain(what);
  });

  test('excuses what was done twice after a kill, and says so', () => {
    const ending = { end: { ...FINE.end, doubled: 3 }, kills: 2 };
    expect(wrong(ending)).toEqual([]);
    expect(summaryLines({ ...FINE, ...ending }).join('\n')).toContain('3 doubled (the connector was killed 2 time(s))');
  });

  test('marks a poison record that became no dead letter', () => {
    expect(wrong({ poison: 2, letters: 1 })).toHaveLength(1);
    expect(wrong({ poison: 2, letters: 2 })).toEqual([]);
  });
});
