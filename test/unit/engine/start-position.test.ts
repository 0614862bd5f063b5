import { expect, test } from 'vitest';
import { gapAt, startPosition } from '../../../src/engine/start-position.ts';

const at = (committed: bigint | null, low: bigint, high: bigint): ReturnType<typeof startPosition> =>
  startPosition({ topic: 't', partition: 0, metadata: '', committed, low, high });

test('a partition of which nothing is committed is read from its oldest record', () => {
  expect(at(null, 7n, 20n)).toEqual({ start: 7n, gap: null });
});

test('a committed offset within the log is where reading goes on, both ends included', () => {
  for (const committed of [7n, 12n, 20n]) expect(at(committed, 7n, 20n)).toEqual({ start: committed, gap: null });
});

test('a partition whose committed offset has expired is counted from there and read from the oldest record left', () => {
  expect(at(3n, 7n, 20n)).toEqual({ start: 3n, gap: { why: 'expired', to: 7n } });
});

test('a log whose end was cut off is read on from its new end', () => {
  expect(at(30n, 7n, 20n)).toEqual({ start: 20n, gap: { why: 'truncated', to: 20n } });
});

test('a log that begins at 0 and ends before the committed offset was made anew: all of it is read', () => {
  expect(at(30n, 0n, 20n)).toEqual({ start: 0n, gap: { why: 'recreated', to: 0n } });
});

test('reading goes on by itself wherever the log holds the next offset, or ends there', () => {
  for (const next of [7n, 20n]) expect(gapAt(next, { low: 7n, high: 20n })).toBeNull();
  expect(gapAt(6n, { low: 7n, high: 20n })).toEqual({ why: 'expired', to: 7n });
});
