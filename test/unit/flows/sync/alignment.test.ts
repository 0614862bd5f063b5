import { describe, expect, test } from 'vitest';
import { Alignment, type AlignmentOptions } from '../../../../src/flows/sync/alignment.ts';
import { type Update } from '../../../../src/flows/sync/read.ts';
import { type ScoredFact } from '../../../../src/flows/scored.ts';
import { type Position } from '../../../../src/engine/ports.ts';
import { FakeSignals, listener, record, type Said } from './builders.ts';

const ARRIVED_MS = 1000;
const SCORED: ScoredFact = { do: 'scored', partition: 0, httpStatus: 200, latencyMs: 9, paymentMethod: null };
/** Read up to the end, but the end was seen before the update came, and the records are older than it. */
const BEHIND: Position = { next: 10n, highWatermark: 10n, asOfMs: ARRIVED_MS, timestampMs: 1_000_000 };

interface Bench {
  readonly alignment: Alignment;
  readonly signals: FakeSignals;
  readonly said: Said[];
  /** Whether an update of `t` may start, `afterMs` after it came. */
  readonly ask: (afterMs?: number, change?: object) => boolean;
}

function bench(change: Partial<AlignmentOptions> = {}, position: Position | null = BEHIND): Bench {
  const { said, emit } = listener();
  const options = {
    topicCreated: 'created',
    ordering: 'key',
    scoreWaitMs: 30_000,
    isScoringHeld: () => false,
    emit,
  } as const;
  const alignment = new Alignment({ ...options, ...change });
  const signals = new FakeSignals();
  if (position !== null) signals.positions.set(0, position);
  alignment.attach(signals);
  const update = { transId: 't', arrivedMs: ARRIVED_MS, heldBeforeMs: 0 } as Update;
  return {
    alignment,
    signals,
    said,
    ask: (afterMs = 0, changes = {}) => alignment.mayStart(update, record(null, changes), ARRIVED_MS + afterMs),
  };
}

describe('an update waits', () => {
  test('however long, while its transaction may still come', () => {
    const { ask } = bench();
    expect(ask()).toBe(false);
    expect(ask(86_400_000)).toBe(false);
  });

  test('while the created partition is not read to an end seen after it came', () => {
    const { ask } = bench({}, { ...BEHIND, asOfMs: ARRIVED_MS + 1, highWatermark: 11n });
    expect(ask()).toBe(false);
  });

  test('while created records are not newer than it by more than five seconds', () => {
    expect(bench({}, { ...BEHIND, timestampMs: 1_005_000 }).ask()).toBe(false);
  });

  test('while a created record of its key is held', () => {
    const { ask, signals } = bench({}, { ...BEHIND, timestampMs: 1_005_001 });
    signals.held.set('k', 1_000_000);
    expect(ask()).toBe(false);
    signals.held.clear();
    expect(ask()).toBe(true);
  });

  test('no longer for records of its key that are newer by more than five seconds, however many wait', () => {
    const { ask, signals } = bench({}, { ...BEHIND, timestampMs: 2_000_000 });
    signals.held.set('k', 1_005_000);
    expect(ask()).toBe(false);
    signals.held.set('k', 1_005_001);
    expect(ask()).toBe(true);
  });

  test('for everything that is held, where its record has no time', () => {
    const { ask, signals } = bench({}, { ...BEHIND, asOfMs: ARRIVED_MS + 1, timestampMs: 2_000_000 });
    signals.held.set('k', 1_900_000);
    expect(ask(0, { timestampMs: -1 })).toBe(false);
  });

  test.each([
    ['without a key', { key: null }, {}, 't'],
    ['in lanes of transactions', {}, { ordering: 'transaction' } as const, 't'],
    ['with a key that is no text', { key: Buffer.from([0xff, 0x00]) }, {}, '\u00ff\u0000'],
  ])('for the lane of its transaction %s', (_, changes, options, lane) => {
    const { ask, signals } = bench(options, { ...BEHIND, timestampMs: 1_005_001 });
    signals.held.set(lane, 1_000_000);
    expect(ask(0, changes)).toBe(false);
  });

  test('for its time where the created partition is not ours', () => {
    const { ask } = bench({}, null);
    expect(ask(29_999)).toBe(false);
    expect(ask(30_000)).toBe(true);
  });
});

describe('an update starts', () => {
  test('when its transaction was scored here, wherever that was', () => {
    const { ask, alignment, signals } = bench();
    alignment.note('t', { ...SCORED, partition: 3 });
    expect(signals.woken).toEqual(['t']);
    expect(ask()).toBe(true);
  });

  test('when its transaction was refused here, to be refused itself, unless a mended one may be behind that', () => {
    const { ask, alignment, signals } = bench({}, { ...BEHIND, timestampMs: 1_005_001 });
    alignment.note('t', { do: 'refused', partition: 0 });
    signals.held.set('k', 1_000_000);
    expect(ask()).toBe(false);
    signals.held.clear();
    expect(ask()).toBe(true);
    expect(alignment.fact('t')).toEqual({ do: 'refused', partition: 0 });
  });

  test('when created records are newer than it by more than five seconds', () => {
    expect(bench({}, { ...BEHIND, timestampMs: 1_005_001 }).ask()).toBe(true);
  });

  test('when the end that was seen first after it came is reached, however far the end has moved on', () => {
    const { ask, signals } = bench({}, { ...BEHIND, asOfMs: ARRIVED_MS + 1, highWatermark: 12n });
    expect(ask()).toBe(false);
    signals.positions.set(0, { ...BEHIND, asOfMs: ARRIVED_MS + 9, highWatermark: 90n, next: 12n });
    expect(ask()).toBe(true);
  });

  test('at once where alignment is off', () => {
    const { ask, alignment } = bench({ scoreWaitMs: 0 }, null);
    expect(ask()).toBe(true);
    expect(alignment.isBlind({ transId: 't', heldBeforeMs: 0 } as Update, record(null))).toBe(false);
  });

  test('blindly only where nothing can be known', () => {
    const update = { transId: 't', arrivedMs: ARRIVED_MS, heldBeforeMs: 0 } as Update;
    expect(bench({}, null).alignment.isBlind(update, record(null))).toBe(true);
    expect(bench().alignment.isBlind(update, record(null))).toBe(false);
  });
});

