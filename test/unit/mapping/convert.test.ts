import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fromAlpha3, fromEpoch, fromExpiry, fromMinorUnits, toCase } from '../../../src/mapping/convert.ts';
import { ALPHA_2 } from '../../../src/mapping/countries.ts';
import { DECIMAL_PLACES } from '../../../src/mapping/currencies.ts';
import { textOf, toNumber } from '../../../src/mapping/tokens.ts';
import { formatRfc3339 } from '../../../src/screening/rfc3339.ts';
import { COUNTRIES } from '../../../src/sandbox/service/code-sets.ts';

describe('minor units', () => {
  test.each<[unknown, unknown]>([
    [1250, 'XXX'],
    [1250, ''],
    [1250, undefined],
    [1250, 978],
    [12.5, 'EUR'],
    [toNumber('12.50'), 'EUR'],
    ['12,50', 'EUR'],
    [' 1250', 'EUR'],
    ['0x10', 'EUR'],
    ['', 'EUR'],
    [2 ** 53, 'EUR'],
    [Number.NaN, 'EUR'],
    [true, 'EUR'],
    [{}, 'EUR'],
    [toNumber('1e-1'), 'EUR'],
    ['9'.repeat(41), 'EUR'],
    ['1e999999999', 'EUR'],
  ])('cannot be read from %j of %j', (amount, currency) => {
    expect(fromMinorUnits(amount, currency)).toBeNull();
  });

  test.each<[unknown, string, string]>([
    [1250, 'EUR', '12.50'],
    [5, 'EUR', '0.05'],
    [0, 'EUR', '0.00'],
    [-5, 'EUR', '-0.05'],
    ['-0', 'EUR', '0.00'],
    ['007', 'eur', '0.07'],
    [500, 'JPY', '500'],
    [1234, 'KWD', '1.234'],
    [1234, 'CLF', '0.1234'],
    [toNumber('1250.0'), 'EUR', '12.50'],
    [toNumber('1.25E7'), 'EUR', '125000.00'],
    [toNumber('123456789012345678901234567890'), 'EUR', '1234567890123456789012345678.90'],
  ])('are exact: %j of %s is %s', (amount, currency, expected) => {
    expect(textOf(fromMinorUnits(amount, currency))).toBe(expected);
  });

  test('agree with whole numbers of any size, for every currency', () => {
    const currencies = fc.constantFrom(...DECIMAL_PLACES);
    fc.assert(
      fc.property(fc.bigInt({ min: -(10n ** 38n), max: 10n ** 38n }), currencies, (minor, [currency, places]) => {
        const text = textOf(fromMinorUnits(String(minor), currency)) ?? '';
        const [whole = '', fraction = ''] = text.replace('-', '').split('.');
        expect(fraction).toHaveLength(places);
        const unsigned = BigInt(whole) * 10n ** BigInt(places) + BigInt(fraction === '' ? '0' : fraction);
        expect(text.startsWith('-') ? -unsigned : unsigned).toBe(minor);
        expect(text).toBe(JSON.stringify(toNumber(text)));
      }),
    );
  });

  test('know 0, 2, 3 and 4 decimal places', () => {
    expect(new Set(DECIMAL_PLACES.values())).toEqual(new Set([0, 2, 3, 4]));
    expect(DECIMAL_PLACES.size).toBe(170);
    for (const currency of Intl.supportedValuesOf('currency').filter((code) => DECIMAL_PLACES.get(code) === 3))
      expect(['BHD', 'IQD', 'JOD', 'KWD', 'LYD', 'OMR', 'TND']).toContain(currency);
  });
});

describe('a time since 1970', () => {
  test.each<[unknown, 'epoch_s' | 'epoch_ms']>([
    [-1, 'epoch_s'],
    ['soon', 'epoch_s'],
    ['', 'epoch_s'],
    [true, 'epoch_s'],
    [[1], 'epoch_s'],
    [1_772_357_400_000, 'epoch_s'],
    [1_772_357_400, 'epoch_ms'],
    [253_402_300_800_000, 'epoch_ms'],
    ['9'.repeat(30), 'epoch_ms'],
  ])('cannot be read from %j as %s', (value, form) => {
    expect(fromEpoch(value, form, formatRfc3339)).toBeNull();
  });

  test.each<[unknown, 'epoch_s' | 'epoch_ms', string]>([
    [1_772_357_400, 'epoch_s', '2026-03-01T09:30:00Z'],
    ['1772357400', 'epoch_s', '2026-03-01T09:30:00Z'],
    [1_772_357_400.999, 'epoch_s', '2026-03-01T09:30:00Z'],
    [toNumber('1.7723574E9'), 'epoch_s', '2026-03-01T09:30:00Z'],
    [1_772_357_400_999, 'epoch_ms', '2026-03-01T09:30:00Z'],
    [0, 'epoch_s', '1970-01-01T00:00:00Z'],
  ])('%j as %s is %s', (value, form, expected) => {
    expect(fromEpoch(value, form, formatRfc3339)).toBe(expected);
  });
});

describe('a country', () => {
  test.each(['DE', 'XKX', '', 'Germany', 276, null, 'constructor'])('%j is no alpha-3 code', (value) => {
    expect(fromAlpha3(value)).toBeNull();
  });

  test('of every alpha-3 code has one alpha-2 code of the standard', () => {
    expect(new Set(ALPHA_2.values())).toEqual(new Set(COUNTRIES));
    expect(ALPHA_2.size).toBe(COUNTRIES.size);
    expect([fromAlpha3('DEU'), fromAlpha3('deu'), fromAlpha3('SWE')]).toEqual(['DE', 'DE', 'SE']);
  });
});

describe('an expiry', () => {
  test.each<[unknown, 'MMYY' | 'MMYYYY' | 'YYMM' | 'YYYYMM']>([
    ['1328', 'MMYY'],
    ['0028', 'MMYY'],
    ['928', 'MMYY'],
    ['09//28', 'MMYY'],
    ['092028', 'MMYY'],
    [28, 'MMYY'],
    [true, 'MMYY'],
    [9.28, 'MMYY'],
    ['091928', 'MMYYYY'],
    ['2813', 'YYMM'],
  ])('cannot be read from %j as %s', (value, form) => {
    expect(fromExpiry(value, form)).toBeNull();
  });

  test.each<[unknown, 'MMYY' | 'MMYYYY' | 'YYMM' | 'YYYYMM']>([
    ['0928', 'MMYY'],
    ['09/28', 'MMYY'],
    ['09-28', 'MMYY'],
    [928, 'MMYY'],
    [92_028, 'MMYYYY'],
    ['09/2028', 'MMYYYY'],
    ['2809', 'YYMM'],
    ['2028-09', 'YYYYMM'],
  ])('%j as %s is month and year', (value, form) => {
    expect(fromExpiry(value, form)).toBe('0928');
  });
});

test('capitals and small letters are of texts only', () => {
  expect([toCase(1, 'upper'), toCase('aß', 'upper'), toCase('AI', 'lower')]).toEqual([null, 'ASS', 'ai']);
});
