import { describe, expect, test } from 'vitest';
import { parsePosition } from '../../../src/replay/position.ts';

const NOW_MS = Date.UTC(2026, 2, 1, 12);
const parse = (text: string) => parsePosition('--from', text, NOW_MS);

describe('an end of a range', () => {
  test.each([
    '',
    'yesterday',
    'Latest',
    '24h',
    '-24',
    '-1w',
    '--1h',
    '2026-03-01',
    '2026-13-01T00:00:00Z',
    '0',
    '0:',
    ':5',
    '0:1,',
    '0:-1',
    'a:1',
    '0:1;1:2',
    `0:${'9'.repeat(16)}`,
  ])('refuses %j, and names the option', (text) => {
    expect(() => parse(text)).toThrow(/^--from: .* is not earliest, latest, a time/);
  });

  test('refuses a time to come', () => {
    expect(() => parse('2026-03-01T12:00:01Z')).toThrow('--from: "2026-03-01T12:00:01Z" lies in the future.');
  });

  test('refuses a partition that is named twice', () => {
    expect(() => parse('3:1,3:2')).toThrow('--from: partition 3 is named twice.');
  });

  test.each([
    ['2026-03-01T12:00:00Z', NOW_MS],
    ['2026-03-01T13:30:00.5+02:00', NOW_MS - 1_799_500],
    ['-30s', NOW_MS - 30_000],
    ['-15m', NOW_MS - 900_000],
    ['-24h', NOW_MS - 86_400_000],
    ['-7d', NOW_MS - 604_800_000],
  ])('%s is a time', (text, ms) => {
    expect(parse(text)).toEqual({ do: 'at', ms });
  });

  test('takes the two ends of the log, and offsets by partition', () => {
    expect(parse('earliest')).toEqual({ do: 'earliest' });
    expect(parse('latest')).toEqual({ do: 'latest' });
    expect(parse('0:12,1:40')).toEqual({
      do: 'offsets',
      offsets: new Map([
        [0, 12n],
        [1, 40n],
      ]),
    });
  });
});
