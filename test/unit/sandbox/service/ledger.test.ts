import { beforeEach, describe, expect, test } from 'vitest';
import { Ledger } from '../../../../src/sandbox/service/ledger.ts';

const update = (status: string, ts = '2026-03-01T09:30:00Z') => ({ status, ts, hasAcqRefId: true });

let ledger: Ledger;
beforeEach(() => {
  ledger = new Ledger('frg-x-');
});

const score = (transId: string, custId: string | null = 'c1', order: number | null = null): void => {
  const open = ledger.scoreStarted(transId, custId, order);
  ledger.scored(open, 1);
  ledger.ended(open);
};
const sync = (transId: string, ...updates: ReturnType<typeof update>[]): void => {
  for (const one of updates) {
    const open = ledger.syncStarted([transId]);
    ledger.updated(open, [one]);
    ledger.ended(open);
  }
};

describe('scorings', () => {
  test('a repeat is counted and keeps its frg_trans_id', () => {
    score('t-1');
    const id = ledger.transaction('t-1')?.frgTransId;
    score('t-1');
    score('t-2');
    expect(ledger.summary()).toMatchObject({ transactions: 2, scorings: 3, repeatedScorings: 1, scoreRequests: 3 });
    expect(ledger.transaction('t-1')).toMatchObject({ frgTransId: id, scored: 2, requests: 2 });
    expect(ledger.transaction('t-2')?.frgTransId).not.toBe(id);
  });

  test('a request that was not carried out is no scoring', () => {
    ledger.ended(ledger.scoreStarted('t-1', 'c1', null));
    expect(ledger.summary()).toMatchObject({ transactions: 0, scorings: 0, scoreRequests: 1 });
    expect(ledger.transaction('t-1')).toMatchObject({ scored: 0, requests: 1, decision: null });
  });

  test('sees two transactions of one customer open at once', () => {
    const first = ledger.scoreStarted('t-1', 'c1', 1);
    const other = ledger.scoreStarted('t-9', 'c2', 1);
    expect(ledger.summary().overlaps).toBe(0);
    const second = ledger.scoreStarted('t-2', 'c1', 2);
    expect(ledger.summary().overlaps).toBe(1);
    for (const open of [first, second, other]) ledger.ended(open);
    score('t-3');
    expect(ledger.summary()).toMatchObject({ overlaps: 1, repeatOverlaps: 0 });
  });

  test('a repeat while the first attempt is open is told apart', () => {
    ledger.scoreStarted('t-1', 'c1', 1);
    ledger.scoreStarted('t-1', 'c1', 1);
    expect(ledger.summary()).toMatchObject({ overlaps: 0, repeatOverlaps: 1 });
  });

  test('ending a request twice ends it once', () => {
    const first = ledger.scoreStarted('t-1', 'c1', 1);
    ledger.scoreStarted('t-2', 'c1', 2);
    ledger.ended(first);
    ledger.ended(first);
    ledger.scoreStarted('t-3', 'c1', 3);
    expect(ledger.summary().overlaps).toBe(2);
  });

  test('sees a first scoring that came too late, and not a repeat', () => {
    score('t-1', 'c1', 1);
    score('t-3', 'c1', 3);
    score('t-1', 'c1', 1);
    expect(ledger.summary().disorders).toBe(0);
    score('t-2', 'c1', 2);
    expect(ledger.summary().disorders).toBe(1);
    score('t-0', 'c2', 0);
    expect(ledger.summary().disorders).toBe(1);
  });
});

describe('status updates', () => {
  test('link only to what was scored before', () => {
    sync('t-1', update('approved'));
    score('t-1');
    score('t-2');
    sync('t-2', update('declined'));
    expect(ledger.summary()).toMatchObject({
      updates: 2,
      linked: 1,
      unlinked: 1,
      transactionsWithStatus: 1,
      updatesByStatus: { approved: 1, declined: 1 },
    });
    expect(ledger.transaction('t-1')?.updates).toMatchObject([{ status: 'approved', linked: false }]);
  });

  test('repeats and steps back in time are counted', () => {
    score('t-1');
    sync('t-1', update('payment_pending'), update('approved', '2026-03-01T10:30:00Z'), update('payment_pending'));
    expect(ledger.summary()).toMatchObject({ repeatedUpdates: 1, backwardUpdates: 0 });
    sync('t-1', update('error', '2026-02-01T10:30:00Z'));
    expect(ledger.summary()).toMatchObject({ repeatedUpdates: 1, backwardUpdates: 1, transactionsWithStatus: 1 });
  });

  test('sees one transaction in two batches at once', () => {
    const first = ledger.syncStarted(['t-1', 't-2']);
    ledger.ended(ledger.syncStarted(['t-2', 't-3']));
    ledger.ended(first);
    ledger.ended(ledger.syncStarted(['t-1']));
    expect(ledger.summary().updateOverlaps).toBe(1);
  });

  test('memory for one transaction is bounded, counters go on', () => {
    score('t-1');
    sync('t-1', ...Array.from({ length: 50 }, (_, second) => update('error', new Date(second * 1_000).toISOString())));
    expect(ledger.transaction('t-1')?.updates).toHaveLength(16);
    expect(ledger.transaction('t-1')?.updateCount).toBe(50);
    expect(ledger.summary()).toMatchObject({ updates: 50, repeatedUpdates: 0, backwardUpdates: 0 });
  });
});

test('keeps the newest batches', () => {
  for (let size = 1; size <= 20_001; size += 1) ledger.batch(0, size, 10, size === 1 ? 400 : 200);
  expect(ledger.batches().length).toBeLessThanOrEqual(20_000);
  expect(ledger.batches().at(-1)?.size).toBe(20_001);
  expect(ledger.summary()).toMatchObject({
    batches: 20_001,
    refusedBatches: 1,
    largestBatch: 20_001,
    batchBytes: 200_010,
  });
});

test('forgets everything on reset, and a request open meanwhile leaves no trace', () => {
  const open = ledger.scoreStarted('t-1', 'c1', 1);
  const before = ledger.transaction('t-1')?.frgTransId;
  ledger.reset();
  ledger.ended(open);
  expect(ledger.summary()).toEqual(new Ledger('').summary());
  score('t-1');
  expect(ledger.transaction('t-1')?.frgTransId).not.toBe(before);
});
