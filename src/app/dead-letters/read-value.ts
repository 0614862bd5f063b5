import { isUtf8 } from 'node:buffer';
import { type ShownValue } from '../../dead-letters/show.ts';
import { type SchemaId, type SourceRecord, type ValueDecoder } from '../../engine/ports.ts';
import { decodeRecord } from '../../flows/decode.ts';
import { type Mapping } from '../../mapping/mapper.ts';
import { readTransId } from '../../screening/transaction.ts';
import { type LetterTopic } from './letter-topic.ts';

/** What a value says, or the schema that has to be fetched before it can be read. */
export type Read<T> = { readonly do: 'item'; readonly item: T } | { readonly do: 'needs'; readonly schema: SchemaId };

/** Reads which transaction a letter is about; null: that cannot be told. */
export type ReadTransId = (letter: SourceRecord) => Read<string | null>;

export interface ValueParts {
  /** Reads values as they were written. */
  readonly decoder: ValueDecoder;
  readonly mapping: Mapping;
}

const NO_ID = { do: 'item', item: null } as const;

/** A reader of trans_ids, also of records that can go nowhere for another reason. */
export function transIdReader({ flow }: LetterTopic, { decoder, mapping }: ValueParts): ReadTransId {
  if (flow === 'reviews') return ({ value }) => ({ do: 'item', item: transIdOfReview(value) });
  const reader = { decoder, mapper: mapping[flow], recordMaxBytes: Infinity };
  return (letter) => {
    const decoded = decodeRecord(letter, reader);
    if (decoded.do === 'needs') return decoded;
    if (decoded.do !== 'object' || !Object.hasOwn(decoded.value, 'trans_id')) return NO_ID;
    return { do: 'item', item: readTransId(decoded.value['trans_id']) };
  };
}

/** Reads the value of a letter for somebody to look at. */
export function readShown({ value }: SourceRecord, decoder: ValueDecoder): Read<ShownValue> {
  if (value?.[0] === 0) {
    const read = decoder.decode(value);
    if (read.do === 'needs') return read;
    return read.do === 'value'
      ? { do: 'item', item: { do: 'object', from: 'Avro', value: read.value } }
      : { do: 'item', item: { do: 'unreadable', why: `Avro that does not decode (${read.reason})` } };
  }
  const parsed = jsonOf(value);
  return parsed === undefined
    ? { do: 'item', item: { do: 'unreadable', why: 'neither JSON in UTF-8 nor Avro' } }
    : { do: 'item', item: { do: 'object', from: 'JSON', value: parsed } };
}

function transIdOfReview(value: Buffer | null): string | null {
  const event = jsonOf(value);
  const data = memberOf(event, 'data');
  const transId = memberOf(data, 'trans_id');
  return typeof transId === 'string' ? transId : null;
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Readonly<Record<string, unknown>>)[name]
    : undefined;
}

function jsonOf(value: Buffer | null): unknown {
  if (value === null || !isUtf8(value)) return undefined;
  try {
    return JSON.parse(value.toString('utf8')) as unknown;
  } catch {
    return undefined;
  }
}
