import { Buffer } from 'node:buffer';
import { type Type } from 'avsc';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { lookUp } from '../../../../src/edges/schema-registry/look-up.ts';
import { withOwnNames } from '../../../../src/edges/schema-registry/prototype-names.ts';
import { createReading, type Decoding } from '../../../../src/edges/schema-registry/reading.ts';
import * as schemas from '../../../../src/screening/avro.generated.ts';

const INHERITED = Object.getOwnPropertyNames(Object.prototype);
const TEXT = Buffer.from([4, 0x74, 0x31]);

/** The bytes of a text. */
const text = (value: string): Buffer => Buffer.concat([Buffer.from([value.length * 2]), Buffer.from(value)]);

/** A branch of a union, and its bytes. */
const leaf = (branch: number, ...bytes: readonly number[]): Buffer => Buffer.from([branch * 2, ...bytes]);

/** The type of a schema, as the registry's client gives it. */
async function typeOf(schema: object): Promise<Type> {
  const body = { schema: JSON.stringify(schema) };
  const found = await lookUp(
    {
      request: async () => await Promise.resolve({ do: 'answer', status: 200, body }),
      exchanges: () => [],
      close: async () => {
        await Promise.resolve();
      },
    },
    7,
  );
  if (found.do !== 'type') throw new Error(`the schema is ${found.do}`);
  return found.type;
}

async function read(schema: object, bytes: Buffer, reader: object | null = null): Promise<Decoding | string> {
  const reading = createReading(reader, await typeOf(schema));
  return typeof reading === 'function' ? reading(bytes) : reading.detail;
}

/** A record of a `trans_id` and one field. */
const order = (name: string, type: unknown, more: object = {}): object => ({
  type: 'record',
  name: 'Order',
  fields: [
    { name: 'trans_id', type: 'string' },
    { name, type, ...more },
  ],
});

/** What a value holds itself, as text: an inherited or lost name is not in it. */
const held = (decoded: Decoding | string): string =>
  typeof decoded === 'object' && decoded.do === 'value' ? JSON.stringify(decoded.value) : JSON.stringify(decoded);

describe.each(INHERITED)('the name %s', (name) => {
  test('of a field that we do not know is passed over', async () => {
    const bytes = Buffer.concat([TEXT, text('x')]);
    const decoded = await read(order(name, 'string'), bytes, schemas.PAYMENT_CREATED_SCHEMA);
    expect(decoded).toMatchObject({ do: 'value', value: { trans_id: 't1' } });
    const { value } = decoded as { readonly value: object };
    expect(Object.hasOwn(value, name)).toBe(false);
  });

  test('of a field is read as it was written', async () => {
    const bytes = Buffer.concat([TEXT, Buffer.from([2]), text('x')]);
    const decoded = await read(order(name, ['null', 'string'], { default: null }), bytes);
    expect(held(decoded)).toBe(`{"trans_id":"t1","${name}":"x"}`);
  });

  test('of a record, of a symbol, of a field of it, and where they are meant by name', async () => {
    const inner = { type: 'record', name, fields: [{ name, type: { type: 'enum', name: 'E', symbols: ['A', name] } }] };
    const schema = order('list', { type: 'array', items: inner });
    Object.assign(schema, {
      fields: [...(schema as { fields: object[] }).fields, { name: 'more', type: ['null', name] }],
    });
    const decoded = await read(schema, Buffer.concat([TEXT, Buffer.from([4, 0, 2, 0, 2, 2])]));
    expect(held(decoded)).toBe(
      `{"trans_id":"t1","list":[{"${name}":"A"},{"${name}":"${name}"}],"more":{"${name}":"${name}"}}`,
    );
  });

  test('of a key in a map is read as it was written', async () => {
    const schema = order('map', { type: 'map', values: ['null', 'string'] });
    const bytes = Buffer.concat([
      TEXT,
      Buffer.from([4]),
      text('k'),
      Buffer.from([0]),
      text(name),
      Buffer.from([2]),
      text('x'),
      Buffer.from([0]),
    ]);
    expect(held(await read(schema, bytes))).toBe(`{"trans_id":"t1","map":{"k":null,"${name}":"x"}}`);
  });
});

test('a record under __proto__ changes what no object is: neither of a field nor of a key in a map', async () => {
  const inner = { type: 'record', name: 'Inner', fields: [{ name: 'polluted', type: 'string' }] };
  const ofField = await read(order('__proto__', inner), Buffer.concat([TEXT, text('yes')]));
  const map = order('map', { type: 'map', values: inner });
  const ofKey = await read(
    map,
    Buffer.concat([TEXT, Buffer.from([2]), text('__proto__'), text('yes'), Buffer.from([0])]),
  );
  const [first, second] = [ofField, ofKey].map((decoded) => (decoded as { readonly value: object }).value);
  expect(Object.getPrototypeOf(first)).toBe(Object.prototype);
  expect(Reflect.get(first ?? {}, 'polluted')).toBeUndefined();
  const ofMap = (second as { readonly map: object }).map;
  expect(Object.getPrototypeOf(ofMap)).toBe(Object.prototype);
  expect(Reflect.get(ofMap, 'polluted')).toBeUndefined();
});

test('a map beside a list and texts in one union, in a record that holds itself, keeps a key __proto__', async () => {
  const schema = {
    type: 'record',
    name: 'Node',
    fields: [
      {
        name: 'any',
        type: ['null', 'bytes', { type: 'map', values: 'Node' }, { type: 'array', items: 'int' }, 'string'],
      },
    ],
  };
  const bytes = Buffer.concat([
    Buffer.from([4, 10]),
    text('__proto__'),
    leaf(1, 2, 9),
    text('a'),
    leaf(3, 2, 14, 0),
    text('b'),
    leaf(4, 2, 0x78),
    text('c'),
    leaf(0),
    text('d'),
    Buffer.from([4, 0]),
    Buffer.from([0]),
  ]);
  const decoded = await read(schema, bytes);
  const { any } = (decoded as { readonly value: { readonly any: object } }).value;
  expect(Object.entries(any)).toEqual([
    ['__proto__', { any: Buffer.from([9]) }],
    ['a', { any: [7] }],
    ['b', { any: 'x' }],
    ['c', { any: null }],
    ['d', { any: {} }],
  ]);
});

test('a name that looks like a changed one is one of its own', async () => {
  const schema = order('own_name__constructor', 'string');
  Object.assign(schema, {
    fields: [...(schema as { fields: object[] }).fields, { name: 'constructor', type: 'string' }],
  });
  const decoded = await read(schema, Buffer.concat([TEXT, text('a'), text('b')]));
  expect(held(decoded)).toBe('{"trans_id":"t1","own_name__constructor":"a","constructor":"b"}');
});

test('what has no such name comes back to the letter, readable or not', () => {
  fc.assert(
    fc.property(fc.json(), fc.string(), (json, any) => {
      fc.pre(!INHERITED.some((name) => json.includes(name)) && !json.includes('own_name__'));
      expect(withOwnNames(json)).toBe(json);
      expect(withOwnNames(`{${any}`)).toBe(`{${any}`);
    }),
  );
  const schema = JSON.stringify(order('toString_', 'string', { default: 'constructor', doc: '__proto__' }));
  expect(withOwnNames(schema)).toBe(schema);
});

test('no schema that we read with has a map, whose keys would be names in an object', () => {
  const maps = Object.values(schemas).filter((schema) => JSON.stringify(schema).includes('"map"'));
  expect(maps).toEqual([]);
});
