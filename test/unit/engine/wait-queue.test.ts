import { describe, expect, test } from 'vitest';
import fc from 'fast-check';
import { type Due, WaitQueue } from '../../../src/engine/wait-queue.ts';

const wait = (dueMs: number): Due => ({ dueMs, slot: -1 });

/** The times of all that is in it, as they come out. */
function takenFrom(queue: WaitQueue<Due>): number[] {
  const taken: number[] = [];
  for (let item = queue.take(Infinity); item !== undefined; item = queue.take(Infinity)) taken.push(item.dueMs);
  return taken;
}

describe('wait queue', () => {
  test('gives nothing before its time', () => {
    const queue = new WaitQueue<Due>();
    queue.add(wait(10));
    expect(queue.take(9)).toBeUndefined();
    expect(queue.take(10)?.dueMs).toBe(10);
    expect(queue.nextDueMs()).toBeNull();
  });

  test('removing what is not in it changes nothing', () => {
    const queue = new WaitQueue<Due>();
    queue.add(wait(1));
    queue.remove(wait(1));
    expect(queue.size).toBe(1);
  });

  test('marks what it gave as not in it, so that removing it changes nothing', () => {
    const queue = new WaitQueue<Due>();
    const [first, second, third] = [wait(1), wait(2), wait(3)];
    for (const item of [first, second, third]) queue.add(item);
    expect(new Set([first.slot, second.slot, third.slot])).toEqual(new Set([0, 1, 2]));
    expect(queue.take(1)).toBe(first);
    queue.remove(first);
    expect([first.slot, queue.size]).toEqual([-1, 2]);
    queue.remove(third);
    queue.remove(third);
    expect([third.slot, queue.size]).toEqual([-1, 1]);
    expect(queue.nextDueMs()).toBe(2);
  });

  test('keeps its order when the last one takes the place of one that was due later than it', () => {
    const queue = new WaitQueue<Due>();
    const items = [1, 10, 2, 11, 12, 50, 4].map(wait);
    for (const item of items) queue.add(item);
    const victim = items.find(({ dueMs }) => dueMs === 11);
    if (victim !== undefined) queue.remove(victim);
    expect(takenFrom(queue)).toEqual([1, 2, 4, 10, 12, 50]);
  });

  test("lists all that wait, and the list is the caller's own", () => {
    const queue = new WaitQueue<Due>();
    const items = [3, 1, 2].map(wait);
    for (const item of items) queue.add(item);
    const listed = queue.list();
    queue.take(1);
    expect(new Set(listed)).toEqual(new Set(items));
    expect(queue.list()).toHaveLength(2);
  });

  test('gives in order of time whatever was added and removed', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(1000), fc.nat(3)), { maxLength: 80 }), (moves) => {
        const queue = new WaitQueue<Due>();
        const kept: Due[] = [];
        for (const [dueMs, removes] of moves) {
          const item = wait(dueMs);
          queue.add(item);
          kept.push(item);
          if (removes > 0) continue;
          const victim = kept.splice(dueMs % kept.length, 1)[0];
          if (victim !== undefined) queue.remove(victim);
        }
        expect(takenFrom(queue)).toEqual(kept.map(({ dueMs }) => dueMs).sort((a, b) => a - b));
      }),
    );
  });
});
