import { expect, test } from 'vitest';
import { DECIMAL_PLACES } from '../../../../src/mapping/currencies.ts';
import { CURRENCIES, EURO_RATES } from '../../../../src/sandbox/service/code-sets.ts';

/** Units of ISO 4217 that are no money of a country: metals, baskets, testing, none. */
const WITHOUT_MINOR_UNIT = 'XAD XAG XAU XBA XBB XBC XBD XDR XPD XPT XSU XTS XUA XXX'.split(' ');

test('knows every currency of ISO 4217, as the mapping does, and the units that the mapping leaves out', () => {
  expect([...CURRENCIES].toSorted()).toEqual([...DECIMAL_PLACES.keys(), ...WITHOUT_MINOR_UNIT].toSorted());
});

test('has a rate for every currency that has a minor unit, so that no amount counts as so many euros', () => {
  expect([...DECIMAL_PLACES.keys()].filter((code) => !EURO_RATES.has(code))).toEqual([]);
  expect([...EURO_RATES.keys()].filter((code) => !CURRENCIES.has(code))).toEqual([]);
  expect([...EURO_RATES].filter(([, rate]) => !(rate > 0))).toEqual([]);
});
