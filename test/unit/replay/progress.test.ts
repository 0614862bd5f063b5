import { describe, expect, test } from 'vitest';
import { barLine, paceOf, type Progress } from '../../../src/replay/progress.ts';

const HALF: Progress = { phase: 'send', done: 500, total: 1000, before: 0, elapsedMs: 2000, waitsFor: null };

describe('the pace of a replay', () => {
  test('knows no time left before anything is done', () => {
    expect(paceOf({ ...HALF, done: 0, elapsedMs: 0 })).toEqual({ perSecond: 0, leftSeconds: null });
  });

  test('does not count what an earlier start had done', () => {
    expect(paceOf({ ...HALF, before: 400 })).toEqual({ perSecond: 50, leftSeconds: 10 });
  });
});

describe('the bar', () => {
  test('shows share, count, rate and time left', () => {
    expect(barLine(HALF, 200)).toBe('Sending  ████████████░░░░░░░░░░░░  50 %  500 of 1,000  250/s  2 s left');
  });

  test('says what it waits for', () => {
    const line = barLine({ ...HALF, done: 0, elapsedMs: 9000, waitsFor: 'service_down' }, 200);
    expect(line).toContain('time left: not known  waits: service_down');
  });

  test('is full, and has no time left, where there is nothing to do', () => {
    expect(barLine({ ...HALF, done: 0, total: 0 }, 200)).toContain(`${'█'.repeat(24)} 100 %`);
  });

  test.each([0, 1, 20, 79])('is never wider than %i columns', (width) => {
    expect(barLine(HALF, width).length).toBeLessThanOrEqual(width);
  });

  test.each([
    [59.2, '1 min 0 s left'],
    [59, '59 s left'],
    [3599, '59 min 59 s left'],
    [7260, '2 h 1 min left'],
  ])('%d seconds are %s', (leftSeconds, text) => {
    const total = 1_000_000;
    const elapsedMs = 1000;
    const done = total / (leftSeconds + 1);
    expect(barLine({ ...HALF, done, total, elapsedMs }, 200)).toContain(text);
  });
});
