import { type OutgoingRecord, type RecordHeaders } from './ports.ts';

/** About what a header needs beside its bytes: its name, its buffer and its place among the others. */
const HEADER_OVERHEAD = 128;

/** About what a record takes: its key, its value and its headers, which may be many. */
export function recordBytes({ key, value, headers }: Pick<OutgoingRecord, 'key' | 'value' | 'headers'>): number {
  return (key?.length ?? 0) + (value?.length ?? 0) + headerBytes(headers);
}

function headerBytes(headers: RecordHeaders): number {
  let bytes = 0;
  for (const name of Object.keys(headers)) {
    const held = headers[name];
    if (Array.isArray(held)) for (const each of held) bytes += HEADER_OVERHEAD + lengthOf(each);
    else bytes += HEADER_OVERHEAD + lengthOf(held);
  }
  return bytes;
}

/** Kafka's headers may be null. */
function lengthOf(value: { readonly length: number } | null | undefined): number {
  return value?.length ?? 0;
}
