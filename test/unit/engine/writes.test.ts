import { expect, test } from 'vitest';
import { type Entry } from '../../../src/engine/entry.ts';
import { Partition } from '../../../src/engine/partition.ts';
import { Writes } from '../../../src/engine/writes.ts';

const found = { topic: 'payments', partition: 0, committed: null, metadata: '', low: 0n, high: 9n };
const UNDECODABLE = { reason: 'undecodable', stage: 'read' } as const;

function add(partition: Partition, lane: string, letter: Entry['letter'] = UNDECODABLE): Entry {
  const offset = partition.tracker.next;
  const record = { ...found, offset, timestampMs: 0, key: null, value: Buffer.from('12345'), headers: {} };
  const tracked = partition.tracker.track(offset, 0);
  if (tracked === null) throw new Error('a repeat');
  return partition.add({ record, item: lane, lane, tracked, letter });
}

test('gives the ready dead letters of all partitions that joined, and none of what needs room', () => {
  const writes = new Writes();
  const [one, other] = [new Partition(found, 1, 0n), new Partition({ ...found, partition: 1 }, 1, 0n)];
  const expected = [add(one, 'a'), add(one, 'c'), add(other, 'a')];
  add(one, 'b', null);
  for (const partition of [one, other]) writes.join(partition);
  expect([writes.take(), writes.take(), writes.take(), writes.take()]).toEqual([...expected, undefined]);
});

test('gives none of a partition that is lost, nor of one whose earlier steps have not ended', () => {
  const writes = new Writes();
  const [lost, late] = [new Partition(found, 1, 0n), new Partition({ ...found, partition: 1 }, 1, 0n)];
  for (const partition of [lost, late]) {
    add(partition, 'a');
    writes.join(partition);
  }
  lost.lose();
  late.orphans = 1;
  expect(writes.take()).toBeUndefined();
  late.orphans = 0;
  writes.join(late);
  expect(writes.take()?.tenure).toBe(late);
});

test('counts dead letters and their size, of each partition and of all', () => {
  const writes = new Writes();
  const partition = new Partition(found, 1, 0n);
  const [one, other, none] = [add(partition, 'a'), add(partition, 'b'), add(partition, 'c', null)];
  for (const entry of [one, other, none]) writes.count(entry, 1);
  expect([partition.deadLetters, writes.deadLetters, writes.deadLetterBytes]).toEqual([2, 2, 10]);
  writes.count(one, -1);
  expect([partition.deadLetters, writes.deadLetters, writes.deadLetterBytes]).toEqual([1, 1, 5]);
});

test('knows the first dead letter that is written after others were not', () => {
  const writes = new Writes();
  expect([true, false, false, true, true].map((isWritten) => writes.tried(isWritten))).toEqual([
    false,
    false,
    false,
    true,
    false,
  ]);
});

test('counts those under way, which take no share of what needs room', () => {
  const writes = new Writes();
  const partition = new Partition(found, 1, 0n);
  const [one, other] = [add(partition, 'a'), add(partition, 'b')];
  for (const entry of [one, other]) writes.running(entry, 1);
  writes.running(one, -1);
  expect([partition.writing, writes.inFlight]).toEqual([1, 1]);
});
