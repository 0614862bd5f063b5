import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readEvent } from '../../../src/reviews/parse.ts';
import { reviewBody, reviewData } from '../../support/webhooks.ts';

const read = (text: string) => readEvent(Buffer.from(text));

const entriesOf = (text: string) => new Map(Object.entries(JSON.parse(text) as object));

function withText(data: string, beside = ''): string {
  return `{"type":"txn_manual_review","data":${JSON.stringify(reviewData()).slice(0, -1)}${data}}${beside}}`;
}

describe('is not an object', () => {
  test.each(['', '{', '{}x', '[]', 'null', '"{}"', '7', '{"a":1,}', "{'a':1}", '{"a":01}', '{"a":\u0001}'])(
    '%j',
    (text) => {
      expect(read(text)).toEqual({ do: 'not_an_object' });
    },
  );

  test('bytes that are no UTF-8, inside of a text too', () => {
    const bytes = Buffer.concat([Buffer.from('{"type":"'), Buffer.from([0xc3, 0x28]), Buffer.from('"}')]);
    expect(readEvent(bytes)).toEqual({ do: 'not_an_object' });
  });

  test('a mark of byte order before the object', () => {
    expect(read('\ufeff{}')).toEqual({ do: 'not_an_object' });
  });
});

test('an object of another kind is unrecognised', () => {
  expect(read('{}')).toEqual({ do: 'unrecognised', field: '/type' });
  expect(readEvent(reviewBody({ decision: 'perhaps' }))).toEqual({ do: 'unrecognised', field: '/data/decision' });
});

describe('extra', () => {
  test('is empty when every field is known', () => {
    expect(readEvent(reviewBody())).toMatchObject({ do: 'review', extra: '{}' });
  });

  test('holds the unknown fields of data by name, and those beside it under $body', () => {
    const reading = read(withText(',"reviewer":"r-1","n":12345678901234567890', ',"id":"e-1","__proto__":{"x":1}'));
    expect(reading).toMatchObject({
      do: 'review',
      extra: '{"reviewer":"r-1","n":12345678901234567890,"$body":{"id":"e-1","__proto__":{"x":1}}}',
    });
  });

  test('takes nesting that would overflow a stack', () => {
    const depth = 100_000;
    const deep = `${'['.repeat(depth)}${']'.repeat(depth)}`;
    expect(read(withText(`,"deep":${deep}`))).toMatchObject({ do: 'review', extra: `{"deep":${deep}}` });
    expect(read(`{"type":${deep}}`)).toEqual({ do: 'unrecognised', field: '/type' });
  });

  test('law: is JSON that holds every unknown field with its value, whatever the names', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue()), (unknown) => {
        const data = { ...unknown, ...reviewData() };
        const reading = read(JSON.stringify({ data, type: 'txn_manual_review' }));
        if (reading.do !== 'review') throw new Error(`read as ${reading.do}`);
        const expected = entriesOf(JSON.stringify(data));
        for (const known of Object.keys(reviewData())) expected.delete(known);
        expect(entriesOf(reading.extra)).toEqual(expected);
      }),
    );
  });
});

test('of two fields of the same name the last one counts, in the review and in extra', () => {
  const reading = read(withText(',"decision":"bad","x":1,"x":2'));
  expect(reading).toMatchObject({ do: 'review', review: { decision: 'bad' }, extra: '{"x":2}' });
});

test('law: nothing makes it throw', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.uint8Array(),
        fc.json().map((text) => Buffer.from(text)),
      ),
      (bytes) => {
        expect(readEvent(bytes).do).toMatch(/^(?:review|unrecognised|not_an_object)$/);
      },
    ),
  );
});
