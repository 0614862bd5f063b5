import { Buffer } from 'node:buffer';
import avsc from 'avsc';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { shapeCheck } from '../../../../src/edges/schema-registry/shape.ts';

const typeOf = (schema: unknown): avsc.Type => avsc.Type.forSchema(schema as avsc.Schema);

/** One of everything that Avro has. */
const EVERYTHING = typeOf({
  type: 'record',
  name: 'Everything',
  fields: [
    { name: 'flag', type: 'boolean' },
    { name: 'int', type: 'int' },
    { name: 'long', type: { type: 'long', logicalType: 'timestamp-millis' } },
    { name: 'float', type: 'float' },
    { name: 'double', type: ['null', 'double'] },
    { name: 'text', type: 'string' },
    { name: 'bytes', type: 'bytes' },
    { name: 'fixed', type: { type: 'fixed', name: 'Four', size: 4 } },
    { name: 'suit', type: { type: 'enum', name: 'Suit', symbols: ['A', 'B'] } },
    { name: 'list', type: { type: 'array', items: ['int', 'string'] } },
    { name: 'map', type: { type: 'map', values: 'int' } },
    { name: 'nothing', type: 'null' },
  ],
});

const values = fc.record({
  flag: fc.boolean(),
  int: fc.integer(),
  long: fc.integer({ min: -(2 ** 53) + 2, max: 2 ** 53 - 2 }),
  float: fc.float({ noNaN: true }),
  double: fc.option(fc.double({ noNaN: true })),
  text: fc.string({ unit: 'grapheme' }),
  bytes: fc.uint8Array().map((bytes) => Buffer.from(bytes)),
  fixed: fc.uint8Array({ minLength: 4, maxLength: 4 }).map((bytes) => Buffer.from(bytes)),
  suit: fc.constantFrom('A', 'B'),
  list: fc.array(fc.oneof(fc.integer(), fc.string())),
  map: fc.dictionary(fc.string(), fc.integer()),
  nothing: fc.constant(null),
});

/** What the decoder itself says of bytes; empty: it takes them. */
function decoderErrorOf(bytes: Buffer): string {
  try {
    EVERYTHING.fromBuffer(bytes);
    return '';
  } catch (error) {
    return String(error);
  }
}

describe('the shape of a value', () => {
  test.each<[string, unknown, number[]]>([
    ['a missing value', 'long', []],
    ['a number that never ends', 'long', Array.from({ length: 11 }, () => 0x80)],
    ['a boolean of 2', 'boolean', [2]],
    ['an int of 33 bits', 'int', [0x80, 0x80, 0x80, 0x80, 0x20]],
    ['a string that is cut', 'string', [6, 0x41, 0x42]],
    ['a string of a negative length', 'string', [1]],
    ['a string in no UTF-8', 'string', [4, 0x41, 0xff]],
    ['a lone surrogate', 'string', [6, 0xed, 0xa0, 0x80]],
    ['bytes that are cut', 'bytes', [6, 1]],
    ['a symbol that there is not', { type: 'enum', name: 'E', symbols: ['A'] }, [2]],
    ['a branch that there is not', ['null', 'int'], [4]],
    ['a negative branch', ['null', 'int'], [1]],
    ['trailing bytes', 'int', [2, 0]],
    ['more items than bytes', { type: 'array', items: 'int' }, [0xfe, 0xff, 0xff, 0xff, 0x0f, 2]],
    ['a block whose size is false', { type: 'array', items: 'int' }, [1, 4, 2, 0]],
    ['an array without an end', { type: 'array', items: 'int' }, [2, 2]],
    ['a map key in no UTF-8', { type: 'map', values: 'int' }, [2, 2, 0xff, 2, 0]],
  ])('refuses %s', (_, schema, bytes) => {
    expect(shapeCheck(typeOf(schema))(Buffer.from(bytes))).toBe(false);
  });

  test.each([
    ['null', { type: 'array', items: 'null' }],
    ['records without fields', { type: 'array', items: { type: 'record', name: 'Empty', fields: [] } }],
  ])('does not count to a billion for a few bytes of %s', (_, schema) => {
    expect(shapeCheck(typeOf(schema))(Buffer.from([0x80, 0xa8, 0xd6, 0xb9, 7, 0]))).toBe(false);
  });

  test('does not walk through a billion records without a byte, or through all the nulls of a wide one', () => {
    const fork = (depth: number): unknown => ({
      type: 'record',
      name: `Fork${String(depth)}`,
      fields: [
        { name: 'left', type: depth === 0 ? 'null' : fork(depth - 1) },
        { name: 'right', type: depth === 0 ? 'null' : `Fork${String(depth - 1)}` },
      ],
    });
    expect(shapeCheck(typeOf(fork(10)))(Buffer.of())).toBe(true);
    expect(shapeCheck(typeOf(fork(40)))(Buffer.of())).toBe(false);
    const nulls = Array.from({ length: 1000 }, (_, index) => ({ name: `f${String(index)}`, type: 'null' }));
    const wide = { type: 'array', items: { type: 'record', name: 'Wide', fields: nulls } };
    // Blocks of 60 and of 60,000 items.
    expect(shapeCheck(typeOf(wide))(Buffer.of(120, 0))).toBe(true);
    expect(shapeCheck(typeOf(wide))(Buffer.of(0xc0, 0xa9, 0x07, 0))).toBe(false);
  });

  test('refuses nesting that would exhaust the stack', () => {
    const nested = { type: 'record', name: 'Node', fields: [{ name: 'next', type: ['null', 'Node'] }] };
    const fits = shapeCheck(typeOf(nested));
    expect(fits(Buffer.from([2, 2, 2, 0]))).toBe(true);
    expect(fits(Buffer.concat([Buffer.alloc(100_000, 2), Buffer.from([0])]))).toBe(false);
  });

  test('takes blocks with their size, as some writers make them', () => {
    expect(shapeCheck(typeOf({ type: 'array', items: 'int' }))(Buffer.from([3, 4, 2, 4, 0]))).toBe(true);
  });

  test('is right for whatever the schema writes', () => {
    fc.assert(
      fc.property(values, (value) => {
        expect(shapeCheck(EVERYTHING)(EVERYTHING.toBuffer(value))).toBe(true);
      }),
    );
  });

  test('is wrong for whatever is cut', () => {
    fc.assert(
      fc.property(values, fc.nat(), (value, at) => {
        const bytes = EVERYTHING.toBuffer(value);
        expect(shapeCheck(EVERYTHING)(bytes.subarray(0, at % bytes.length))).toBe(false);
      }),
    );
  });

  test('lets nothing through that the decoder stumbles over, long numbers excepted', () => {
    fc.assert(
      fc.property(values, fc.nat(), fc.integer({ min: 0, max: 255 }), (value, at, byte) => {
        const bytes = EVERYTHING.toBuffer(value);
        bytes[at % bytes.length] = byte;
        const stumbles = shapeCheck(EVERYTHING)(bytes) && !/^$|precision/.test(decoderErrorOf(bytes));
        expect(stumbles).toBe(false);
      }),
    );
  });
});
