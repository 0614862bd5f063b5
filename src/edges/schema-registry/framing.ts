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

/** What nearly all values fit into. */
const SCRATCH_BYTES = 16_384;

/**
 * Writes values of one schema with the head in front. They are written into memory that is used again and copied out at
 * their size: memory of its own for each value, and another one with the head, cost more than the writing.
 */
export function createFramer<T>(id: number, { encode, toBuffer }: ValueWriter<T>): (value: T) => Buffer {
  const scratch = frame(id, Buffer.alloc(SCRATCH_BYTES - HEAD_BYTES));
  return (value) => {
    const end = encode(value, scratch, HEAD_BYTES);
    if (end < 0) return frame(id, toBuffer(value));
    const framed = Buffer.allocUnsafe(end);
    scratch.copy(framed, 0, 0, end);
    return framed;
  };
}

/** How a value is written; throws where it does not fit its schema. */
export interface ValueWriter<T> {
  /** The place behind its last byte; below 0: there is no room. */
  readonly encode: (value: T, into: Buffer, at: number) => number;
  readonly toBuffer: (value: T) => Buffer;
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
