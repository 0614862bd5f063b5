import fc from 'fast-check';
import { expect, test } from 'vitest';
import { printable, printableBytes } from '../../../src/dead-letters/printable.ts';

test('plain texts stay as they are', () => {
  expect(printable('Grüße, 世界 "a/b"')).toBe('Grüße, 世界 "a/b"');
});

test('what a terminal obeys or hides is written out', () => {
  expect(printable('a\u001B[2Jb\r\n\u202Ec\u200Bd\u0000')).toBe('a\\u{1b}[2Jb\\u{d}\\u{a}\\u{202e}c\\u{200b}d\\u{0}');
});

test('long texts are cut', () => {
  expect(printable('x'.repeat(5000))).toBe(`${'x'.repeat(600)}…`);
});

test('bytes that are no text are hexadecimal digits, the first of them', () => {
  expect(printableBytes(Buffer.from([0xff, 0xfe]))).toBe('0xfffe');
  expect(printableBytes(Buffer.alloc(40, 0xff))).toBe(`0x${'ff'.repeat(32)}…`);
});

test('whatever the bytes, the line is one line without controls', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      expect(printableBytes(bytes)).not.toMatch(/[\p{C}\p{Zl}\p{Zp}]/u);
    }),
  );
});
