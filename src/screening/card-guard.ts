/**
 * Keeps card data from going anywhere: finds primary account numbers, verification values and track data in a record, and
 * says where, never what. Pure; time is linear in the record's bytes.
 */
import { type Buffer, isUtf8 } from 'node:buffer';
import { type Letter } from '../kernel/outcome.ts';
import { mayHoldCardData, mayHoldLongNumber } from './card-guard-bytes.ts';
import { kindOfName } from './card-guard-names.ts';
import { findCardNumber, MIN_DIGITS } from './card-guard-numbers.ts';

export type CardDataKind = 'pan' | 'verification_value' | 'track_data';

/** Where card data was found. */
export interface CardFinding {
  /** JSON pointer (RFC 6901) of the field, or of the name that holds it; names that could hold data themselves are `?`. */
  readonly field: string;
  readonly what: CardDataKind;
}

export interface CardGuard {
  /** The first card data in a valid JSON text in UTF-8; null: there is none. */
  inspect(json: Buffer): CardFinding | null;
  /** Whether bytes of any kind hold card data: looked into as JSON where they are JSON, else as text. */
  isIn(bytes: Buffer): boolean;
}

/** Ids of the client and of its acquirer: free to look like anything. */
const EXEMPT: readonly string[] = ['trans_id', 'order_id', 'cust_id', 'item_id', 'unique_item_id', 'acq_ref_id'];

/** A guard that looks everywhere but into ids and the named datapoints, at whatever depth they stand. */
export function createCardGuard(exempt: readonly string[]): CardGuard {
  const left = new Set([...EXEMPT, ...exempt]);
  return {
    inspect: (json) => (mayHoldCardData(json) ? inspectText(json.toString('utf8'), left) : null),
    isIn: (bytes) => {
      if (!isJsonContainer(bytes)) return mayHoldLongNumber(bytes) && findCardNumber(bytes.toString('utf8')) !== null;
      return mayHoldCardData(bytes) && inspectText(bytes.toString('utf8'), left) !== null;
    },
  };
}

/** The letter of a record that holds card data. They spend nothing of the dead-letter guard's budget. */
export function toCardDataLetter({ what, field }: CardFinding): Letter {
  return { reason: 'card_data', stage: 'read', detail: `${what} ${field}` };
}

function isJsonContainer(bytes: Buffer): boolean {
  if (bytes[0] === 0 || !isUtf8(bytes)) return false;
  try {
    const value: unknown = JSON.parse(bytes.toString('utf8'));
    return typeof value === 'object' && value !== null;
  } catch {
    return false;
  }
}

/** An object or array that is open. */
interface Open {
  readonly kind: 'object' | 'array';
  /** The field that is being read; of an array the name under which it stands. */
  name: string;
  /** How many values came before. */
  index: number;
}

function inspectText(text: string, exempt: ReadonlySet<string>): CardFinding | null {
  return new Inspection(text, exempt).run();
}

/**
 * Reads the text itself and not what it parses to: of two fields of one name the parsed value keeps only the last, numbers
 * lose digits beyond 2^53, and the text is what goes out. The text is known to be valid, so nothing is checked again.
 */
class Inspection {
  readonly #text: string;
  readonly #exempt: ReadonlySet<string>;
  readonly #open: Open[] = [];
  #top: Open | undefined;
  #at = 0;

  constructor(text: string, exempt: ReadonlySet<string>) {
    this.#text = text;
    this.#exempt = exempt;
  }

