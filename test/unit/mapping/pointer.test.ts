import { describe, expect, test } from 'vitest';
import { compilePointer } from '../../../src/mapping/pointer.ts';
import { toNumber } from '../../../src/mapping/tokens.ts';

function find(pointer: string, record: unknown, item: unknown = record): unknown {
  const found = compilePointer(pointer);
  if (found === null) throw new Error('refused');
  return found({ record, item });
}

test.each(['a', 'a/b', '#/a', '/~', '/~2', '/a~', '^a', '^^/a', ' /a'])('refuses %j', (pointer) => {
  expect(compilePointer(pointer)).toBeNull();
});

/** RFC 6901, section 5. */
const EXAMPLE = {
  foo: ['bar', 'baz'],
  '': 0,
  'a/b': 1,
  'c%d': 2,
  'e^f': 3,
  'g|h': 4,
  'i\\j': 5,
  'k"l': 6,
  ' ': 7,
  'm~n': 8,
};

describe('finds what RFC 6901 says', () => {
  test.each<[string, unknown]>([
    ['', EXAMPLE],
    ['/foo', ['bar', 'baz']],
    ['/foo/0', 'bar'],
    ['/', 0],
    ['/a~1b', 1],
    ['/c%d', 2],
    ['/e^f', 3],
    ['/g|h', 4],
    ['/i\\j', 5],
    ['/k"l', 6],
    ['/ ', 7],
    ['/m~0n', 8],
  ])('%j', (pointer, expected) => {
    expect(find(pointer, EXAMPLE)).toEqual(expected);
  });

  test('~01 is ~1, not a slash', () => {
    expect(find('/~01', { '~1': 'yes', '/': 'no' })).toBe('yes');
  });
});

test.each(['/foo/2', '/foo/-', '/foo/00', '/foo/length', '/foo/0/x', '/none/x', '/null', '/null/x', '/text/0'])(
  'finds nothing at %s',
  (pointer) => {
    expect(find(pointer, { foo: ['bar', 'baz'], null: null, text: 'abc' })).toBeUndefined();
  },
);

test.each(['/constructor', '/__proto__', '/toString', '/constructor/name', '/number/rawJSON'])(
  'finds nothing that a value has not itself: %s',
  (pointer) => {
    expect(find(pointer, { number: toNumber('1.10') })).toBeUndefined();
    expect(find('/__proto__/x', JSON.parse('{"__proto__":{"x":1}}'))).toBe(1);
  },
);

test('starts at the entry of a list, and with ^ at the record', () => {
  expect(find('/a', { a: 'record' }, { a: 'entry' })).toBe('entry');
  expect(find('^/a', { a: 'record' }, { a: 'entry' })).toBe('record');
});
