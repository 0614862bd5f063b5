import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { TokenBucket } from '../../../src/resilience/token-bucket.ts';

test('lets no more out than its rate and a tenth of a second at once, and no less where all are wanted', () => {
  fc.assert(
    fc.property(
      fc.double({ min: 0.5, max: 5_000, noNaN: true }),
      fc.array(fc.integer({ min: 0, max: 400 }), { minLength: 1, maxLength: 50 }),
      (perSecond, gapsMs) => {
        const bucket = new TokenBucket(perSecond, 1_000);
        let nowMs = 1_000;
        let taken = 0;
        for (const gapMs of gapsMs) {
          nowMs += gapMs;
          for (; bucket.room(nowMs) > 0; taken += 1) bucket.take(nowMs);
        }
        const burst = Math.max(1, perSecond / 10);
        expect(taken).toBeLessThanOrEqual(burst + ((nowMs - 1_000) / 1_000) * perSecond + 1e-6);
      },
    ),
  );
});

test('says when the next one may begin, and it may then', () => {
  const bucket = new TokenBucket(3, 0);
  expect(bucket.dueMs(0)).toBeNull();
  bucket.take(0);
  expect(bucket.room(0)).toBe(0);
  const dueMs = bucket.dueMs(0) ?? NaN;
  expect(dueMs).toBe(334);
  expect(bucket.room(dueMs - 1)).toBe(0);
  expect(bucket.room(dueMs)).toBe(1);
});

test('what must go out although there is no room is made up for later', () => {
  const bucket = new TokenBucket(10, 0);
  for (let n = 0; n < 6; n += 1) bucket.take(0);
  expect(bucket.dueMs(0)).toBe(600);
});
