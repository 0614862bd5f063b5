import { describe, expect, test } from 'vitest';
import { perSecond, shares, short, sparkline, time, whole } from '../../../../src/app/demo/figures.ts';

describe('figures for people', () => {
  test.each([
    [-1, '-'],
    [Number.NaN, '-'],
    [Infinity, '-'],
    [0, '0'],
    [9_999, '9999'],
    [9_999.7, '10k'],
    [12_345, '12k'],
    [999_600, '1.0M'],
    [1_234_567, '1.2M'],
    [98_765_432, '99M'],
    [1e12, '1.0T'],
    [1e18, '>1P'],
  ])('%d in four characters is %s', (count, text) => {
    expect(short(count)).toBe(text);
    expect(text.length).toBeLessThanOrEqual(4);
  });

  test.each([
    [0, '0'],
    [999, '999'],
    [1_000, '1,000'],
    [1_234_567, '1,234,567'],
    [2e9, '2.0G'],
  ])('%d in full is %s', (count, text) => {
    expect(whole(count)).toBe(text);
  });

  test.each([
    [0, '0/s'],
    [0.04, '0/s'],
    [1.94, '1.9/s'],
    [9.97, '10/s'],
    [50.4, '50/s'],
    [Number.NaN, '-/s'],
  ])('%d a second is %s', (rate, text) => {
    expect(perSecond(rate)).toBe(text);
  });

  test.each([
    [-5, '-'],
    [340, '340 ms'],
    [999.6, '1 s'],
    [59_600, '1 min 0 s'],
    [84_000, '1 min 24 s'],
    [7_500_000, '2 h 5 min'],
  ])('%d ms are %s', (ms, text) => {
    expect(time(ms)).toBe(text);
  });
});

describe('a sparkline', () => {
  test('keeps the newest numbers, on the right', () => {
    expect(sparkline([9, 0, 5, 10], 3, 10)).toBe('▁▅█');
    expect(sparkline([10], 3, 10)).toBe('  █');
  });

  test('is flat for nothing at all, and empty without room', () => {
    expect(sparkline([0, 0], 2, 0)).toBe('▁▁');
    expect(sparkline([1, 2], 0, 2)).toBe('');
  });
});

describe('shares of a bar', () => {
  test('fill it exactly, and the smallest count has one column', () => {
    expect(shares([1_000, 0, 1, 1], 20)).toEqual([18, 0, 1, 1]);
  });

  test('are none while nothing is counted', () => {
    expect(shares([0, 0], 20)).toEqual([0, 0]);
  });
});
