import { expect, test } from 'vitest';
import { isFull } from '../../../src/engine/pressure.ts';

test('reading pauses at the limit, not before', () => {
  expect([7, 8, 9].map((held) => isFull(false, held, 8))).toEqual([false, true, true]);
});

test('reading that was paused goes on at half of the limit, not before', () => {
  expect([8, 5, 4, 0].map((held) => isFull(true, held, 8))).toEqual([true, true, false, false]);
});
