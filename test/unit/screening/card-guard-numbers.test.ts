import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { CARD_RANGES, findCardNumber, maskLongNumbers } from '../../../src/screening/card-guard-numbers.ts';
import { cardNumbers, TEST_CARDS, withCheckDigit } from '../../support/card-numbers.ts';

const isFound = (text: string): boolean => findCardNumber(text)?.what === 'pan';
const grouped = (number: string, by: string): string => number.replaceAll(/(.{4})(?=.)/g, `$1${by}`);

describe('is no card number:', () => {
  test.each([
    ['twelve digits, though their check fits', withCheckDigit('41111111111')],
    ['twenty digits', withCheckDigit('4111111111111111111')],
    ['a card number within a longer number', '94111111111111111'],
    ['a card number with digits behind it', '41111111111111110'],
    ['a wrong check digit', '4111111111111112'],
    ['two digits exchanged', '4111111111111011'],
    ['a prefix of no brand', withCheckDigit('911111111111111')],
    ['a length that the brand does not have', withCheckDigit('41111111111111')],
    ['two spaces in a row', '4111  1111 1111 1111'],
    ['other characters between', '4111/1111/1111/1111'],
    ['a telephone number with its plus', '+4222222222222'],
    ['a decimal number', '0.4111111111111111'],
    ['a decimal number with a comma', ' 12,4111111111111111 '],
    ['digits within a SHA-256', `a4111111111111111b${'c'.repeat(46)}`],
    ['digits within a UUID', 'abcdef12-4111-1111-1111-11111abcdef0'],
    ['nothing', ''],
  ])('%s', (_is, text) => {
    expect(findCardNumber(text)).toBeNull();
  });

  test('what has fewer than 13 digits', () => {
    const few = fc.string({ unit: 'grapheme' }).filter((text) => (text.match(/[0-9\uff10-\uff19]/g) ?? []).length < 13);
    fc.assert(
      fc.property(few, (text) => {
        expect(findCardNumber(text)).toBeNull();
        expect(maskLongNumbers(text)).toBe(text);
      }),
    );
  });
});

describe('is a card number:', () => {
  test.each(TEST_CARDS)('%s: %s', (_brand, number) => {
    for (const text of [number, grouped(number, ' '), grouped(number, '-'), `card${number}x`, `a: ${number}.`])
      expect(findCardNumber(text)).not.toBeNull();
  });

  test.each([
    ['groups that are not of four', '411 11111-111 11111'],
    ['a single digit before it', '7 4111 1111 1111 1111'],
    ['a group of digits behind it', '4111 1111 1111 1111 12'],
    ['full-width digits', '４１１１１１１１１１１１１１１１'],
    ['no-break spaces', '4111\u00a01111\u00a01111\u00a01111'],
    ['dashes of a word processor', '4111\u20131111\u20131111\u20131111'],
    ['a plus before 16 digits', '+4111111111111111'],
    ['hexadecimal letters in a word that is no hash', 'deadbeef4111111111111111'],
    ['a sentence with a decimal point', 'I paid 5.4111111111111111 with it'],
  ])('%s', (_is, text) => {
    expect(isFound(text)).toBe(true);
  });

  test('every one of every brand and length, with single separators anywhere, within any text', () => {
    const separators = fc.array(fc.constantFrom('', '', '', ' ', '-'), { minLength: 19, maxLength: 19 });
    const texts = fc.string({ unit: 'grapheme' });
    fc.assert(
      fc.property(cardNumbers, separators, texts, texts, (number, between, before, behind) => {
        fc.pre(!/[0-9\uff10-\uff19+.,]$/.test(before) && !/^[0-9\uff10-\uff19]/.test(behind));
        const spread = Array.from(number)
          .map((digit, at) => `${at === 0 ? '' : between[at]}${digit}`)
          .join('');
        const hit = findCardNumber(`${before}${spread}${behind}`);
        expect(hit).not.toBeNull();
      }),
      { numRuns: 1000 },
    );
  });

  test('none of every brand with its check digit changed', () => {
    fc.assert(
      fc.property(cardNumbers, fc.integer({ min: 1, max: 9 }), (number, by) => {
        const wrong = `${number.slice(0, -1)}${String((Number(number.at(-1)) + by) % 10)}`;
        expect(findCardNumber(wrong)).toBeNull();
      }),
    );
  });
});

describe('track data', () => {
  test.each([
    ['track 1', '%B4111111111111111^DOE/JANE^25121010000000?'],
    ['track 1 within text', 'read: %b4111111111111112^D/J^2512?'],
    ['track 2', ';4111111111111112=25121010000?'],
  ])('%s, whatever the check digit', (_is, text) => {
    expect(findCardNumber(text)?.what).toBe('track_data');
  });

  test.each(['%B41111^DOE^2512?', ';4111111111111112=x', ';4111111111111112', 'a;b=1?'])('not %s', (text) => {
    expect(findCardNumber(text)).toBeNull();
  });
});

test('every prefix belongs to one brand, and its lengths are between 13 and 19', () => {
  for (const [at, row] of CARD_RANGES.entries()) {
    expect(row.from).toBeLessThanOrEqual(row.to);
    expect(row.lengths.every((length) => length >= 13 && length <= 19)).toBe(true);
    for (const other of CARD_RANGES.slice(at + 1)) expect(row.to < other.from || other.to < row.from).toBe(true);
  }
});

describe('masking', () => {
  test.each([
    ['card 4111111111111111 refused', 'card [digits] refused'],
    ['4111 1111-1111 1111', '[digits]'],
    ['mistyped: 4111111111111112, and 4111111111111111111111', 'mistyped: [digits], and [digits]'],
    ['twelve: 123456789012', 'twelve: 123456789012'],
    ['４１１１１１１１１１１１１１１１!', '[digits]!'],
  ])('%s', (text, shown) => {
    expect(maskLongNumbers(text)).toBe(shown);
  });

  test('leaves no card number in any text, and all that is no long number as it was', () => {
    const pieces = fc.oneof(fc.string(), cardNumbers, fc.constantFrom('1', '12 ', '-', '4111 '));
    fc.assert(
      fc.property(fc.array(pieces), (parts) => {
        const masked = maskLongNumbers(parts.join(''));
        expect(findCardNumber(masked)).toBeNull();
        expect(maskLongNumbers(masked)).toBe(masked);
      }),
    );
  });
});
