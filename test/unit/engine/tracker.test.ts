import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, test } from 'vitest';
import fc from 'fast-check';
import { type Tracked, Tracker } from '../../../src/engine/tracker.ts';

describe('tracker', () => {
  test('refuses an offset that was tracked before: a repeat of the source', () => {
    const tracker = new Tracker(10n);
    expect(tracker.track(10n, 0)).not.toBeNull();
    expect(tracker.track(10n, 0)).toBeNull();
    expect(tracker.track(9n, 0)).toBeNull();
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

  test('settles a record once: a second time, or a repeat, changes nothing', () => {
    const tracker = new Tracker(0n);
    const first = tracker.track(0n, 0);
    const second = tracker.track(1n, 0);
    tracker.track(2n, 0);
    tracker.settle(second);
    tracker.settle(first);
    for (const each of [first, second, tracker.track(1n, 0)]) tracker.settle(each);
    expect(tracker.committable).toBe(2n);
    expect([...tracker.finishedRanges()]).toEqual([]);
  });

  test('works at the end of the offset range', () => {
    const near = 2n ** 63n - 3n;
    const tracker = new Tracker(near);
    tracker.settle(tracker.track(near, 0));
    expect(tracker.committable).toBe(near + 1n);
    expect(tracker.next).toBe(near + 1n);
  });

  test('names the timestamp of the oldest unsettled record, of many', () => {
    const tracker = new Tracker(0n);
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
        const tracker = new Tracker(base);
        const open = new Map<bigint, Tracked | null>();
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
          expect(tracker.span).toBe(Number(next - lowest));
        }
      }),
    );
  });

  test('takes no more room for wide holes than for narrow ones', () => {
    const tracker = new Tracker(0n);
    const open = tracker.track(0n, 0);
    for (let at = 1; at <= 50; at += 1) tracker.settle(tracker.track(BigInt(at) * 2n ** 40n, 0));
    expect(tracker.committable).toBe(0n);
    tracker.settle(open);
    expect(tracker.committable).toBe(50n * 2n ** 40n + 1n);
  });
});

test('millions that have settled behind a record that has not take no room', () => {
  const tracker = new Tracker(0n);
  const stuck = tracker.track(0n, 0);
  const before = usedBytes();
  for (let at = 1n; at <= 2_000_000n; at += 1n) tracker.settle(tracker.track(at, 0));
  expect(usedBytes() - before).toBeLessThan(4_000_000);
  expect([tracker.span, [...tracker.finishedRanges()]]).toEqual([2_000_001, [{ from: 1, length: 2_000_000 }]]);
  tracker.settle(stuck);
  expect([tracker.span, tracker.committable]).toEqual([0, 2_000_001n]);
});

