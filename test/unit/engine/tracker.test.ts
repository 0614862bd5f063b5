import { describe, expect, test } from 'vitest';
import fc from 'fast-check';
import { Tracker } from '../../../src/engine/tracker.ts';

describe('tracker', () => {
  test('refuses an offset that was tracked before: a repeat of the source', () => {
    const tracker = new Tracker(10n);
    expect(tracker.track(10n, 0)).toBe(0);
    expect(tracker.track(10n, 0)).toBe(-1);
    expect(tracker.track(9n, 0)).toBe(-1);
  });

  test('keeps the committable offset below an unsettled record', () => {
    const tracker = new Tracker(5n);
    const first = tracker.track(5n, 0);
    const second = tracker.track(6n, 0);
    tracker.settle(second);
    expect(tracker.committable).toBe(5n);
    tracker.settle(first);
    expect(tracker.committable).toBe(7n);
  });

  test('counts offsets that never came (compaction, markers) as settled', () => {
    const tracker = new Tracker(0n);
    tracker.settle(tracker.track(3n, 0));
    expect(tracker.committable).toBe(4n);
    const open = tracker.track(7n, 0);
    tracker.passTo(20n);
    expect(tracker.committable).toBe(7n);
    tracker.settle(open);
    expect(tracker.committable).toBe(20n);
  });

  test('settles a record once: a second time, or an index it never gave, changes nothing', () => {
    const tracker = new Tracker(0n);
    const first = tracker.track(0n, 0);
    tracker.track(1n, 0);
    tracker.settle(first);
    tracker.settle(first);
    tracker.settle(99);
    expect(tracker.committable).toBe(1n);
  });

  test('works at the end of the offset range', () => {
    const near = 2n ** 63n - 3n;
    const tracker = new Tracker(near);
    tracker.settle(tracker.track(near, 0));
    expect(tracker.committable).toBe(near + 1n);
    expect(tracker.next).toBe(near + 1n);
  });

  test('names the timestamp of the oldest unsettled record, also after it has grown', () => {
    const tracker = new Tracker(0n, 2);
    const indexes = Array.from({ length: 50 }, (_, at) => tracker.track(BigInt(at), 1000 + at));
    expect(tracker.oldestMs).toBe(1000);
    for (const index of indexes.slice(0, 30)) tracker.settle(index);
    expect(tracker.oldestMs).toBe(1030);
    for (const index of indexes.slice(30)) tracker.settle(index);
    expect(tracker.oldestMs).toBeNull();
  });

  test('agrees with a model that keeps every offset in a set', () => {
    const steps = fc.array(fc.tuple(fc.constantFrom('track', 'settle', 'pass'), fc.nat(40)), { maxLength: 300 });
    fc.assert(
      fc.property(steps, fc.bigInt({ min: 0n, max: 2n ** 62n }), (moves, base) => {
        const tracker = new Tracker(base, 4);
        const open = new Map<bigint, number>();
        let next = base;
        for (const [move, number] of moves) {
          if (move === 'track') {
            const offset = next + BigInt(number % 3);
            open.set(offset, tracker.track(offset, 0));
            next = offset + 1n;
          } else if (move === 'pass') {
            next += BigInt(number % 5);
            tracker.passTo(next);
          } else {
            const [offset, index] = [...open][number % Math.max(1, open.size)] ?? [];
            if (offset === undefined || index === undefined) continue;
            tracker.settle(index);
            open.delete(offset);
          }
          const lowest = [...open.keys()].reduce((least, offset) => (offset < least ? offset : least), next);
          expect(tracker.committable).toBe(lowest);
          expect(tracker.next).toBe(next);
        }
      }),
    );
  });
});
