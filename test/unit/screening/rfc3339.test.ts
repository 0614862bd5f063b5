import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { formatRfc3339, formatRfc3339Millis, parseRfc3339 } from '../../../src/screening/rfc3339.ts';

const END_MS = Date.UTC(2255, 0, 1);

describe('parseRfc3339', () => {
  test.each([
    ['no zone', '2026-03-01T09:30:00'],
    ['a zone without a colon', '2026-03-01T09:30:00+0200'],
    ['a zone of hours alone', '2026-03-01T09:30:00+02'],
    ['a zone of 24 hours', '2026-03-01T09:30:00+24:00'],
    ['a zone of 60 minutes', '2026-03-01T09:30:00+01:60'],
    ['a date alone', '2026-03-01'],
    ['a date with a zone', '2026-03-01Z'],
    ['a space for the T', '2026-03-01 09:30:00Z'],
    ['no seconds', '2026-03-01T09:30Z'],
    ['24:00', '2026-03-01T24:00:00Z'],
    ['minute 60', '2026-03-01T09:60:00Z'],
    ['month 0', '2026-00-01T09:30:00Z'],
    ['month 13', '2026-13-01T09:30:00Z'],
    ['day 0', '2026-03-00T09:30:00Z'],
    ['30 February', '2026-02-30T09:30:00Z'],
    ['29 February outside a leap year', '2026-02-29T09:30:00Z'],
    ['29 February of 2100', '2100-02-29T09:30:00Z'],
    ['a point without digits', '2026-03-01T09:30:00.Z'],
    ['a comma', '2026-03-01T09:30:00,5Z'],
    ['second 61', '2016-12-31T23:59:61Z'],
    ['before 1970', '1969-12-31T23:59:59Z'],
    ['before 1970 by its zone', '1970-01-01T00:00:00+02:00'],
    ['more than a safe integer holds', '9999-12-31T23:59:59Z'],
    ['white space before', ' 2026-03-01T09:30:00Z'],
    ['a line end behind', '2026-03-01T09:30:00Z\n'],
    ['other digits', '२०२६-03-01T09:30:00Z'],
    ['a UNIX time', '1772357400'],
    ['nothing', ''],
  ])('refuses %s', (_, text) => {
    expect(parseRfc3339(text)).toBeNull();
  });

  test.each([
    ['1970-01-01T00:00:00Z', 0],
    ['2026-03-01T09:30:00Z', Date.UTC(2026, 2, 1, 9, 30) * 1000],
    ['2026-03-01t09:30:00z', Date.UTC(2026, 2, 1, 9, 30) * 1000],
    ['2026-03-01T09:30:00+02:00', Date.UTC(2026, 2, 1, 7, 30) * 1000],
    ['2026-03-01T09:30:00-07:30', Date.UTC(2026, 2, 1, 17) * 1000],
    ['2026-03-01T09:30:00-00:00', Date.UTC(2026, 2, 1, 9, 30) * 1000],
    ['2024-02-29T23:59:59.5Z', Date.UTC(2024, 1, 29, 23, 59, 59, 500) * 1000],
    ['2000-02-29T00:00:00.123456789Z', Date.UTC(2000, 1, 29, 0, 0, 0, 123) * 1000 + 456],
    ['1969-12-31T23:00:00-02:00', 3_600_000_000],
    ['2016-12-31T23:59:60Z', Date.UTC(2017, 0, 1) * 1000],
    ['2016-12-31T23:59:60.25Z', Date.UTC(2017, 0, 1) * 1000 + 250_000],
    ['2017-01-01T05:29:60+05:30', Date.UTC(2017, 0, 1) * 1000],
    ['2026-03-01T09:30:00.0123456789Z', Date.UTC(2026, 2, 1, 9, 30) * 1000 + 12_345],
    [`2026-03-01T09:30:00.${'9'.repeat(1000)}Z`, Date.UTC(2026, 2, 1, 9, 30) * 1000 + 999_999],
  ])('reads %s', (text, micros) => {
    expect(parseRfc3339(text)).toBe(micros);
  });

  test('reads what the platform prints', () => {
    const dates = fc.date({ min: new Date(0), max: new Date(END_MS), noInvalidDate: true });
    const law = fc.property(dates, (date) => {
      expect(parseRfc3339(date.toISOString())).toBe(date.getTime() * 1000);
    });
    fc.assert(law);
  });

  test('takes the zone off and keeps the microseconds', () => {
    const seconds = fc.integer({ min: 86_400, max: END_MS / 1000 });
    const zones = fc.integer({ min: -(23 * 60 + 59), max: 23 * 60 + 59 });
    const law = fc.property(seconds, zones, fc.integer({ min: 0, max: 999_999 }), (second, zone, micros) => {
      const local = new Date((second + zone * 60) * 1000).toISOString().slice(0, 19);
      const parts = [Math.floor(Math.abs(zone) / 60), Math.abs(zone) % 60].map((part) => String(part).padStart(2, '0'));
      const text = `${local}.${String(micros).padStart(6, '0')}${zone < 0 ? '-' : '+'}${parts.join(':')}`;
      expect(parseRfc3339(text)).toBe(second * 1_000_000 + micros);
    });
    fc.assert(law);
  });

  test('never throws', () => {
    const law = fc.property(fc.string(), (text) => {
      const micros = parseRfc3339(text);
      expect(micros === null || Number.isSafeInteger(micros)).toBe(true);
    });
    fc.assert(law);
  });
});

describe('formatRfc3339', () => {
  const times = fc.date({
    min: new Date(0),
    max: new Date(Date.UTC(9999, 11, 31, 23, 59, 59, 999)),
    noInvalidDate: true,
  });

  test('moves what lies outside of 1970 to 9999 to the nearest end', () => {
    expect(formatRfc3339(-1)).toBe('1970-01-01T00:00:00Z');
    expect(formatRfc3339(Number.MAX_SAFE_INTEGER)).toBe('9999-12-31T23:59:59Z');
  });

  test('prints what the platform prints', () => {
    const law = fc.property(times, (date) => {
      expect(formatRfc3339(date.getTime())).toBe(`${date.toISOString().slice(0, 19)}Z`);
      expect(formatRfc3339Millis(date.getTime())).toBe(date.toISOString());
    });
    fc.assert(law);
  });
});
