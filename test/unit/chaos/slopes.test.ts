import { describe, expect, test } from 'vitest';
import { slopeLines, slopesOf } from '../../chaos/slopes.ts';
import { type Vitals } from '../../chaos/vitals.ts';

const MEGABYTE = 1_048_576;

/** Looked at every 5 s for so many minutes. */
const life = (minutes: number, at: (minute: number) => Partial<Vitals>): Vitals[] =>
  Array.from({ length: minutes * 12 + 1 }, (_, index) => ({
    owner: '1.1',
    atMs: 7000 + index * 5000,
    residentBytes: 200 * MEGABYTE,
    heapBytes: 80 * MEGABYTE,
    files: 60,
    sockets: 30,
    pooled: 10,
    ...at(index / 12),
  }));

describe('handles rise steadily', () => {
  test('where one more is opened every ten seconds and none is closed', () => {
    const [slope] = slopesOf(life(10, (minute) => ({ files: 60 + Math.floor(minute * 6) })));
    expect(slope).toMatchObject({ isRising: true, minutes: 10 });
    expect(slope?.files.perMinute).toBeCloseTo(6, 0);
  });

  test('where each fault leaves some of what it opened', () => {
    const [slope] = slopesOf(
      life(12, (minute) => ({ files: 60 + 4 * Math.floor(minute) + (minute % 1 < 0.3 ? 20 : 0) })),
    );
    expect(slope?.isRising).toBe(true);
  });
});

describe('handles do not rise steadily', () => {
  test.each<[string, (minute: number) => Partial<Vitals>]>([
    ['where they stay', () => ({})],
    ['where the pools fill in the beginning', (minute) => ({ files: minute < 4 ? 30 + minute * 20 : 110 })],
    ['where faults open some that go again', (minute) => ({ files: minute % 2 > 1.6 ? 140 : 60 })],
    ['where a fault lasts until the end', (minute) => ({ files: minute > 9 ? 120 : 60 })],
    ['where one comes a minute', (minute) => ({ files: 60 + Math.floor(minute / 2) })],
    [
      'where the pool of connections to the service fills',
      (minute) => ({ files: 50 + 6 * minute, pooled: 6 * minute }),
    ],
    ['where memory alone rises', (minute) => ({ residentBytes: (200 + 30 * minute) * MEGABYTE })],
  ])('%s', (_, at) => {
    expect(slopesOf(life(10, at)).map(({ isRising }) => isRising)).toEqual([false]);
  });
});

describe('the slopes', () => {
  test('are of the second half alone, by squares', () => {
    const [slope] = slopesOf(
      life(10, (minute) => ({
        residentBytes: (minute < 5 ? 100 + 30 * minute : 250 + 2 * (minute - 5)) * MEGABYTE,
        heapBytes: minute < 5 ? null : 90 * MEGABYTE,
      })),
    );
    expect(slope?.residentMegabytes).toEqual({ perMinute: 2, atEnd: 260 });
    expect(slope?.heapMegabytes).toEqual({ perMinute: 0, atEnd: 90 });
  });

  test('are those of each life, without the short ones', () => {
    const two = life(5, () => ({ owner: '2.1' }));
    const short = life(3, () => ({ owner: '3.1' }));
    expect(slopesOf([...life(5, () => ({})), ...two, ...short]).map(({ owner }) => owner)).toEqual(['1.1', '2.1']);
  });

  test('are none where nobody was looked at', () => {
    expect(slopesOf([])).toEqual([]);
    expect(slopesOf(life(0, () => ({})))).toEqual([]);
  });

  test('are lines for people', () => {
    const [line] = slopeLines(slopesOf(life(10, (minute) => ({ files: 60 - minute }))));
    expect(line).toContain('1.1, 10 min: memory 200 MB (+0 a minute)');
    expect(line).toContain('files 50 (-1 a minute)');
    expect(line).not.toContain('RISING');
    expect(slopeLines(slopesOf(life(10, (minute) => ({ files: 60 + 9 * minute }))))[0]).toContain('RISING');
  });
});
