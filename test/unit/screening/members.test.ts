import fc from 'fast-check';
import { expect, test } from 'vitest';
import { membersOf } from '../../../src/screening/members.ts';

test('of an empty object there are none', () => {
  expect(membersOf(' {\n} ').size).toBe(0);
});

test('keeps the digits of numbers that JavaScript cannot hold', () => {
  const members = membersOf('{"id": 12345678901234567890 , "amount":1.10,"small":1e-400}');
  expect(Object.fromEntries(members)).toEqual({ id: '12345678901234567890', amount: '1.10', small: '1e-400' });
});

test('of a name that is there twice the last one counts', () => {
  expect(membersOf(String.raw`{"a":1,"\u0061":2}`)).toEqual(new Map([['a', '2']]));
});

test('is not misled by braces, commas and quotes inside of texts', () => {
  const members = membersOf(String.raw`{"a\"}":"}\\","b":["]",{"c":"\"{"}]}`);
  expect([...members]).toEqual([
    ['a"}', String.raw`"}\\"`],
    ['b', String.raw`["]",{"c":"\"{"}]`],
  ]);
});

test('law: the members of any object are those that JSON.parse finds', () => {
  fc.assert(
    fc.property(
      fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue()),
      fc.constantFrom(undefined, 1, '\t'),
      (object, space) => {
        const members = membersOf(JSON.stringify(object, null, space));
        const parsed = Array.from(members, ([name, text]): [string, unknown] => [name, JSON.parse(text)]);
        expect(new Map(parsed)).toEqual(new Map(Object.entries(JSON.parse(JSON.stringify(object)) as object)));
      },
    ),
  );
});
