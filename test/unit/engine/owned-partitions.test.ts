import { expect, test } from 'vitest';
import { OwnedPartitions } from '../../../src/engine/owned-partitions.ts';
import { Partition } from '../../../src/engine/partition.ts';

const at = (partition: number) => ({ topic: 't', partition });
const tenure = (partition: number, epoch = 1): Partition =>
  new Partition({ ...at(partition), committed: null, metadata: '', low: 0n, high: 0n }, epoch, 0n);

test('a partition is owned until it is lost, and those that an assignment lacks are told', () => {
  const owned = new OwnedPartitions();
  const [one, other] = [tenure(0), tenure(1)];
  owned.own(one, 5);
  owned.own(other, 6);
  expect([owned.size, owned.get(at(0)), other.asOfMs]).toEqual([2, one, 6]);
  expect(owned.notIn([at(1), at(2)])).toEqual([one]);
  owned.lose(one);
  expect([owned.get(at(0)), one.phase, [...owned.values()]]).toEqual([undefined, 'lost', [other]]);
});

test('has something to commit while one of them has changed since its last commit', () => {
  const owned = new OwnedPartitions();
  const one = tenure(0);
  owned.own(one, 0);
  expect(owned.isUnsaved).toBe(false);
  one.version += 1;
  expect(owned.isUnsaved).toBe(true);
  one.committedVersion = one.version;
  expect(owned.isUnsaved).toBe(false);
});

test('a tenure waits for all steps of those before it, also over one that began nothing', () => {
  const owned = new OwnedPartitions();
  const first = tenure(0);
  owned.own(first, 0);
  first.running = 2;
  owned.lose(first);
  const second = tenure(0, 2);
  owned.own(second, 0);
  owned.lose(second);
  const third = tenure(0, 3);
  owned.own(third, 0);
  expect(third.orphans).toBe(2);
  expect(owned.orphanEnded(first)).toBeUndefined();
  expect(third.orphans).toBe(1);
  expect(owned.orphanEnded(first)).toBe(third);
  expect(third.orphans).toBe(0);
});