  run(): CardFinding | null {
    const text = this.#text;
    while (this.#at < text.length) {
      const code = text.charCodeAt(this.#at);
      const what = code === 0x22 ? this.#string() : isNumberPart(code) ? this.#number() : this.#mark(code);
      if (what !== null) return { field: pointerOf(this.#open), what };
    }
    return null;
  }

  #string(): CardDataKind | null {
    const text = this.#text;
    const end = endOfString(text, this.#at);
    const value = unquoted(text, this.#at, end);
    const colon = skipWhitespace(text, end);
    this.#at = end;
    if (text.charCodeAt(colon) !== 0x3a || this.#top === undefined) return this.#value(value);
    this.#top.name = value;
    this.#at = colon + 1;
    return inspectName(value);
  }

  #number(): CardDataKind | null {
    const end = endOfNumber(this.#text, this.#at);
    const token = this.#text.slice(this.#at, end);
    this.#at = end;
    return this.#value(wholeNumber(token));
  }

  #value(value: string): CardDataKind | null {
    const name = this.#top?.name ?? '';
    return this.#exempt.has(name) ? null : inspectValue(value, name);
  }

  /** Brackets and commas; literals and white space tell nothing. */
  #mark(code: number): null {
    this.#at += 1;
    if (code === 0x7b) this.#push('object', '');
    else if (code === 0x5b) this.#push('array', this.#top?.name ?? '');
    else if (code === 0x7d || code === 0x5d) {
      this.#open.pop();
      this.#top = this.#open.at(-1);
    } else if (code === 0x2c && this.#top !== undefined) this.#top.index += 1;
    return null;
  }

  #push(kind: Open['kind'], name: string): void {
    this.#top = { kind, name, index: 0 };
    this.#open.push(this.#top);
  }
}

/** A card number may be a field's name, too. */
function inspectName(name: string): CardDataKind | null {
  return name.length < MIN_DIGITS ? null : (findCardNumber(name)?.what ?? null);
}

function inspectValue(value: string, name: string): CardDataKind | null {
  if (value === '') return null;
  const kind = kindOfName(name);
  if (kind === 'track_data') return kind;
  // A result of the check ("M", "true") is none, nor is a mask.
  if (kind === 'verification_value' && /^\s*[0-9\uff10-\uff19]{3,4}\s*$/.test(value)) return kind;
  return value.length < MIN_DIGITS ? null : (findCardNumber(value)?.what ?? null);
}

function endOfString(text: string, start: number): number {
  let end = start + 1;
  while (end < text.length && text.charCodeAt(end) !== 0x22) end += text.charCodeAt(end) === 0x5c ? 2 : 1;
  return end + 1;
}

function unquoted(text: string, start: number, end: number): string {
  const inner = text.slice(start + 1, end - 1);
  return inner.includes('\\') ? String(JSON.parse(text.slice(start, end))) : inner;
}

function skipWhitespace(text: string, from: number): number {
  let at = from;
  while (at < text.length && text.charCodeAt(at) <= 0x20) at += 1;
  return at;
}

/** Digits, the sign, the point, the exponent. */
function isNumberPart(code: number): boolean {
  return (code >= 0x30 && code <= 0x39) || code === 0x2d || code === 0x2e;
}

function endOfNumber(text: string, start: number): number {
  let end = start + 1;
  while (end < text.length) {
    const code = text.charCodeAt(end);
    if (!isNumberPart(code) && code !== 0x2b && (code | 0x20) !== 0x65) break;
    end += 1;
  }
  return end;
}

/** The digits of a whole number, also where it is written as `4.1E15` or `41.0`; empty: it is none. */
function wholeNumber(token: string): string {
  if (/^-?\d+$/.test(token)) return token;
  const value = Number(token);
  return Number.isSafeInteger(value) ? String(value) : '';
}

const DATAPOINT = /^\w{1,64}$/;
/** With this many digits a name is more likely an id than a name. */
const DIGITS_OF_AN_ID = /(?:\d\D*){6}/;

/** A deeper field is told by its outer ones. */
const LEVELS_SHOWN = 16;

function pointerOf(open: readonly Open[]): string {
  return open
    .slice(0, LEVELS_SHOWN)
    .map(({ kind, name, index }) => (kind === 'array' ? String(index) : shown(name)))
    .map((token) => `/${token}`)
    .join('');
}

function shown(name: string): string {
  return DATAPOINT.test(name) && !DIGITS_OF_AN_ID.test(name) ? name : '?';
}