describe('the wait for what cannot be known', () => {
  test('stands still while scoring is held, and goes on where it stood', () => {
    let isHeld = false;
    const { ask } = bench({ isScoringHeld: () => isHeld }, null);
    expect(ask(10_000)).toBe(false);
    isHeld = true;
    for (let afterMs = 10_500; afterMs <= 3_600_000; afterMs += 500) expect(ask(afterMs)).toBe(false);
    isHeld = false;
    expect(ask(3_600_000)).toBe(false);
    expect(ask(3_619_999)).toBe(false);
    expect(ask(3_620_000)).toBe(true);
  });

  test('does not count what scoring was held for before the update came', () => {
    const { ask, alignment } = bench({ isScoringHeld: () => true }, null);
    alignment.heldMs(0);
    expect(alignment.heldMs(ARRIVED_MS)).toBe(ARRIVED_MS);
    const later = { transId: 'later', arrivedMs: ARRIVED_MS, heldBeforeMs: ARRIVED_MS } as Update;
    expect(alignment.mayStart(later, record(null), ARRIVED_MS + 30_000)).toBe(false);
    expect(ask(30_000)).toBe(false);
    const free = bench({ isScoringHeld: () => false }, null);
    const other = { transId: 'other', arrivedMs: ARRIVED_MS, heldBeforeMs: 0 } as Update;
    expect(free.alignment.mayStart(other, record(null), ARRIVED_MS + 30_000)).toBe(true);
  });
});

describe('topics that are not partitioned alike', () => {
  test('by their numbers of partitions, are said once, and every update whose transaction is unknown waits its time', () => {
    const { ask, alignment, said } = bench({}, { ...BEHIND, timestampMs: 1_005_001 });
    alignment.compareTopics(3, 3);
    expect(ask()).toBe(true);
    alignment.compareTopics(3, 4);
    alignment.compareTopics(3, 4);
    expect(said).toEqual([['partition_counts_differ', { created: 3, authorized: 4 }]]);
    expect(ask(29_999)).toBe(false);
    expect(ask(30_000)).toBe(true);
  });

  test('are said once, and nothing is concluded from positions any more', () => {
    const { ask, alignment, said } = bench({}, { ...BEHIND, timestampMs: 1_005_001 });
    const other = { transId: 'other', arrivedMs: ARRIVED_MS, heldBeforeMs: 0 } as Update;
    alignment.note('other', { ...SCORED, partition: 3 });
    alignment.mayStart(other, record(null), ARRIVED_MS);
    alignment.mayStart(other, record(null), ARRIVED_MS);
    expect(said).toEqual([['not_co_partitioned', { createdPartition: 3, authorizedPartition: 0 }]]);
    expect(ask(29_999)).toBe(false);
    expect(ask(30_000)).toBe(true);
  });
});

describe('a newer end is wanted', () => {
  test('while an update waits for one', () => {
    const { ask, alignment, signals } = bench();
    expect(alignment.wantsWatermark()).toBe(false);
    ask();
    expect(alignment.wantsWatermark()).toBe(true);
    signals.positions.set(0, { ...BEHIND, asOfMs: ARRIVED_MS + 1 });
    expect(alignment.wantsWatermark()).toBe(false);
    expect(ask()).toBe(true);
  });

  test('no longer when the partition is gone', () => {
    const { ask, alignment, signals } = bench();
    ask();
    signals.positions.clear();
    expect(alignment.wantsWatermark()).toBe(false);
  });
});

describe('the memory', () => {
  test('keeps the last 100,000 transactions', () => {
    const { alignment } = bench();
    alignment.note('first', SCORED);
    alignment.note('second', SCORED);
    for (let index = 0; index < 99_999; index += 1) alignment.note(String(index), SCORED);
    expect(alignment.fact('first')).toBeNull();
    expect(alignment.fact('second')).toEqual(SCORED);
  });

  test('keeps the newest of one transaction, but a score over a refusal, since the service knows it', () => {
    const { alignment } = bench();
    alignment.note('t', { do: 'refused', partition: 0 });
    alignment.note('t', SCORED);
    expect(alignment.fact('t')).toEqual(SCORED);
    alignment.note('t', { do: 'refused', partition: 0 });
    expect(alignment.fact('t')).toEqual(SCORED);
    alignment.note('t', { ...SCORED, latencyMs: 10 });
    expect(alignment.fact('t')).toEqual({ ...SCORED, latencyMs: 10 });
  });
});
