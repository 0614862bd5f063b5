import { Buffer } from 'node:buffer';
import avro from 'avsc';
import { describe, expect, test } from 'vitest';
import { createFramer, frame, unframe } from '../../../../src/edges/schema-registry/framing.ts';

describe('the head of a value', () => {
  test.each([
    ['nothing', [], 'too_short'],
    ['one byte', [0], 'too_short'],
    ['four bytes', [0, 0, 0, 0], 'too_short'],
    ['another first byte', [1, 0, 0, 0, 7, 2], 'magic_byte'],
    ['JSON', [...Buffer.from('{"trans_id":"1"}')], 'magic_byte'],
    ['the zeros of an 8-byte id', [0, 0, 0, 0, 0, 0, 0, 0, 7, 2], 'schema_id'],
    ['an id above 2^31 - 1', [0, 0xff, 0xff, 0xff, 0xff, 2], 'schema_id'],
  ])('refuses %s', (_, bytes, detail) => {
    expect(unframe(Buffer.from(bytes))).toEqual({ do: 'refuse', detail });
  });

  test.each([1, 258, 2 ** 31 - 1])('carries the id %i and leaves the payload as it was', (id) => {
    const payload = Buffer.from([2, 0x41]);
    expect(frame(id, payload)[0]).toBe(0);
    expect(unframe(frame(id, payload))).toEqual({ do: 'framed', id, payload });
  });

  test('takes an empty payload for a value: a record may have no fields', () => {
    expect(unframe(frame(7, Buffer.alloc(0)))).toMatchObject({ do: 'framed', payload: Buffer.alloc(0) });
  });
});

describe('values of one schema in frames', () => {
  const type = avro.Type.forSchema({ type: 'record', name: 'R', fields: [{ name: 'text', type: 'string' }] });
  const framed = createFramer<{ readonly text: string }>(258, {
    encode: (value, into, at) => type.encode(value, into, at),
    toBuffer: (value) => type.toBuffer(value),
  });

  test.each([0, 1, 300, 16_376, 16_377, 16_378, 100_000])(
    'are the bytes of the value behind its head: %i',
    (length) => {
      const value = { text: 'é'.repeat(length / 2) + 'x'.repeat(length % 2) };
      expect(framed(value)).toEqual(frame(258, type.toBuffer(value)));
    },
  );

  test('stay as they are when another one is written', () => {
    const first = framed({ text: 'first' });
    framed({ text: 'other' });
    expect(unframe(first)).toEqual({ do: 'framed', id: 258, payload: type.toBuffer({ text: 'first' }) });
  });

  test('are whole again after one that does not fit its schema', () => {
    expect(() => framed({ text: 7 } as never)).toThrow('invalid');
    expect(framed({ text: 'x' })).toEqual(frame(258, type.toBuffer({ text: 'x' })));
  });
});