function usedBytes(): number {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

/** A tracker from offset 10 that has tracked these offsets and settled some of them. */
function tracked(offsets: readonly number[], settled: readonly number[]): Tracker {
  const tracker = new Tracker(10n);
  const indexes = new Map(offsets.map((offset) => [offset, tracker.track(BigInt(offset), 0)]));
  for (const offset of settled) tracker.settle(indexes.get(offset) ?? null);
  return tracker;
}

describe('finished ranges', () => {
  test('are none while all is settled, or nothing is', () => {
    expect([...tracked([10, 11, 12], [10, 11, 12]).finishedRanges()]).toEqual([]);
    expect([...tracked([10, 11, 12], []).finishedRanges()]).toEqual([]);
    expect([...tracked([10, 11, 12], [10]).finishedRanges()]).toEqual([]);
  });

  test('are counted from the committable offset', () => {
    const tracker = tracked([10, 11, 12, 13, 14, 15], [10, 12, 13, 15]);
    expect(tracker.committable).toBe(11n);
    expect([...tracker.finishedRanges()]).toEqual([
      { from: 1, length: 2 },
      { from: 4, length: 1 },
    ]);
  });

  test('hold the holes beside settled records, not those between unsettled ones', () => {
    expect([...tracked([10, 15, 20, 30, 40], [15, 20]).finishedRanges()]).toEqual([{ from: 1, length: 19 }]);
  });

  test('reach up to what was fetched, when the last records of a batch are not given out', () => {
    const tracker = tracked([10, 11], [11]);
    tracker.passTo(100n);
    expect([...tracker.finishedRanges()]).toEqual([{ from: 1, length: 89 }]);
  });

  test('are found behind records long passed', () => {
    const tracker = new Tracker(0n);
    for (let offset = 0; offset < 6; offset += 1) tracker.settle(tracker.track(BigInt(offset), 0));
    const indexes = Array.from({ length: 6 }, (_, at) => tracker.track(BigInt(6 + at), 0));
    for (const at of [1, 2, 4]) tracker.settle(indexes[at] ?? null);
    expect([...tracker.finishedRanges()]).toEqual([
      { from: 1, length: 2 },
      { from: 4, length: 1 },
    ]);
  });
});

/** A tracker from offset 100 with [102, 105) and [108, 110) finished by an earlier owner. */
function restored(): Tracker {
  const tracker = new Tracker(100n);
  tracker.restore([
    { from: 2, length: 3 },
    { from: 8, length: 2 },
  ]);
  return tracker;
}

/** Asks about an offset that is new to the tracker, as the intake does, and tracks it. */
function isKnown(tracker: Tracker, offset: bigint): boolean {
  const known = tracker.isRestored(offset);
  if (tracker.track(offset, 0) === null) throw new Error('a repeat');
  return known;
}

describe('restored ranges', () => {
  test('never make an offset outside of them finished', () => {
    const tracker = restored();
    for (const offset of [100n, 101n, 105n, 107n, 110n]) expect(isKnown(tracker, offset)).toBe(false);
    expect(tracker.committable).toBe(100n);
  });

  test('are settled in the moment they are tracked', () => {
    const tracker = restored();
    const open = [tracker.track(100n, 0), tracker.track(101n, 0)];
    for (const offset of [102n, 103n, 104n]) expect(isKnown(tracker, offset)).toBe(true);
    for (const index of open) tracker.settle(index);
    expect(tracker.committable).toBe(105n);
  });

  test('are not passed before they are read again', () => {
    const tracker = restored();
    tracker.settle(tracker.track(100n, 0));
    tracker.settle(tracker.track(101n, 0));
    expect(tracker.committable).toBe(102n);
    expect(tracker.next).toBe(102n);
    expect([...tracker.finishedRanges()]).toEqual([
      { from: 0, length: 3 },
      { from: 6, length: 2 },
    ]);
  });

  test('stay in the next maps, without what was read again', () => {
    const tracker = restored();
    tracker.track(100n, 0);
    tracker.track(103n, 0);
    expect([...tracker.finishedRanges()]).toEqual([
      { from: 1, length: 3 },
      { from: 4, length: 1 },
      { from: 8, length: 2 },
    ]);
    tracker.passTo(109n);
    expect([...tracker.finishedRanges()]).toEqual([
      { from: 1, length: 8 },
      { from: 9, length: 1 },
    ]);
  });

  test('leave no empty range behind when reading has passed just their end', () => {
    const tracker = restored();
    tracker.track(100n, 0);
    tracker.passTo(105n);
    expect([...tracker.finishedRanges()]).toEqual([{ from: 8, length: 2 }]);
    tracker.passTo(110n);
    expect([...tracker.finishedRanges()]).toEqual([]);
  });

  test('are not among the offsets that are missing up to another one', () => {
    const tracker = restored();
    expect([101n, 102n, 104n, 107n, 108n, 200n].map((to) => tracker.missingTo(to))).toEqual([1, 2, 2, 4, 5, 95]);
    tracker.track(103n, 0);
    expect([99n, 104n, 107n].map((to) => tracker.missingTo(to))).toEqual([0, 0, 2]);
  });

  test('and what is skipped are finished from then on, also between records that are not', () => {
    const tracker = new Tracker(100n);
    tracker.track(100n, 0);
    tracker.passTo(103n);
    tracker.skipTo(110n);
    tracker.track(110n, 0);
    expect([...tracker.finishedRanges()]).toEqual([{ from: 1, length: 9 }]);
    expect([tracker.committable, tracker.next]).toEqual([100n, 111n]);
  });

  test('of 2^40 offsets cost no more than those of one', () => {
    const tracker = new Tracker(0n);
    tracker.restore([{ from: 1, length: 2 ** 40 }]);
    tracker.track(0n, 0);
    expect(isKnown(tracker, 2n ** 40n)).toBe(true);
    expect(isKnown(tracker, 2n ** 40n + 1n)).toBe(false);
  });
});
