import { isNumberToken } from './tokens.ts';

/** Where a pointer is looked up: the record, and inside of a list the entry that is being mapped. */
export interface Scope {
  readonly record: unknown;
  readonly item: unknown;
}

/** Finds the value that a pointer names; undefined: there is none, or it is null. */
export type Find = (scope: Scope) => unknown;

/** Begins a pointer that starts at the record, also inside of a list. */
const FROM_RECORD = '^';
const TOKEN = /^(?:[^~]|~[01])*$/;
const INDEX = /^(?:0|[1-9]\d{0,8})$/;

/**
 * Compiles a JSON pointer (RFC 6901), or answers null for a text that is none. It starts at the entry of the list that
 * is being mapped, outside of lists at the record; with `^` before it always at the record. Only fields that a value has
 * itself are found, so `constructor` and `__proto__` are names like others.
 */
export function compilePointer(text: string): Find | null {
  const isAbsolute = text.startsWith(FROM_RECORD);
  const pointer = isAbsolute ? text.slice(1) : text;
  if (pointer !== '' && !pointer.startsWith('/')) return null;
  const tokens = pointer.split('/').slice(1);
  if (!tokens.every((token) => TOKEN.test(token))) return null;
  const names = tokens.map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'));
  return ({ record, item }) => {
    let value = isAbsolute ? record : item;
    for (const name of names) value = child(value, name);
    return value ?? undefined;
  };
}

function child(value: unknown, name: string): unknown {
  if (Array.isArray(value)) return INDEX.test(name) ? (value as readonly unknown[])[Number(name)] : undefined;
  if (typeof value !== 'object' || value === null || isNumberToken(value)) return undefined;
  return Object.hasOwn(value, name) ? (value as Readonly<Record<string, unknown>>)[name] : undefined;
}
