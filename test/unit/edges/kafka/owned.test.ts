import { describe, expect, test } from 'vitest';
import { flows, isRead, type Owned, OwnedPartitions, seekTo } from '../../../../src/edges/kafka/owned.ts';

const AT = { topic: 't', partition: 0 };
const reading = (expected: bigint): Owned & { expected: bigint } => ({
  at: AT,
  expected,
  wanted: true,
  suspicion: null,
});

describe('a partition of the assignment', () => {
  test('does not flow before the engine has said where, nor before it wants records', () => {
    const all = new OwnedPartitions();
    all.assign({ t: [0] });
    const owned = all.get(AT);
    if (owned === undefined) throw new Error('not owned');
    owned.wanted = true;
    expect(flows(owned)).toBe(false);
    owned.expected = 5n;
    expect(flows(owned)).toBe(true);
    owned.wanted = false;
    expect(flows(owned)).toBe(false);
  });

  test('under suspicion hands over what was fetched, and is not fetched before the engine says where', () => {
    const owned = { ...reading(10n), suspicion: {} };
    expect([flows(owned), isRead(owned)]).toEqual([true, false]);
    seekTo(owned, 20n);
    expect([flows(owned), isRead(owned)]).toEqual([true, true]);
  });
});
