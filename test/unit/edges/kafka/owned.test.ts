import { describe, expect, test } from 'vitest';
import { flows, isRead, judgeEmpty, type Owned, OwnedPartitions, seekTo } from '../../../../src/edges/kafka/owned.ts';

const AT = { topic: 't', partition: 0 };
const reading = (expected: bigint): Owned & { expected: bigint } => ({
  at: AT,
  expected,
  wanted: true,
  suspicion: null,
  sought: false,
  doubted: null,
});

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
    const owned = { ...reading(10n), suspicion: {} };
    expect([flows(owned), isRead(owned)]).toEqual([true, false]);
    seekTo(owned, 20n);
    expect([flows(owned), isRead(owned)]).toEqual([true, true]);
  });
});

describe('judgeEmpty', () => {
  test('ignores a batch that ends before what is expected', () => {
    expect(judgeEmpty(reading(10n), '3', '9')).toBe('ignore');
  });

  test('moves on where reading went on without a seek', () => {
    expect(judgeEmpty(reading(10n), '12', '15')).toBe('advance');
  });

  test('does not believe a batch of before a seek back, which would jump over records', () => {
    const owned = { ...reading(10n), sought: true };
    expect(judgeEmpty(owned, '90', '95')).toBe('again');
  });

  test('believes after a seek what begins where we are, or comes again', () => {
    expect(judgeEmpty({ ...reading(10n), sought: true }, '10', '12')).toBe('advance');
    expect(judgeEmpty({ ...reading(10n), sought: true, doubted: 96n }, '90', '95')).toBe('advance');
  });
});
