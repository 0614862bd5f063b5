import { Buffer } from 'node:buffer';

/** Confluent's wire format: byte 0, the schema id as a signed 32-bit big-endian number, then Avro. */
const HEAD_BYTES = 5;
const MAGIC = 0;

/** What the head of a value says. */
export type Framed =
  | { readonly do: 'framed'; readonly id: number; readonly payload: Buffer }
  | { readonly do: 'refuse'; readonly detail: 'too_short' | 'magic_byte' | 'schema_id' };

/** Puts the head in front of an Avro value; `id` from 1 to 2^31 - 1. */
export function frame(id: number, payload: Buffer): Buffer {
  const framed = Buffer.allocUnsafe(HEAD_BYTES + payload.length);
  framed[0] = MAGIC;
  framed.writeInt32BE(id, 1);
  payload.copy(framed, HEAD_BYTES);
  return framed;
}

/**
 * Takes the head off; the payload is a view. Registries count ids from 1: what is not above 0 is refused without asking
 * for it, such as the zeros that an 8-byte id begins with.
 */
export function unframe(value: Buffer): Framed {
  if (value.length < HEAD_BYTES) return { do: 'refuse', detail: 'too_short' };
  if (value[0] !== MAGIC) return { do: 'refuse', detail: 'magic_byte' };
  const id = value.readInt32BE(1);
  return id > 0 ? { do: 'framed', id, payload: value.subarray(HEAD_BYTES) } : { do: 'refuse', detail: 'schema_id' };
}
