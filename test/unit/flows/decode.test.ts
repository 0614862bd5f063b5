import { expect, test } from 'vitest';
import { type SourceRecord, type ValueDecoder } from '../../../src/engine/ports.ts';
import { decodeRecord } from '../../../src/flows/decode.ts';

const record = (value: Buffer | string | null): SourceRecord => ({
  topic: 'payments.created',
  partition: 0,
  offset: 7n,
  timestampMs: 0,
  key: null,
  value: typeof value === 'string' ? Buffer.from(value) : value,
  headers: {},
});
const letter = (reason: string, detail?: string): object => ({
  do: 'dead_letter',
  letter: { reason, stage: 'read', ...(detail === undefined ? {} : { detail }) },
});
const decoderOf = (result: ReturnType<ValueDecoder['decode']>): ValueDecoder => ({ decode: () => result });
const noAvro: ValueDecoder = {
  decode: () => {
    throw new Error('must not be asked');
  },
};
const AVRO = Buffer.from([0, 0, 0, 0, 1, 2]);

test('skips a record without a value', () => {
  expect(decodeRecord(record(null), { decoder: noAvro, recordMaxBytes: 100 })).toEqual({
    do: 'skip',
    rule: 'tombstone',
  });
});

test.each([
  ['nothing', '', letter('bad_framing', 'empty')],
  ['a frame without an id', Buffer.from([0, 0, 0, 0]), letter('bad_framing', 'short')],
  ['too much', `{"a":"${'x'.repeat(100)}"}`, letter('record_too_large')],
  ['broken UTF-8', Buffer.from([0x22, 0xff, 0x22]), letter('undecodable', 'utf8')],
  ['broken JSON', '{"trans_id":', letter('undecodable', 'json')],
  ['a byte order mark', '\uFEFF{}', letter('undecodable', 'json')],
  ['a list', '[1]', letter('not_an_object')],
  ['a text', '"T1"', letter('not_an_object')],
  ['null', 'null', letter('not_an_object')],
])('refuses %s', (_name, value, expected) => {
  expect(decodeRecord(record(value), { decoder: noAvro, recordMaxBytes: 100 })).toEqual(expected);
});

test('passes on what the decoder refuses, and the schema it needs', () => {
  const refused = decoderOf({ do: 'refuse', reason: 'schema_unknown', detail: 'id_1' });
  expect(decodeRecord(record(AVRO), { decoder: refused, recordMaxBytes: 100 })).toEqual(
    letter('schema_unknown', 'id_1'),
  );
  const needs = { do: 'needs', schema: 1 } as const;
  expect(decodeRecord(record(AVRO), { decoder: decoderOf(needs), recordMaxBytes: 100 })).toEqual(needs);
  expect(decodeRecord(record(AVRO), { decoder: decoderOf({ do: 'value', value: 'T1' }), recordMaxBytes: 100 })).toEqual(
    letter('not_an_object'),
  );
});

test('reads Avro by the decoder and JSON by itself, keeping the bytes of JSON', () => {
  const value = { trans_id: 'T1' };
  expect(decodeRecord(record(AVRO), { decoder: decoderOf({ do: 'value', value }), recordMaxBytes: 100 })).toEqual({
    do: 'object',
    value,
    json: null,
  });
  const json = record(' {"trans_id":"T1"}');
  const decoded = decodeRecord(json, { decoder: noAvro, recordMaxBytes: 100 });
  expect(decoded).toEqual({ do: 'object', value, json: json.value });
  expect(decoded.do === 'object' && decoded.json).toBe(json.value);
});

test('takes a value of exactly the limit', () => {
  expect(decodeRecord(record('{}'), { decoder: noAvro, recordMaxBytes: 2 }).do).toBe('object');
  expect(decodeRecord(record('{ }'), { decoder: noAvro, recordMaxBytes: 2 }).do).toBe('dead_letter');
});
