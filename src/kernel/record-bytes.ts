/** As much of a record as its size depends on. */
export interface SizedRecord {
  readonly key: Sized | null;
  readonly value: Sized | null;
  /** A name that is there several times has a list. Kafka's headers may be null. */
  readonly headers: Readonly<Record<string, Sized | readonly Sized[] | null | undefined>>;
}

interface Sized {
  readonly length: number;
}

/** About what a header needs beside its bytes: its name, its buffer and its place among the others. */
const HEADER_OVERHEAD = 128;

/** About what a record takes: its key, its value and its headers, which may be many. */
export function recordBytes({ key, value, headers }: SizedRecord): number {
  let bytes = lengthOf(key) + lengthOf(value);
  for (const name of Object.keys(headers)) {
    const held = headers[name];
    if (isList(held)) for (const each of held) bytes += HEADER_OVERHEAD + lengthOf(each);
    else bytes += HEADER_OVERHEAD + lengthOf(held);
  }
  return bytes;
}

function lengthOf(part: Sized | null | undefined): number {
  return part?.length ?? 0;
}

function isList(held: Sized | readonly Sized[] | null | undefined): held is readonly Sized[] {
  return Array.isArray(held);
}
