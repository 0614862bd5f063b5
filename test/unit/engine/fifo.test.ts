import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Fifo } from '../../../src/engine/fifo.ts';

/** Bytes of the heap that are in use after everything was collected that may be. */
function usedBytes(): number {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  return process.memoryUsage().heapUsed;
}

describe('a queue', () => {
  test('gives nothing when it is empty, at first and again later', () => {
    const fifo = new Fifo<number>();
    expect([fifo.size, fifo.peek(), fifo.shift(), fifo.size]).toEqual([0, undefined, undefined, 0]);
    fifo.push(1);
    fifo.shift();
    expect([fifo.size, fifo.peek(), fifo.shift(), fifo.size]).toEqual([0, undefined, undefined, 0]);
  });

  test('forgets all when it is cleared, and takes new ones', () => {
    const fifo = new Fifo<number>();
    for (const item of [1, 2, 3]) fifo.push(item);
    fifo.shift();
    fifo.clear();
    expect([fifo.size, fifo.peek()]).toEqual([0, undefined]);
    fifo.push(4);
    expect([fifo.size, fifo.peek(), fifo.shift()]).toEqual([1, 4, 4]);
  });

  test('gives in the order of arrival, however many are in it and have left', () => {
    const runs = fc.array(fc.tuple(fc.nat(3000), fc.nat(3000)), { maxLength: 12 });
    fc.assert(
      fc.property(runs, (moves) => {
        const fifo = new Fifo<number>();
        let came = 0;
        let left = 0;
        const wrong: number[] = [];
        for (const [pushes, shifts] of moves) {
          for (let at = 0; at < pushes; at += 1) fifo.push((came += 1));
          for (let at = 0; at < shifts && left < came; at += 1) {
            if (fifo.peek() !== left + 1 || fifo.shift() !== left + 1) wrong.push(left);
            left += 1;
          }
          expect(fifo.size).toBe(came - left);
        }
        expect(wrong).toEqual([]);
      }),
      { numRuns: 50 },
    );
  });

  test('that is never empty takes no more room for all that has passed through it', () => {
    const fifo = new Fifo<number>();
    fifo.push(0);
    const before = usedBytes();
    for (let at = 0; at < 2_000_000; at += 1) {
      fifo.push(at);
      fifo.shift();
    }
    expect(usedBytes() - before).toBeLessThan(4_000_000);
    expect(fifo.size).toBe(1);
  });

  test('keeps nothing that has left', () => {
    const fifo = new Fifo<readonly number[]>();
    const before = usedBytes();
    for (let at = 0; at < 100; at += 1) fifo.push(Array.from<number>({ length: 10_000 }).fill(at));
    const full = usedBytes();
    for (let at = 0; at < 90; at += 1) fifo.shift();
    expect(usedBytes() - before).toBeLessThan((full - before) / 2);
    expect(fifo.size).toBe(10);
  });
});
