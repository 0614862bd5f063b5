import fc from 'fast-check';
import { CARD_RANGES } from '../../src/screening/card-guard-numbers.ts';

/** Numbers that the brands and payment providers publish for tests; none is anybody's. */
export const TEST_CARDS: readonly (readonly [brand: string, number: string])[] = [
  ['Visa, 13 digits', '4222222222222'],
  ['Visa, 16 digits', '4111111111111111'],
  ['Visa, 16 digits', '4012888888881881'],
  ['Visa, 19 digits', '4000000000000000006'],
  ['Mastercard, 51 to 55', '5555555555554444'],
  ['Mastercard, 51 to 55', '5105105105105100'],
  ['Mastercard, 2221 to 2720', '2223003122003222'],
  ['Mastercard, 2221 to 2720', '2720990000000007'],
  ['American Express, 37', '378282246310005'],
  ['American Express, 34', '343434343434343'],
  ['Diners Club, 30', '30569309025904'],
  ['Diners Club, 38', '38520000023237'],
  ['Diners Club, 36', '36227206271667'],
  ['Discover, 6011', '6011111111111117'],
  ['Discover, 65', '6500000000000002'],
  ['JCB, 35', '3530111333300000'],
  ['JCB, 35', '3566002020360505'],
  ['UnionPay, 62', '6200000000000005'],
  ['UnionPay, 62, 19 digits', '6205500000000000004'],
  ['Maestro, 6759', '6759649826438453'],
  ['Maestro, 6304', '6304000000000000'],
];

/** The digit that makes a number's check fit (ISO/IEC 7812-1, Annex B), reckoned from the right, as the standard tells it. */
export function withCheckDigit(head: string): string {
  const sum = Array.from(head)
    .toReversed()
    .reduce((total, digit, index) => {
      const value = Number(digit) * (index % 2 === 0 ? 2 : 1);
      return total + Math.floor(value / 10) + (value % 10);
    }, 0);
  return `${head}${String((10 - (sum % 10)) % 10)}`;
}

/** Valid card numbers of every brand and length. */
export const cardNumbers: fc.Arbitrary<string> = fc
  .constantFrom(...CARD_RANGES)
  .chain(({ from, to, lengths }) =>
    fc
      .tuple(fc.integer({ min: from, max: to }), fc.constantFrom(...lengths))
      .chain(([prefix, length]) =>
        fc
          .array(fc.integer({ min: 0, max: 9 }), { minLength: length - 5, maxLength: length - 5 })
          .map((middle) => withCheckDigit(`${String(prefix)}${middle.join('')}`)),
      ),
  );
