import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { dateDefect, timestampDefect } from '../../../../src/sandbox/service/timestamp.ts';
import { parseRfc3339 } from '../../../../src/screening/rfc3339.ts';

/** Two digits up to `max`, which is one more than there is. */
function part(max: number): fc.Arbitrary<string> {
  return fc.integer({ min: 0, max }).map((value) => String(value).padStart(2, '0'));
}

describe('a timestamp', () => {
  test.each([
    '2026-03-01T09:30:00Z',
    '2026-03-01t09:30:00z',
    '2016-12-31T23:59:60Z',
    `2026-03-01T09:30:00.${'123'.repeat(50)}+05:30`,
  ])('may be %s', (text) => {
    expect(timestampDefect(text)).toBeNull();
  });

  test.each([
    ['2026-03-01T09:30:00', 'zone_missing'],
    ['2026-03-01T09:30:61Z', 'malformed'],
    ['2026-03-01T09:30:00.Z', 'malformed'],
    ['2026-02-30T09:30:00Z', 'malformed'],
    ['2026-03-01 09:30:00Z', 'malformed'],
  ])('may not be %s', (text, defect) => {
    expect(timestampDefect(text)).toBe(defect);
  });

  test('is right here where the connector reads it, and wrong where it does not', () => {
    const zones = fc.oneof(
      fc.constantFrom('Z', 'z', ''),
      fc.tuple(part(25), part(61)).map((zone) => `+${zone.join(':')}`),
    );
    const fractions = fc.oneof(fc.constant(''), fc.stringMatching(/^\.\d{0,12}$/));
    const texts = fc
      .tuple(fc.integer({ min: 1971, max: 2254 }), part(13), part(32), part(24), part(61), part(62), fractions, zones)
      .map(
        ([year, month, day, hour, minute, second, fraction, zone]) =>
          `${String(year)}-${month}-${day}T${hour}:${minute}:${second}${fraction}${zone}`,
      );
    const law = fc.property(texts, (text) => {
      expect(timestampDefect(text) === null).toBe(parseRfc3339(text) !== null);
    });
    fc.assert(law);
  });
});

test.each([
  ['2006-01-02Z', null],
  ['2006-01-02+02:00', null],
  ['2006-01-02', 'zone_missing'],
  ['2006-13-02Z', 'malformed'],
])('a date %s is %s', (text, defect) => {
  expect(dateDefect(text)).toBe(defect);
});
