import { type Buffer } from 'node:buffer';
import { mayHoldKnownName } from './card-guard-names.ts';
import { MIN_DIGITS } from './card-guard-numbers.ts';

/** First byte of full-width digits and of the full-width dash in UTF-8. */
const FULL_WIDTH = 0xef;

/**
 * Whether JSON in UTF-8 may hold card data: false for nearly every ordinary record, and never false where there is some.
 * Names are plain letters, so they are sought as if the bytes were Latin-1, which takes no decoding.
 */
export function mayHoldCardData(json: Buffer): boolean {
  return mayHoldLongNumber(json) || mayHoldKnownName(json.toString('latin1'));
}

/**
 * Whether bytes may hold 13 digits with single separators between them. A run of them covers at least 13 bytes, so that
 * looking at every 13th byte meets each.
 */
export function mayHoldLongNumber(bytes: Uint8Array): boolean {
  for (let at = MIN_DIGITS - 1; at < bytes.length; at += MIN_DIGITS) {
    if (weightOf(bytes[at] ?? 0) < 0) continue;
    let from = at;
    while (from > 0 && weightOf(bytes[from - 1] ?? 0) >= 0) from -= 1;
    let digits = 0;
    let gap = 0;
    for (; from < bytes.length; from += 1) {
      const byte = bytes[from] ?? 0;
      const weight = weightOf(byte);
      if (weight < 0) break;
      digits += weight;
      gap = weight === 0 && byte < 0x80 ? gap + 1 : 0;
      // Two separators in a row end a number.
      if (gap > 1) digits = 0;
      if (digits >= MIN_DIGITS) return true;
    }
    if (from > at) at = from - 1;
  }
  return false;
}

/** 1: a digit, or the first byte of one; 0: may stand between digits; -1: ends a number. */
function weightOf(byte: number): -1 | 0 | 1 {
  if (byte >= 0x30 && byte <= 0x39) return 1;
  // A point stands in `4.111111111111111E15`, as some languages write a whole number.
  if (byte === 0x20 || byte === 0x2d || byte === 0x2e) return 0;
  if (byte < 0x80) return -1;
  return byte === FULL_WIDTH ? 1 : 0;
}
