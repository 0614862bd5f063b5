import { findCardNumber, maskLongNumbers } from '../screening/card-guard-numbers.ts';
import { printable } from './printable.ts';

/** One value within a record: a JSON pointer, and what may be shown of it. */
export interface RedactedField {
  readonly name: string;
  readonly is: string;
}

/** Fields whose values say nothing of a person: ids, states, times, codes. Everything else is told by type and size. */
export const SHOWN: ReadonlySet<string> = new Set([
  'trans_id',
  'order_id',
  'frg_trans_id',
  'status',
  'ts',
  'trans_ts',
  'trans_currency',
  'pmt_method',
  'issuer_reason_code',
  'authentication_status',
  'exemption_type_raised',
  'http_status_code',
  'latency',
  'type',
  'decision',
  'reviewed_at',
]);

/** What ids, states, times and codes look like: no spaces and no `@`, so no names and addresses of people. */
const PLAIN = /^[\w.:+-]{1,64}$/;
const NAME = /^[\w$.-]{1,64}$/;
const MOST_FIELDS = 300;
const MOST_DEPTH = 8;

/**
 * What may be shown of a record's value: names of fields, and of each value its type and size; of few fields the value. A
 * value that looks like card data is not shown under any name, nor a name that could hold data itself.
 */
export function redact(value: unknown): readonly RedactedField[] {
  const fields: RedactedField[] = [];
  walk(value, { name: '', path: '', depth: 0 }, fields);
  return fields.length > MOST_FIELDS
    ? [...fields.slice(0, MOST_FIELDS), { name: '…', is: `${String(fields.length - MOST_FIELDS)} more` }]
    : fields;
}

/** An id as it may be shown. */
export function shownId(text: string): string {
  return isShowable(text) ? text : `not shown (${kindOf(text)})`;
}

/** A text of somebody else's, without what in it looks like a number of a card, an e-mail address or an address of a machine. */
export function withoutAddresses(text: string): string {
  const masked = maskLongNumbers(printable(text));
  return masked.replaceAll(EMAIL, '[e-mail]').replaceAll(IPV4, '[address]').replaceAll(IPV6, '[address]');
}

/** The same, and without what it quotes, which may be a value; names of fields stay. */
export function withoutQuotes(text: string): string {
  return withoutAddresses(
    text.replaceAll(QUOTED, (whole, quoted: string) => (FIELD.test(quoted) ? whole : '[quoted]')),
  );
}

const QUOTED = /["'`\u00AB\u2018\u201C]([^"'`\u00BB\u2019\u201D]*)["'`\u00BB\u2019\u201D]/gu;
const FIELD = /^[a-z]+(?:_[a-z\d]+)+$|^(?:ip|ts|status)$/;
const EMAIL = /[^\s@<>"']+@[^\s@<>"']+/gu;
const IPV4 = /\b\d{1,3}(?:\.\d{1,3}){3}\b/g;
/** With `::`, or with all of its eight groups: a time of day is none. */
const IPV6 = /(?<![\w:])(?:(?:[\da-f]{1,4}:){7}[\da-f]{1,4}|[\da-f:]*::[\da-f:]*)(?![\w:])/gi;

function walk(
  value: unknown,
  at: { readonly name: string; readonly path: string; readonly depth: number },
  into: RedactedField[],
): void {
  const members = membersOf(value);
  if (members === null || at.depth === MOST_DEPTH || into.length > MOST_FIELDS) {
    into.push({ name: at.path, is: shownValue(at.name, value) });
    return;
  }
  if (members.length === 0) into.push({ name: at.path, is: Array.isArray(value) ? 'empty list' : 'empty object' });
  for (const [name, member] of members) {
    const shown = NAME.test(name) && findCardNumber(name) === null ? name : `(name of ${characters(name)})`;
    // The values of a list are of its field.
    const of = Array.isArray(value) ? at.name : name;
    walk(member, { name: of, path: `${at.path}/${shown}`, depth: at.depth + 1 }, into);
  }
}

function membersOf(value: unknown): readonly (readonly [string, unknown])[] | null {
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return null;
  return Array.isArray(value)
    ? value.map((each: unknown, index) => [String(index), each] as const)
    : Object.entries(value);
}

function shownValue(name: string, value: unknown): string {
  if (value === null || value === undefined || typeof value === 'boolean') return String(value);
  const isPlain = typeof value === 'string' || typeof value === 'number' || typeof value === 'bigint';
  const text = isPlain ? String(value) : '';
  if (isPlain && SHOWN.has(name) && isShowable(text)) return typeof value === 'string' ? `"${text}"` : text;
  return kindOf(value);
}

function isShowable(text: string): boolean {
  return PLAIN.test(text) && findCardNumber(text) === null;
}

function kindOf(value: unknown): string {
  if (typeof value === 'string') return value === '' ? 'empty text' : `text of ${characters(value)}`;
  if (typeof value === 'number' || typeof value === 'bigint') return 'number';
  if (Array.isArray(value)) return `list of ${String(value.length)}`;
  return ArrayBuffer.isView(value) ? `${String(value.byteLength)} bytes` : 'object';
}

function characters(text: string): string {
  return text.length === 1 ? '1 character' : `${String(text.length)} characters`;
}
