import { describe, expect, test } from 'vitest';
import fc from 'fast-check';
import { type Due, WaitQueue } from '../../../src/engine/wait-queue.ts';

const wait = (dueMs: number): Due => ({ dueMs, slot: -1 });

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

  test('gives in order of time whatever was added and removed', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(1000), fc.boolean())), (moves) => {
        const queue = new WaitQueue<Due>();
        const kept: Due[] = [];
        for (const [dueMs, removes] of moves) {
          const item = wait(dueMs);
          queue.add(item);
          kept.push(item);
          if (!removes) continue;
          const victim = kept.splice(dueMs % kept.length, 1)[0];
          if (victim !== undefined) queue.remove(victim);
        }
        const taken: number[] = [];
        for (let item = queue.take(Infinity); item !== undefined; item = queue.take(Infinity)) taken.push(item.dueMs);
        expect(taken).toEqual(kept.map(({ dueMs }) => dueMs).sort((a, b) => a - b));
      }),
    );
  });
});
