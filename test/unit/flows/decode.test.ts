import { describe, expect, test } from 'vitest';
import { type SourceRecord, type ValueDecoder } from '../../../src/engine/ports.ts';
import { createCardGuard } from '../../../src/screening/card-guard.ts';
import { type Decoded, decodeRecord } from '../../../src/flows/decode.ts';
import { type RecordMapper } from '../../../src/mapping/mapper.ts';

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
  ['record_too_large', letter('record_too_large')],
  ['undecodable', letter('undecodable', 'batch')],
] as const)('refuses what was never read: %s', (why, expected) => {
  const unread = { why, batch: null };
  expect(decodeRecord({ ...record(null), unread }, { decoder: noAvro, recordMaxBytes: 100 })).toEqual(expected);
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

test('what holds card data is a letter in either encoding; what an object holds else goes out as it came', () => {
  const guard = createCardGuard([]);
  const refused = { do: 'dead_letter', letter: { reason: 'card_data', stage: 'read', detail: 'pan /note' } };
  const reader = {
    decoder: decoderOf({ do: 'value', value: { note: '4111111111111111' } }),
    recordMaxBytes: 100,
    guard,
  };
  expect(decodeRecord(record(AVRO), reader)).toEqual(refused);
  expect(decodeRecord(record('{"note":4111111111111111}'), reader)).toEqual(refused);
  const good = record('{ "note": 411111111111111 }');
  expect(decodeRecord(good, reader)).toMatchObject({ do: 'object', json: good.value });
});

const mapperOf = (map: RecordMapper['map']): RecordMapper => ({ map, origins: new Map() });
const wrap = mapperOf((value) => ({ do: 'mapped', value: { all: value } }));
const read = (value: Buffer | string, mapper: RecordMapper, decoder = noAvro): Decoded =>
  decodeRecord(record(value), { decoder, recordMaxBytes: 10_000, mapper });

describe('with a mapping', () => {
  test('passes on what the mapping refuses and passes over', () => {
    const refusal = { reason: 'mapping_refused', stage: 'read', detail: 'trans_amt' } as const;
    expect(
      read(
        '{}',
        mapperOf(() => ({ do: 'dead_letter', letter: refusal })),
      ),
    ).toEqual(letter('mapping_refused', 'trans_amt'));
    const skip = { do: 'skip', rule: 'skip_when' } as const;
    expect(
      read(
        '{}',
        mapperOf(() => skip),
      ),
    ).toEqual(skip);
  });

  test('refuses JSON that is nested deeper than anything walks, and does not ask the mapping', () => {
    const never = mapperOf(() => {
      throw new Error('must not be asked');
    });
    expect(read(`{"a":${'['.repeat(3000)}${']'.repeat(3000)}}`, never)).toEqual(letter('undecodable', 'depth'));
    expect(read('{"a":', never)).toEqual(letter('undecodable', 'json'));
  });

  test('keeps the numbers of JSON as they were written in what is sent, and reckons with plain ones', () => {
    const decoded = read('{"a": 1.10, "b": 1e400, "n": null}', wrap);
    expect(decoded.do === 'object' && decoded.json?.toString()).toBe('{"all":{"a":1.10,"b":1e400,"n":null}}');
    expect(decoded).toMatchObject({ do: 'object', value: { all: { a: 1.1, b: Infinity, n: null } } });
  });

  test('maps Avro as well, without what was not given', () => {
    const decoder = decoderOf({ do: 'value', value: { a: 1.5, b: null } });
    const decoded = read(AVRO, wrap, decoder);
    expect(decoded.do === 'object' && decoded.json?.toString()).toBe('{"all":{"a":1.5}}');
  });
});
