/**
 * The conversions of a mapping. Each takes a value as it came and answers what goes out; null: it cannot handle the
 * value. Amounts and times are reckoned on their digits, never through floating point.
 */
import { ALPHA_2 } from './countries.ts';
import { DECIMAL_PLACES } from './currencies.ts';
import { type NumberToken, textOf, toNumber } from './tokens.ts';

/** Prints milliseconds since 1970 as RFC 3339 in UTC, to the second. */
export type FormatTime = (epochMs: number) => string;

export const TIMESTAMP_FORMS = ['epoch_s', 'epoch_ms'] as const;
export type TimestampForm = (typeof TIMESTAMP_FORMS)[number];

export const EXPIRY_FORMS = ['MMYY', 'MMYYYY', 'YYMM', 'YYYYMM'] as const;
export type ExpiryForm = (typeof EXPIRY_FORMS)[number];

/** A decimal as JSON and most printers write it, `1.7E9` of Java included. */
const DECIMAL = /^(-?)(\d{1,40})(?:\.(\d{1,40}))?(?:[eE]([+-]?\d{1,2}))?$/;
/** The last second of the year 9999. */
const LAST_SECOND = 253_402_300_799;
/** Milliseconds before March 1973 are taken for seconds that were called milliseconds. */
const FEWEST_MS = 100_000_000_000;

/**
 * An amount in minor units as a decimal in major units, exactly: `1250` of EUR is `12.50`. The amount is a whole number
 * (a fraction of zeros may follow), as a number or a text; the currency a code of ISO 4217.
 */
export function fromMinorUnits(amount: unknown, currency: unknown): number | NumberToken | null {
  const places = typeof currency === 'string' ? DECIMAL_PLACES.get(currency.toUpperCase()) : undefined;
  const whole = wholeOf(amount);
  if (places === undefined || whole === null) return null;
  const { isNegative, digits } = whole;
  const padded = digits.padStart(places + 1, '0');
  const cut = padded.length - places;
  const fraction = places === 0 ? '' : `.${padded.slice(cut)}`;
  return toNumber(`${isNegative ? '-' : ''}${padded.slice(0, cut)}${fraction}`);
}

/** A time since 1970 as RFC 3339 in UTC; parts of a second are cut. */
export function fromEpoch(value: unknown, form: TimestampForm, format: FormatTime): string | null {
  const text = textOf(value);
  const parts = text === null ? null : decimalOf(text);
  if (parts === null || parts.isNegative || parts.digits.length > 15) return null;
  const count = Number(parts.digits);
  if (form === 'epoch_ms') return count < FEWEST_MS || count > LAST_SECOND * 1000 ? null : format(count);
  return count > LAST_SECOND ? null : format(count * 1000);
}

/** The alpha-2 code of a country's alpha-3 code, in letters of any case. */
export function fromAlpha3(value: unknown): string | null {
  return typeof value === 'string' ? (ALPHA_2.get(value.toUpperCase()) ?? null) : null;
}

/**
 * A card's expiry as four digits, month then year (spec: `cc_exp_dt`, "month and year digits"). A slash, dash or space
 * may stand between the parts; a number may lack the zero that it cannot begin with.
 */
export function fromExpiry(value: unknown, form: ExpiryForm): string | null {
  const text = textOf(value);
  if (text === null || typeof value === 'boolean') return null;
  const digits =
    typeof value === 'string' ? text.replace(/^(\d+)[/ -](\d+)$/, '$1$2') : text.padStart(form.length, '0');
  if (digits.length !== form.length || !/^\d+$/.test(digits)) return null;
  const month = form.startsWith('M') ? digits.slice(0, 2) : digits.slice(-2);
  const year = form.startsWith('M') ? digits.slice(2) : digits.slice(0, -2);
  if (!/^(?:0[1-9]|1[0-2])$/.test(month) || !/^(?:20)?\d\d$/.test(year)) return null;
  return month + year.slice(-2);
}

/** A text in capitals or small letters, whatever the language of the machine. */
export function toCase(value: unknown, letters: 'upper' | 'lower'): string | null {
  if (typeof value !== 'string') return null;
  return letters === 'upper' ? value.toUpperCase() : value.toLowerCase();
}

interface Whole {
  readonly isNegative: boolean;
  /** Without zeros in front. */
  readonly digits: string;
}

/** The whole part of a decimal, with what is behind its point. */
function decimalOf(text: string): (Whole & { readonly rest: string }) | null {
  const parts = DECIMAL.exec(text);
  if (parts === null) return null;
  const [, sign, integer = '', fraction = '', exponent = '0'] = parts;
  const all = integer + fraction;
  const point = integer.length + Number(exponent);
  const before = point <= 0 ? '' : all.slice(0, point).padEnd(point, '0');
  const digits = before.replace(/^0+/, '') || '0';
  const rest = (point <= 0 ? '0'.repeat(-point) + all : all.slice(point)).replace(/0+$/, '');
  return { isNegative: sign === '-' && (digits !== '0' || rest !== ''), digits, rest };
}

function wholeOf(value: unknown): Whole | null {
  // Beyond these a JavaScript number is no longer the number that was written; tokens have no such limit.
  if (typeof value === 'number' && !Number.isSafeInteger(value)) return null;
  const text = typeof value === 'boolean' ? null : textOf(value);
  const parts = text === null ? null : decimalOf(text);
  return parts === null || parts.rest !== '' ? null : parts;
}
