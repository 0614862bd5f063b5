import { expect, test } from 'vitest';
import { recordBytes } from '../../../src/kernel/record-bytes.ts';

const EMPTY = { key: null, value: null, headers: {} };

test('counts key, value and headers', () => {
  expect(recordBytes(EMPTY)).toBe(0);
  expect(recordBytes({ ...EMPTY, key: Buffer.alloc(3), value: Buffer.alloc(4) })).toBe(7);
  expect(recordBytes({ ...EMPTY, headers: { h: Buffer.alloc(1000) } })).toBeGreaterThanOrEqual(1000);
});

test('counts headers that are there several times, and empty ones', () => {
  const many = { h: Array.from({ length: 1000 }, () => Buffer.alloc(0)) };
  expect(recordBytes({ ...EMPTY, headers: many })).toBeGreaterThan(100_000);
  expect(recordBytes({ ...EMPTY, headers: { h: undefined } })).toBeGreaterThan(0);
});
