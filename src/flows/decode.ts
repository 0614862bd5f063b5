import { isUtf8 } from 'node:buffer';
import { type SchemaId, type SourceRecord, type ValueDecoder } from '../engine/ports.ts';
import { type LetterCode, type Settlement } from '../kernel/outcome.ts';
import { type RecordMapper } from '../mapping/mapper.ts';
import { isTooDeep, parseKeepingNumbers, toPlain } from '../mapping/tokens.ts';
import { type CardGuard, toCardDataLetter } from '../screening/card-guard.ts';
import { toTransactionJson } from '../screening/transaction.ts';

/** What a record's bytes hold: an object, its end already, or a schema that has to be fetched first. */
export type Decoded =
  | {
      readonly do: 'object';
      readonly value: Record<string, unknown>;
      /** The value as JSON: the record's own bytes where nothing was mapped; null where it came as Avro and was not mapped. */
      readonly json: Buffer | null;
    }
  | { readonly do: 'needs'; readonly schema: SchemaId }
  | Settlement;

/** What reading a record needs to know. */
export interface RecordReader {
  readonly decoder: ValueDecoder;
  /** Of a record's value. */
  readonly recordMaxBytes: number;
  /** Null or absent: records have the service's names and values already. */
  readonly mapper?: RecordMapper | null;
  /** Looks at what would go out, after the mapping. Null or absent: nothing is looked for. */
  readonly guard?: CardGuard | null;
}

/** Confluent framing: byte 0, then a 4-byte schema id. */
const FRAME_BYTES = 5;

/**
 * Reads an input record as one object, whichever of the two encodings it came in, and maps it where a mapping says so;
 * never throws. No JSON text starts with byte 0, so the first byte tells the encodings apart.
 */
export function decodeRecord(record: SourceRecord, reader: RecordReader): Decoded {
  const { value, unread } = record;
  if (unread !== undefined) return refuse(unread.why, unread.why === 'undecodable' ? 'batch' : undefined);
  if (value === null) return { do: 'skip', rule: 'tombstone' };
  if (value.length > reader.recordMaxBytes) return refuse('record_too_large');
  if (value.length === 0) return refuse('bad_framing', 'empty');
  const mapper = reader.mapper ?? null;
  const decoded = value[0] === 0 ? decodeAvro(value, reader.decoder) : decodeJson(value, mapper !== null);
  const mapped = mapper === null || decoded.do !== 'object' ? decoded : mapDecoded(decoded, mapper);
  const guard = reader.guard ?? null;
  return guard === null || mapped.do !== 'object' ? mapped : guardDecoded(mapped, guard);
}

function decodeAvro(framed: Buffer, decoder: ValueDecoder): Decoded {
  if (framed.length < FRAME_BYTES) return refuse('bad_framing', 'short');
  const read = decoder.decode(framed);
  if (read.do === 'needs') return read;
  if (read.do === 'refuse') return refuse(read.reason, read.detail);
  return isObject(read.value) ? { do: 'object', value: read.value, json: null } : refuse('not_an_object');
}

function decodeJson(bytes: Buffer, isMapped: boolean): Decoded {
  // Decoding would silently replace broken bytes, and two different ids could become one.
  if (!isUtf8(bytes)) return refuse('undecodable', 'utf8');
  if (isMapped && isTooDeep(bytes)) return refuse('undecodable', 'depth');
  const text = bytes.toString('utf8');
  let value: unknown;
  try {
    value = isMapped ? parseKeepingNumbers(text) : JSON.parse(text);
  } catch {
    return refuse('undecodable', 'json');
  }
  return isObject(value) ? { do: 'object', value, json: bytes } : refuse('not_an_object');
}

function mapDecoded({ value, json }: Extract<Decoded, { do: 'object' }>, mapper: RecordMapper): Decoded {
  const mapped = mapper.map(value);
  if (mapped.do !== 'mapped') return mapped;
  // Avro's nulls mean "not given", also inside of what is passed on whole.
  const text = json === null ? toTransactionJson(mapped.value) : JSON.stringify(mapped.value);
  return { do: 'object', value: toPlain(mapped.value) as Record<string, unknown>, json: Buffer.from(text, 'utf8') };
}

function guardDecoded({ value, json }: Extract<Decoded, { do: 'object' }>, guard: CardGuard): Decoded {
  const text = json ?? Buffer.from(toTransactionJson(value), 'utf8');
  const finding = guard.inspect(text);
  return finding === null
    ? { do: 'object', value, json: text }
    : { do: 'dead_letter', letter: toCardDataLetter(finding) };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function refuse(reason: LetterCode, detail?: string): Settlement {
  return { do: 'dead_letter', letter: { reason, stage: 'read', ...(detail === undefined ? {} : { detail }) } };
}
