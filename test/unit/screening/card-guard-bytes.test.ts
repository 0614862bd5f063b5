import { Buffer } from 'node:buffer';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { mayHoldCardData, mayHoldLongNumber } from '../../../src/screening/card-guard-bytes.ts';
import { findCardNumber } from '../../../src/screening/card-guard-numbers.ts';
import { createShops } from '../../../src/sandbox/shops.ts';
import { cardNumbers } from '../../support/card-numbers.ts';

const mayHold = (text: string): boolean => mayHoldLongNumber(Buffer.from(text));

describe('the look at the bytes', () => {
  test.each(['', '123456789012', '1234567 8901 2', '1  2  3  4  5  6  7  8  9  0  1  2  3  4', '192.168.100.200'])(
    'passes over %o',
    (text) => {
      expect(mayHold(text)).toBe(false);
    },
  );

  test('passes over every payment of the made-up shops', () => {
    const shops = createShops({ seed: 7, customers: 40 });
    const hash = '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08';
    for (let at = 0; at < 500; at += 1) {
      const { created } = shops.payment(Date.UTC(2026, 0, 1));
      expect(mayHoldCardData(Buffer.from(JSON.stringify({ ...created, cc_num_hash: hash })))).toBe(false);
    }
  });

  test('meets 13 digits at every place', () => {
    for (let before = 0; before < 60; before += 1)
      for (const number of ['4222222222222', '4 2 2 2 2 2 2-2-2-2-2-2-2', '４２２２２２２２２２２２２'])
        expect(mayHold(`${'x'.repeat(before)}${number}x`), `${String(before)} ${number}`).toBe(true);
  });

  test('misses nothing that the search finds', () => {
    const separator = fc.constantFrom('', ' ', '-', '\u00a0', '\u2013', '\u3000');
    const spread = fc
      .tuple(cardNumbers, fc.array(separator, { minLength: 19, maxLength: 19 }), fc.boolean())
      .map(([number, between, wide]) =>
        Array.from(number)
          .map((digit, at) => (wide ? String.fromCharCode(0xff10 + Number(digit)) : digit) + (between[at] ?? ''))
          .join(''),
      );
    const texts = fc.array(
      fc.oneof(fc.string({ unit: 'binary', maxLength: 20 }), spread, fc.constantFrom('1', '23 ', '.', '  ')),
      {
        maxLength: 6,
      },
    );
    fc.assert(
      fc.property(texts, (parts) => {
        const text = parts.join('').toWellFormed();
        expect(mayHold(text) || findCardNumber(text) === null).toBe(true);
      }),
      { numRuns: 300 },
    );
  });
});
