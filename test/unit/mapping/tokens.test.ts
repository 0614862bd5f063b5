import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isTooDeep, parseKeepingNumbers, textOf, toPlain } from '../../../src/mapping/tokens.ts';

describe('parsing that keeps numbers', () => {
  test.each(['{', '', '01', 'NaN'])('refuses %j as JSON does', (text) => {
    expect(() => parseKeepingNumbers(text)).toThrow(SyntaxError);
  });

  test.each(['1.10', '1e400', '-0', '123456789012345678901234567890', '0.1', '7', '1E5', '1.0'])(
    'prints %s as it was written',
    (number) => {
      expect(JSON.stringify(parseKeepingNumbers(`{"a":[${number}]}`))).toBe(`{"a":[${number}]}`);
      expect(textOf(parseKeepingNumbers(number))).toBe(number);
      expect(toPlain(parseKeepingNumbers(`[${number}]`))).toEqual([Number(number)]);
    },
  );

  test('keeps a field called __proto__ a field, and the last of two of a name', () => {
    const value = parseKeepingNumbers('{"__proto__":{"a":1.10},"b":1.10,"b":[2.20]}');
    expect(JSON.stringify(value)).toBe('{"__proto__":{"a":1.10},"b":[2.20]}');
    expect(JSON.stringify(toPlain(value))).toBe('{"__proto__":{"a":1.1},"b":[2.2]}');
  });

  test('gives what JSON.parse gives, numbers made plain', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = JSON.stringify(value);
        expect(toPlain(parseKeepingNumbers(text))).toEqual(JSON.parse(text));
        expect(JSON.stringify(parseKeepingNumbers(text))).toBe(text);
      }),
    );
  });
});

test('text is what was written, and nothing of what is no scalar', () => {
  expect([true, 'a', 1.5, {}, null, undefined, Number.NaN].map(textOf)).toEqual([
    'true',
    'a',
    '1.5',
    null,
    null,
    null,
    null,
  ]);
});

const nested = (depth: number): Buffer => Buffer.from(`${'['.repeat(depth)}${']'.repeat(depth)}`);

test('depth counts brackets outside of texts', () => {
  expect([isTooDeep(nested(200)), isTooDeep(nested(201))]).toEqual([false, true]);
  expect(isTooDeep(Buffer.from(JSON.stringify(`\\"${'['.repeat(300)}`)))).toBe(false);
  expect(isTooDeep(Buffer.from(JSON.stringify(Array.from({ length: 300 }, () => ({})))))).toBe(false);
});
