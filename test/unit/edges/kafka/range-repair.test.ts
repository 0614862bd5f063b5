import { expect, test } from 'vitest';
import { leaveRanges, onOutOfRange, type RangedGroup } from '../../../../src/edges/kafka/range-repair.ts';

const AT = { topic: 't', partition: 3 };

/** kafkajs' member, whose own way is noted. */
function group(): { readonly group: RangedGroup; readonly ownWay: unknown[] } {
  const ownWay: unknown[] = [];
  const made: RangedGroup = {
    cluster: {},
    recoverFromOffsetOutOfRange: async (at) => {
      ownWay.push(at);
      await Promise.resolve();
    },
  };
  leaveRanges(made);
  return { group: made, ownWay };
}

test('an offset out of range is told to the listener of its consumer, and nothing is committed', async () => {
  const { group: ours, ownWay } = group();
  const told: unknown[] = [];
  onOutOfRange(ours.cluster, (at) => told.push(at));
  await ours.recoverFromOffsetOutOfRange(AT);
  expect([told, ownWay]).toEqual([[AT], []]);
});

test('a consumer without a listener goes its own way', async () => {
  const { group: theirs, ownWay } = group();
  await theirs.recoverFromOffsetOutOfRange(AT);
  expect(ownWay).toEqual([AT]);
});
