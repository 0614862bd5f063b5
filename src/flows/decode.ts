import { isUtf8 } from 'node:buffer';
import { type SchemaId, type SourceRecord, type ValueDecoder } from '../engine/ports.ts';
import { type LetterCode, type Settlement } from '../kernel/outcome.ts';

/** What a record's bytes hold: an object, its end already, or a schema that has to be fetched first. */
export type Decoded =
  | {
      readonly do: 'object';
      readonly value: Record<string, unknown>;
      /** The record's own bytes, where they were JSON. */
      readonly json: Buffer | null;
    }
  | { readonly do: 'needs'; readonly schema: SchemaId }
  | Settlement;

/** Confluent framing: byte 0, then a 4-byte schema id. */
const FRAME_BYTES = 5;

/**
 * Reads an input record as one object, whichever of the two encodings it came in; never throws. No JSON text starts with
 * byte 0, so the first byte tells the encodings apart.
 */
export function decodeRecord(record: SourceRecord, decoder: ValueDecoder, maxBytes: number): Decoded {
  const { value } = record;
  if (value === null) return { do: 'skip', rule: 'tombstone' };
  if (value.length > maxBytes) return refuse('record_too_large');
  if (value.length === 0) return refuse('bad_framing', 'empty');
  return value[0] === 0 ? decodeAvro(value, decoder) : decodeJson(value);
}

function decodeAvro(framed: Buffer, decoder: ValueDecoder): Decoded {
  if (framed.length < FRAME_BYTES) return refuse('bad_framing', 'short');
  const read = decoder.decode(framed);
  if (read.do === 'needs') return read;
  if (read.do === 'refuse') return refuse(read.reason, read.detail);
  return isObject(read.value) ? { do: 'object', value: read.value, json: null } : refuse('not_an_object');
}

function decodeJson(bytes: Buffer): Decoded {
  // Decoding would silently replace broken bytes, and two different ids could become one.
  if (!isUtf8(bytes)) return refuse('undecodable', 'utf8');
  let value: unknown;
  try {
    value = JSON.parse(bytes.toString('utf8'));
  } catch {
    return refuse('undecodable', 'json');
  }
  return isObject(value) ? { do: 'object', value, json: bytes } : refuse('not_an_object');
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function refuse(reason: LetterCode, detail?: string): Settlement {
  return { do: 'dead_letter', letter: { reason, stage: 'read', ...(detail === undefined ? {} : { detail }) } };
}
