import { describe, expect, test } from 'vitest';
import { flows, isRead, type Owned, OwnedPartitions, seekTo } from '../../../../src/edges/kafka/owned.ts';

const AT = { topic: 't', partition: 0 };

describe('a partition of the assignment', () => {
  test('does not flow before the engine has said where, nor before it wants records', () => {
    const all = new OwnedPartitions();
    all.assign({ t: [0] });
    const owned = all.get(AT);
    if (owned === undefined) throw new Error('not owned');
    owned.wanted = true;
    expect(flows(owned)).toBe(false);
    seekTo(owned, 5n);
    expect(flows(owned)).toBe(true);
    owned.wanted = false;
    expect(flows(owned)).toBe(false);
  });

  test('that stays is the same one and begins anew; one that comes back later is another', () => {
    const all = new OwnedPartitions();
    all.assign({ t: [0, 1] });
    const [one, other] = [0, 1].map((number) => all.get({ topic: 't', partition: number }));
    if (one === undefined) throw new Error('not owned');
    seekTo(one, 5n);
    one.wanted = true;
    all.assign({ t: [0] });
    expect(all.get(AT)).toBe(one);
    expect(one).toMatchObject({ at: AT, expected: null, wanted: false, suspicion: null });
    all.assign({ t: [0, 1] });
    expect(all.get({ topic: 't', partition: 1 })).not.toBe(other);
  });

  test('under suspicion hands over what was fetched, and is not fetched before the engine says where', () => {
    const owned: Owned = { at: AT, expected: 10n, wanted: true, suspicion: {} };
    expect([flows(owned), isRead(owned)]).toEqual([true, false]);
    seekTo(owned, 20n);
    expect([flows(owned), isRead(owned)]).toEqual([true, true]);
  });
});
