import { expect, test } from 'vitest';
import { type Entry } from '../../../src/engine/entry.ts';
import { Partition } from '../../../src/engine/partition.ts';
import { Waits } from '../../../src/engine/waits.ts';
import { type HoldCause } from '../../../src/kernel/outcome.ts';

const found = { topic: 'payments', partition: 0, committed: null, metadata: '', low: 0n, high: 9n };

function entryOf(lane: string, why: HoldCause | null = null): Entry {
  const record = { ...found, offset: 0n, timestampMs: 0, key: null, value: null, headers: {} };
  const partition = new Partition(found, 1, 0n);
  const tracked = partition.tracker.track(0n, 0);
  if (tracked === null) throw new Error('a repeat');
  const entry = partition.add({ record, item: lane, lane, tracked, letter: null });
  entry.why = why;
  return entry;
}

const half = (): number => 0.5;

test('what waits is taken when its time has come, the earliest first', () => {
  const waits = new Waits(half);
  const [late, early] = [entryOf('a'), entryOf('b')];
  waits.wait(late, 200);
  waits.wait(early, 100);
  expect([waits.nextDueMs(), late.state, waits.take(99)]).toEqual([100, 'waiting', undefined]);
  expect([waits.take(300), waits.take(300), waits.take(300)]).toEqual([early, late, undefined]);
});

test('what is blocked is asked again after half a second, one, then every two, and at once when its key queue is woken', () => {
  const waits = new Waits(half);
  const entry = entryOf('a');
  const dues = [0, 500, 1500, 3500].map((nowMs) => {
    waits.block(entry, nowMs);
    waits.remove(entry);
    return entry.dueMs - nowMs;
  });
  expect(dues).toEqual([500, 1000, 2000, 2000]);
  waits.block(entry, 0);
  expect([waits.takeBlocked('b'), waits.takeBlocked('a'), waits.takeBlocked('a')]).toEqual([
    undefined,
    entry,
    undefined,
  ]);
  expect(waits.nextDueMs()).toBeNull();
});

test('only what waits for a cause is hurried, within a time', () => {
  const waits = new Waits(half);
  const [kafka, down, later] = [entryOf('a', 'kafka'), entryOf('b', 'service_down'), entryOf('c', 'service_down')];
  waits.wait(kafka, 9000);
  waits.wait(down, 5000);
  waits.wait(later, 6000);
  waits.hurry(['service_down'], 1000, 100);
  expect([kafka.dueMs, down.dueMs, later.dueMs]).toEqual([9000, 600, 600]);
});
