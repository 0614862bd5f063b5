/**
 * What a primary account number (PAN) looks like: digits of a brand's prefix and length whose check digit fits, and the
 * track data of a magnetic stripe around one. Sources: ISO/IEC 7812-1 (structure, Annex B: the check digit), ISO/IEC 7813
 * (tracks), and the prefixes and lengths that the brands publish for their networks.
 */

export const MIN_DIGITS = 13;
const MAX_DIGITS = 19;
/** Of the prefix that the table is asked by. */
const PREFIX_DIGITS = 4;

/** One row: first digits from `from` to `to` (both padded to four), and how many digits a number of it may have. */
export interface CardRange {
  readonly brand: string;
  readonly from: number;
  readonly to: number;
  readonly lengths: readonly number[];
}

const FROM_14: readonly number[] = [14, 16, 17, 18, 19];
const FROM_16: readonly number[] = [16, 17, 18, 19];
const FROM_13: readonly number[] = [13, 14, 15, 16, 17, 18, 19];

/** Prefixes and lengths by brand. National brands with ranges of their own (Mir, RuPay, Elo, Verve, Troy) are not in it. */
export const CARD_RANGES: readonly CardRange[] = [
  { brand: 'visa', from: 4000, to: 4999, lengths: [13, 16, 19] },
  { brand: 'mastercard', from: 5100, to: 5599, lengths: [16] },
  { brand: 'mastercard', from: 2221, to: 2720, lengths: [16] },
  { brand: 'amex', from: 3400, to: 3499, lengths: [15] },
  { brand: 'amex', from: 3700, to: 3799, lengths: [15] },
  { brand: 'diners', from: 3000, to: 3059, lengths: FROM_14 },
  { brand: 'diners', from: 3095, to: 3095, lengths: FROM_14 },
  { brand: 'diners', from: 3600, to: 3699, lengths: FROM_14 },
  { brand: 'diners', from: 3800, to: 3999, lengths: FROM_14 },
  { brand: 'discover', from: 6011, to: 6011, lengths: FROM_16 },
  { brand: 'discover', from: 6440, to: 6599, lengths: FROM_16 },
  { brand: 'jcb', from: 3528, to: 3589, lengths: FROM_16 },
  { brand: 'unionpay', from: 6200, to: 6299, lengths: FROM_16 },
  { brand: 'unionpay', from: 8100, to: 8171, lengths: FROM_16 },
  { brand: 'maestro', from: 5018, to: 5018, lengths: FROM_13 },
  { brand: 'maestro', from: 5020, to: 5020, lengths: FROM_13 },
  { brand: 'maestro', from: 5038, to: 5038, lengths: FROM_13 },
  { brand: 'maestro', from: 5893, to: 5893, lengths: FROM_13 },
  { brand: 'maestro', from: 6304, to: 6304, lengths: FROM_13 },
  { brand: 'maestro', from: 6759, to: 6759, lengths: FROM_13 },
  { brand: 'maestro', from: 6761, to: 6763, lengths: FROM_13 },
];

/** By the first four digits: bit n is set where a number of n digits may begin so. */
const LENGTHS_BY_PREFIX: Uint32Array = tableOf(CARD_RANGES);

function tableOf(ranges: readonly CardRange[]): Uint32Array {
  const table = new Uint32Array(10 ** PREFIX_DIGITS);
  for (const { from, to, lengths } of ranges)
    for (let prefix = from; prefix <= to; prefix += 1)
      for (const length of lengths) table[prefix] = (table[prefix] ?? 0) | (1 << length);
  return table;
}

/** Where a text holds card data. */
export interface CardHit {
  readonly what: 'pan' | 'track_data';
  readonly start: number;
  /** Behind the last digit of the number. */
  readonly end: number;
}

/** The value of a digit, plain or full-width (as Japanese input methods write them); -1: none. */
function digitOf(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  return code >= 0xff10 && code <= 0xff19 ? code - 0xff10 : -1;
}

/** Spaces and dashes as people and word processors put them between groups of digits. */
function isSeparator(code: number): boolean {
  if (code < 0x80) return code === 0x20 || code === 0x2d;
  if (code === 0xa0 || code === 0x3000 || code === 0x2212 || code === 0xff0d) return true;
  return (code >= 0x2007 && code <= 0x2015) || code === 0x202f;
}

/**
 * Finds the first card number or track in a text; null: there is none. Digits may stand in groups with one space or dash
 * between them; a number begins and ends where a group does. Time is linear in the text: each group is looked at once, and
 * at most 19 digits from there.
 */
export function findCardNumber(text: string): CardHit | null {
  for (let at = 0; at <= text.length - MIN_DIGITS; at += 1) {
    if (digitOf(text.charCodeAt(at)) < 0) continue;
    const hit = hitAt(text, at);
    if (hit !== null) return hit;
    while (digitOf(text.charCodeAt(at + 1)) >= 0) at += 1;
  }
  return null;
}

/** Card data whose number begins at the group of digits that begins at `start`. */
function hitAt(text: string, start: number): CardHit | null {
  const isTrack = isTrackStart(text, start);
  const number = new Digits();
  for (let at = start; number.count < MAX_DIGITS;) {
    number.add(digitOf(text.charCodeAt(at)));
    if (number.count === PREFIX_DIGITS && !isTrack && number.lengths === 0) return null;
    at += 1;
    const next = text.charCodeAt(at);
    if (digitOf(next) >= 0) continue;
    const what = number.count < MIN_DIGITS ? null : kindAt(text, { start, end: at, number, isTrack });
    if (what !== null) return { what, start, end: at };
    if (!isSeparator(next) || digitOf(text.charCodeAt(at + 1)) < 0) return null;
    at += 1;
  }
  return null;
}

