/**
 * JSON whose numbers stay what was written: `1.10`, `1e400` or a number of 30 digits is kept as its token wherever a
 * JavaScript number would print another text. A token is what `JSON.rawJSON` makes, so `JSON.stringify` prints it as it
 * came (ECMAScript, JSON.parse source text access).
 */

/** The text of a number that no JavaScript number prints. */
export interface NumberToken {
  readonly rawJSON: string;
}

/** What the type library has not yet. */
interface SourceTextAccess {
  parse(
    text: string,
    reviver: (key: string, value: unknown, context: { readonly source?: string }) => unknown,
  ): unknown;
  rawJSON(text: string): NumberToken;
  isRawJSON(value: unknown): value is NumberToken;
}

const JSON_TEXT = JSON as unknown as SourceTextAccess;

/** How deep arrays and objects may be in each other: what is deeper could exhaust the stack of whoever walks it. */
const MAX_DEPTH = 200;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPENING: ReadonlySet<number> = new Set([0x7b, 0x5b]);
const CLOSING: ReadonlySet<number> = new Set([0x7d, 0x5d]);

/** Parses JSON and keeps its numbers; throws a SyntaxError as `JSON.parse` does. */
export function parseKeepingNumbers(text: string): unknown {
  return JSON_TEXT.parse(text, (_key, value, { source }) =>
    typeof value === 'number' && source !== undefined ? toNumber(source) : value,
  );
}

/** The number of a JSON token: a JavaScript number if that prints the same text, else the token. */
export function toNumber(source: string): number | NumberToken {
  const number = Number(source);
  return String(number) === source ? number : JSON_TEXT.rawJSON(source);
}

export function isNumberToken(value: unknown): value is NumberToken {
  return JSON_TEXT.isRawJSON(value);
}

/** Whether a JSON text is nested deeper than anything here walks; of text that is no JSON it says nothing. */
export function isTooDeep(bytes: Uint8Array): boolean {
  let depth = 0;
  let inText = false;
  for (let index = 0; index < bytes.length; index += 1) {
    const byte = bytes[index] ?? 0;
    if (inText) {
      if (byte === BACKSLASH) index += 1;
      else inText = byte !== QUOTE;
    } else if (byte === QUOTE) inText = true;
    else if (OPENING.has(byte)) {
      depth += 1;
      if (depth > MAX_DEPTH) return true;
    } else if (CLOSING.has(byte)) depth -= 1;
  }
  return false;
}

/** The value with JavaScript numbers for tokens, rounded where they have to be: for code that reckons, not for what is sent. */
export function toPlain(value: unknown): unknown {
  if (isNumberToken(value)) return Number(value.rawJSON);
  if (Array.isArray(value)) return value.map(toPlain);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, toPlain(each)]));
}

/** A text, number, true or false as text, numbers as they were written; null for anything else. */
export function textOf(value: unknown): string | null {
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean' || Number.isFinite(value)) return String(value);
  return isNumberToken(value) ? value.rawJSON : null;
}
