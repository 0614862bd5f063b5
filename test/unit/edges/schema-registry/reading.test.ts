import { Buffer } from 'node:buffer';
import avsc from 'avsc';
import { describe, expect, test } from 'vitest';
import { createReading, type Decoding } from '../../../../src/edges/schema-registry/reading.ts';
import { PAYMENT_AUTHORIZED_SCHEMA, PAYMENT_CREATED_SCHEMA } from '../../../../src/screening/avro.generated.ts';

interface WriterField {
  readonly name: string;
  readonly type: unknown;
  readonly default?: unknown;
}

/** A producer's schema: its own names, and `trans_id` beside the fields of the test. */
function writerOf(...fields: WriterField[]): avsc.Type {
  const schema = { type: 'record', name: 'com.shop.Order', fields: [{ name: 'trans_id', type: 'string' }, ...fields] };
  return avsc.Type.forSchema(schema as avsc.Schema);
}

function read(writer: avsc.Type, value: object, reader: object = PAYMENT_CREATED_SCHEMA): Decoding | string {
  const reading = createReading(reader, writer);
  return typeof reading === 'function' ? reading(writer.toBuffer({ trans_id: 't-1', ...value })) : reading.detail;
}

const nullable = (type: unknown): unknown => ['null', type];

describe('what cannot be read', () => {
  test.each<[string, WriterField, string]>([
    ['bytes for text', { name: 'order_id', type: 'bytes' }, 'bytes_for_string'],
    ['bytes in a union for text', { name: 'order_id', type: nullable('bytes') }, 'bytes_for_string'],
    [
      'a decimal for an amount',
      { name: 'trans_amt', type: nullable({ type: 'bytes', logicalType: 'decimal', precision: 9, scale: 2 }) },
      'bytes_for_string',
    ],
    ['a number for text', { name: 'order_id', type: 'long' }, 'schema'],
    ['a record for text', { name: 'ip', type: { type: 'record', name: 'Ip', fields: [] } }, 'schema'],
    ['text for a list', { name: 'items', type: 'string' }, 'schema'],
  ])('%s', (_, field, detail) => {
    expect(createReading(PAYMENT_CREATED_SCHEMA, writerOf(field))).toEqual({ do: 'refuse', detail });
  });

  test('bytes for text inside a list of records', () => {
    const item = { type: 'record', name: 'Line', fields: [{ name: 'item_desc', type: 'bytes' }] };
    const reading = createReading(
      PAYMENT_CREATED_SCHEMA,
      writerOf({ name: 'items', type: { type: 'array', items: item } }),
    );
    expect(reading).toEqual({ do: 'refuse', detail: 'bytes_for_string' });
  });

  test('a schema without trans_id', () => {
    const writer = avsc.Type.forSchema({ type: 'record', name: 'Order', fields: [{ name: 'ip', type: 'string' }] });
    expect(createReading(PAYMENT_CREATED_SCHEMA, writer)).toEqual({ do: 'refuse', detail: 'schema' });
  });

  test('a value that is no record', () => {
    expect(createReading(PAYMENT_CREATED_SCHEMA, avsc.Type.forSchema('string'))).toMatchObject({ do: 'refuse' });
  });

  test('a long that no number represents', () => {
    const writer = writerOf({ name: 'latency', type: 'long' });
    const reading = createReading(PAYMENT_AUTHORIZED_SCHEMA, writer);
    // trans_id "t", then 2^53 + 1 as a zigzag varint.
    const bytes = Buffer.from([2, 0x74, 0x82, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x20]);
    expect(typeof reading === 'function' && reading(bytes)).toEqual({
      do: 'refuse',
      reason: 'undecodable',
      detail: 'number',
    });
  });

  test('a broken id, which would else be the same as another broken id', () => {
    const reading = createReading(PAYMENT_CREATED_SCHEMA, writerOf());
    for (const byte of [0xfe, 0xff]) {
      const decoded = typeof reading === 'function' && reading(Buffer.from([4, 0x74, byte]));
      expect(decoded).toEqual({ do: 'refuse', reason: 'undecodable', detail: 'bytes' });
    }
  });
});

describe('what is read', () => {
  test('a whole U+FFFD, which is a character like any other', () => {
    expect(read(writerOf(), { trans_id: 't\uFFFD' })).toMatchObject({ value: { trans_id: 't\uFFFD' } });
  });

  test.each<[string, WriterField, unknown, unknown]>([
    ['a field added by the producer', { name: 'unheard_of', type: 'string' }, 'x', undefined],
    ['an int where we read a double', { name: 'trans_amt', type: 'int' }, 12, 12],
    ['a long where we read a double', { name: 'trans_amt', type: 'long' }, 2 ** 40, 2 ** 40],
    ['a plain double', { name: 'trans_amt', type: 'double' }, 12.34, 12.34],
    ['a plain string for an amount', { name: 'trans_amt', type: 'string' }, '12.34', '12.34'],
    ['branches in another order', { name: 'trans_amt', type: ['string', 'null', 'double'] }, 12.34, 12.34],
    ['branches that only wrapping tells apart', { name: 'trans_amt', type: ['int', 'double'] }, { double: 0.5 }, 0.5],
    ['text with a logical type', { name: 'order_id', type: { type: 'string', logicalType: 'uuid' } }, 'u-1', 'u-1'],
  ])('%s', (_, field, written, wanted) => {
    const decoded = read(writerOf(field), { [field.name]: written });
    expect(decoded).toMatchObject({ do: 'value', value: { trans_id: 't-1' } });
    const { value } = decoded as { readonly value: Record<string, unknown> };
    expect(value[field.name]).toBe(wanted);
  });

  test('null for every field the producer does not have', () => {
    const { value } = read(writerOf(), {}) as { readonly value: Record<string, unknown> };
    expect(Object.keys(value)).toHaveLength(35);
    expect(Object.values(value).filter((field) => field !== null)).toEqual(['t-1']);
  });

  test('records in lists, whatever the producer calls them', () => {
    const line = { type: 'record', name: 'com.shop.Line', fields: [{ name: 'item_amt', type: 'double' }] };
    const writer = writerOf({ name: 'items', type: nullable({ type: 'array', items: line }) });
    expect(read(writer, { items: [{ item_amt: 1.5 }] })).toMatchObject({
      value: { items: [{ item_amt: 1.5, item_id: null }] },
    });
  });

  test('values without methods, so that a field may be called what it likes', () => {
    const { value } = read(writerOf(), {}) as { readonly value: object };
    expect(JSON.parse(JSON.stringify(value))).toHaveProperty('trans_id', 't-1');
    expect('toBuffer' in value).toBe(false);
  });
});

test('without a reader schema it reads every field of the writer under its own name, unions plain', () => {
  const own = {
    type: 'record',
    name: 'HarbourPayment',
    fields: [
      { name: 'id', type: 'string' },
      { name: 'minor', type: ['null', 'long'] },
      { name: 'raw', type: 'bytes' },
    ],
  };
  const wrapped = avsc.Type.forSchema(own as avsc.Schema, { wrapUnions: 'always' });
  const reading = createReading(null, wrapped);
  if (typeof reading !== 'function') throw new Error('does not read');
  const bytes = wrapped.toBuffer({ id: 'a', minor: { long: 1250 }, raw: Buffer.from([1]) });
  expect(reading(bytes)).toEqual({ do: 'value', value: { id: 'a', minor: 1250, raw: Buffer.from([1]) } });
  expect(reading(bytes.subarray(1))).toEqual({ do: 'refuse', reason: 'undecodable', detail: 'bytes' });
});