/** Digits as they are read from the left. Which of them count twice is known only at the end, so both sums are kept. */
class Digits {
  count = 0;
  #prefix = 0;
  #evenDoubled = 0;
  #oddDoubled = 0;

  add(digit: number): void {
    const doubled = digit > 4 ? 2 * digit - 9 : 2 * digit;
    const isEven = this.count % 2 === 0;
    this.#evenDoubled += isEven ? doubled : digit;
    this.#oddDoubled += isEven ? digit : doubled;
    if (this.count < PREFIX_DIGITS) this.#prefix = this.#prefix * 10 + digit;
    this.count += 1;
  }

  /** Bit n is set where a number of n digits may begin so. */
  get lengths(): number {
    return LENGTHS_BY_PREFIX[this.#prefix] ?? 0;
  }

  /** Whether a brand has numbers that begin so and are so long, and the last digit is their check digit (Luhn). */
  isCardNumber(): boolean {
    const sum = this.count % 2 === 0 ? this.#evenDoubled : this.#oddDoubled;
    return sum % 10 === 0 && ((this.lengths >> this.count) & 1) === 1;
  }
}

interface Candidate {
  readonly start: number;
  readonly end: number;
  readonly number: Digits;
  readonly isTrack: boolean;
}

function kindAt(text: string, candidate: Candidate): CardHit['what'] | null {
  if (candidate.isTrack && isTrackEnd(text, candidate.end)) return 'track_data';
  return candidate.number.isCardNumber() && !isOtherwise(text, candidate) ? 'pan' : null;
}

/** `%B` begins track 1, `;` begins track 2 (ISO/IEC 7813). */
function isTrackStart(text: string, start: number): boolean {
  const before = text.charCodeAt(start - 1);
  if (before === 0x3b) return true;
  return (before === 0x42 || before === 0x62) && text.charCodeAt(start - 2) === 0x25;
}

/** Track 1: `^`, a name of 2 to 26 characters, `^`; track 2: `=` and digits; both end with `?`, within their length. */
const TRACK_END = /^(?:\^[^^?]{2,26}\^[^?]{0,60}|=[^?]{4,60})\?/;
const TRACK_END_LENGTH = 100;

function isTrackEnd(text: string, end: number): boolean {
  return TRACK_END.test(text.slice(end, end + TRACK_END_LENGTH));
}

/**
 * Numbers that look like a card's and are plainly something else: a decimal number, a telephone number as ITU-T E.164
 * writes it (`+` and 13 digits), digits within a hash or a UUID.
 */
function isOtherwise(text: string, { start, end, number }: Candidate): boolean {
  if (number.count === MIN_DIGITS && text.charCodeAt(start - 1) === 0x2b) return true;
  return isInHexadecimal(text, start, end) || DECIMAL.test(text);
}

const DECIMAL = /^\s*[-+]?\d+[.,]\d+\s*$/;

/** The least that counts as a hash or a UUID. */
const HEXADECIMAL_DIGITS = 32;
/** Enough for those of 512 bits; a longer word is not looked through to its end. */
const HEXADECIMAL_REACH = 128;

function isInHexadecimal(text: string, start: number, end: number): boolean {
  let digits = 0;
  let letters = 0;
  const take = (at: number): boolean => {
    const code = text.charCodeAt(at) | 0x20;
    const isLetter = code >= 0x61 && code <= 0x66;
    const isDigit = code >= 0x30 && code <= 0x39;
    if (isLetter) letters += 1;
    if (isLetter || isDigit) digits += 1;
    return isLetter || isDigit || code === 0x2d;
  };
  for (let at = start; at < end; at += 1) take(at);
  for (let at = start - 1; at >= 0 && start - at <= HEXADECIMAL_REACH && take(at);) at -= 1;
  for (let at = end; at < text.length && at - end < HEXADECIMAL_REACH && take(at);) at += 1;
  return letters > 0 && digits >= HEXADECIMAL_DIGITS;
}

/**
 * The text with every run of 13 or more digits masked, whatever brand or check digit it has: so there is no card number in
 * what is left, and none that was mistyped either. Time is linear in the text.
 */
export function maskLongNumbers(text: string): string {
  let masked = '';
  let kept = 0;
  for (let at = 0; at <= text.length - MIN_DIGITS; at += 1) {
    if (digitOf(text.charCodeAt(at)) < 0) continue;
    const run = runAt(text, at);
    if (run.digits >= MIN_DIGITS) {
      masked += `${text.slice(kept, at)}[digits]`;
      kept = run.end;
    }
    at = run.end;
  }
  return kept === 0 ? text : masked + text.slice(kept);
}

/** The digits from `start` on, with single separators between them. */
function runAt(text: string, start: number): { readonly digits: number; readonly end: number } {
  let digits = 0;
  let at = start;
  while (digitOf(text.charCodeAt(at)) >= 0) {
    digits += 1;
    at += 1;
    if (isSeparator(text.charCodeAt(at)) && digitOf(text.charCodeAt(at + 1)) >= 0) at += 1;
  }
  return { digits, end: at };
}
