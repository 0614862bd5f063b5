import { describe, expect, test } from 'vitest';
import {
  type Attribution,
  type AttributionOptions,
  type Decision,
  type FailedAttempt,
  repeatRoom,
  type RetryState,
} from '../../../src/resilience/attribution.ts';
import { type CallEnd } from '../../../src/resilience/breaker.ts';
import { buildAttribution } from '../../support/attribution-builder.ts';

const START_MS = 5_000;
const MAX_ATTEMPTS = 8;
const REFUSE_AFTER_MS = 300_000;
const ENDS: Readonly<Record<FailedAttempt['kind'], CallEnd>> = {
  refused: { do: 'refused', cause: 'service_refuses' },
  rate_limited: { do: 'failed', cause: 'service_down' },
  failed: { do: 'failed', cause: 'service_down' },
  shared: { do: 'failed', cause: 'service_down' },
};

type Given = Partial<
  Pick<FailedAttempt, 'key' | 'isFirst' | 'state' | 'kind' | 'afterMs' | 'failingFill' | 'isWorking'>
>;

class Bench {
  nowMs = START_MS;
  readonly attribution: Attribution;
  #keys = 0;

  constructor(options: Partial<AttributionOptions> = {}) {
    this.attribution = buildAttribution({ draw: () => 1, nowMs: START_MS, ...options });
  }

  /** First attempts of so many records, each of a key of its own, succeed. */
  succeed(times: number): void {
    for (let n = 0; n < times; n += 1) this.deliver(`other ${String((this.#keys += 1))}`);
  }

  deliver(key: string, { delivered = 1 } = {}): void {
    const { breaker } = this.attribution;
    const call = { key, isFirst: true };
    this.attribution.end(breaker.begin(this.nowMs), call, { do: 'ok' }, { delivered, nowMs: this.nowMs });
  }

  fail({
    key,
    isFirst,
    state = null,
    kind = 'failed',
    afterMs = null,
    failingFill = 0,
    ...more
  }: Given = {}): Decision {
    const call = { key: key ?? `odd ${String((this.#keys += 1))}`, isFirst: isFirst ?? state === null };
    const epoch = this.attribution.breaker.begin(this.nowMs);
    this.attribution.end(epoch, call, ENDS[kind], { delivered: 0, nowMs: this.nowMs });
    return this.attribution.decide({ ...call, state, kind, afterMs, failingFill, ...more }, this.nowMs);
  }

  /** Failures of one record, spread over this time; its state after the last. */
  failOver(times: number, ms: number, given: Given = {}): RetryState | null {
    let { state = null } = given;
    for (let n = 0; n < times; n += 1) {
      const decision = this.fail({ ...given, state });
      if (decision.do === 'retry') ({ state } = decision);
      if (n < times - 1) this.nowMs += ms / (times - 1);
    }
    return state;
  }

  /** A record with 7 failures, whose eighth is due after the whole time. */
  nearlyProven(others: number, othersFailed = 0): RetryState | null {
    this.succeed(40);
    const state = this.failOver(1, 0, { key: 'suspect' });
    this.succeed(others - othersFailed);
    for (let n = 0; n < othersFailed; n += 1) this.fail();
    const after = this.failOver(MAX_ATTEMPTS - 2, 10_000, { key: 'suspect', state });
    this.nowMs = START_MS + REFUSE_AFTER_MS;
    return after;
  }
}

const DEAD_LETTER = { do: 'dead_letter' };

describe('a refused record', () => {
  test('becomes a dead letter at once', () => {
    const bench = new Bench();
    bench.succeed(1);
    expect(bench.fail({ kind: 'refused' })).toEqual(DEAD_LETTER);
  });

  test('is tried again while nothing has succeeded since the start', () => {
    expect(new Bench().fail({ kind: 'refused' })).toMatchObject({ do: 'retry', blame: 'service' });
  });

  test('is tried again where none of the last 20 first attempts succeeded', () => {
    const bench = new Bench();
    bench.succeed(40);
    for (let n = 0; n < 18; n += 1) bench.fail({ key: 'the same', isFirst: true });
    expect(bench.fail({ kind: 'refused', key: 'the same' })).toEqual(DEAD_LETTER);
    expect(bench.fail({ kind: 'refused', key: 'the same' })).toMatchObject({ do: 'retry' });
  });

  test('is tried again while the breaker is open', () => {
    const bench = new Bench();
    bench.succeed(40);
    bench.attribution.breaker.open('service_down', bench.nowMs);
    expect(bench.fail({ kind: 'refused', isFirst: false })).toMatchObject({ do: 'retry', blame: 'service' });
  });

  test('is tried again while the guard blocks, and says so', () => {
    const bench = new Bench();
    bench.succeed(1_000);
    const decisions = Array.from({ length: 41 }, () => {
      const decision = bench.fail({ kind: 'refused' });
      bench.deliver('another');
      return decision;
    });
    // 41 successes between earn the price of two more.
    expect(decisions.every(({ do: what }) => what === 'dead_letter')).toBe(true);
    bench.fail({ kind: 'refused' });
    bench.fail({ kind: 'refused' });
    expect(bench.fail({ kind: 'refused' })).toMatchObject({ do: 'retry', blame: 'guard' });
  });
});

describe('a record that fails', () => {
  test('becomes a dead letter with its eighth failure after 300 s, while 20 others were tried and succeeded', () => {
    const bench = new Bench();
    const state = bench.nearlyProven(20);
    expect(bench.fail({ key: 'suspect', state })).toEqual(DEAD_LETTER);
  });

  test('is tried again a moment before the time has passed', () => {
    const bench = new Bench();
    const state = bench.nearlyProven(20);
    bench.nowMs -= 1;
    expect(bench.fail({ key: 'suspect', state })).toMatchObject({ do: 'retry' });
  });

  test('is tried again with seven failures', () => {
    const bench = new Bench();
    bench.succeed(40);
    const first = bench.failOver(1, 0, { key: 'suspect' });
    bench.succeed(20);
    const state = bench.failOver(5, 10_000, { key: 'suspect', state: first });
    bench.nowMs = START_MS + REFUSE_AFTER_MS;
    const seventh = bench.fail({ key: 'suspect', state });
    expect(seventh).toMatchObject({ do: 'retry', state: { against: 7, failures: 7, sinceMs: START_MS } });
  });

  test('is tried again where only 19 others were tried since its first failure', () => {
    const bench = new Bench();
    const state = bench.nearlyProven(19);
    expect(bench.fail({ key: 'suspect', state })).toMatchObject({ do: 'retry', blame: 'record' });
    bench.succeed(1);
    expect(bench.fail({ key: 'suspect', state })).toEqual(DEAD_LETTER);
  });

  test.each([
    [100, 5, 'dead_letter'],
    [100, 6, 'retry'],
  ])('of %i others that were tried, %i failed: %s', (others, failed, decided) => {
    const bench = new Bench();
    const state = bench.nearlyProven(others, failed);
    expect(bench.fail({ key: 'suspect', state }).do).toBe(decided);
  });

  test('failures of the repeats of others say nothing of the service', () => {
    const bench = new Bench();
    const state = bench.nearlyProven(20);
    for (let n = 0; n < 50; n += 1) bench.fail({ isFirst: false });
    expect(bench.fail({ key: 'suspect', state })).toEqual(DEAD_LETTER);
  });

  test('while failing records fill at least half of the memory a tenth of the time is enough', () => {
    const bench = new Bench();
    const state = bench.nearlyProven(20);
    bench.nowMs = START_MS + REFUSE_AFTER_MS / 10;
    expect(bench.fail({ key: 'suspect', state, failingFill: 0.49 })).toMatchObject({ do: 'retry' });
    expect(bench.fail({ key: 'suspect', state, failingFill: 0.5 })).toEqual(DEAD_LETTER);
  });

  test('never becomes a dead letter by 429 alone', () => {
    const bench = new Bench();
    bench.succeed(40);
    let state: RetryState | null = null;
    for (let n = 0; n < 50; n += 1) {
      bench.succeed(20);
      bench.nowMs += 60_000;
      const decision = bench.fail({ key: 'limited', kind: 'rate_limited', state });
      expect(decision).toMatchObject({ do: 'retry', state: { against: 0, failures: n + 1 } });
      if (decision.do === 'retry') ({ state } = decision);
    }
    // What came before the first failure that counts proves nothing.
    const counted = bench.fail({ key: 'limited', state });
    expect(counted).toMatchObject({ do: 'retry', state: { against: 1, failures: 51, sinceMs: bench.nowMs } });
  });

  test('never becomes a dead letter by failures that it shares with others', () => {
    const bench = new Bench();
    const state = bench.nearlyProven(20);
    const shared = bench.fail({ key: 'suspect', state, kind: 'shared' });
    expect(shared).toMatchObject({ do: 'retry', state: { against: MAX_ATTEMPTS - 1, failures: MAX_ATTEMPTS } });
  });

  test('is measured by each record of the batches that were accepted meanwhile', () => {
    const bench = new Bench();
    const state = bench.nearlyProven(19);
    bench.deliver('a batch', { delivered: 1 });
    expect(bench.fail({ key: 'suspect', state })).toEqual(DEAD_LETTER);
    const other = new Bench();
    const early = other.nearlyProven(0);
    other.deliver('a batch', { delivered: 20 });
    expect(other.fail({ key: 'suspect', state: early })).toEqual(DEAD_LETTER);
  });

  test('costs no budget, but waits while the guard blocks', () => {
    const bench = new Bench();
    const state = bench.nearlyProven(20);
    const { guard } = bench.attribution;
    while (guard.report(bench.nowMs).budget > 0) guard.permits(bench.nowMs, { free: false });
    bench.deliver('another');
    expect(bench.fail({ key: 'suspect', state })).toEqual(DEAD_LETTER);
    guard.permits(bench.nowMs, { free: false });
    expect(bench.fail({ key: 'suspect', state })).toMatchObject({ do: 'retry', blame: 'guard' });
  });
});

/** After the dead letter of a suspect. */
function proven(): Bench {
  const bench = new Bench();
  const state = bench.nearlyProven(20);
  bench.fail({ key: 'suspect', state });
  bench.succeed(1);
  return bench;
}

describe('further records of the key of a suspect that became a dead letter', () => {
  test('become dead letters at their first failure, and pay for it', () => {
    const bench = proven();
    const { budget } = bench.attribution.guard.report(bench.nowMs);
    expect(bench.fail({ key: 'suspect' })).toEqual(DEAD_LETTER);
    expect(bench.fail({ key: 'suspect' })).toEqual(DEAD_LETTER);
    expect(bench.attribution.guard.report(bench.nowMs).budget).toBeLessThan(budget);
  });

  test('are tried again once a record of the key has succeeded', () => {
    const bench = proven();
    bench.deliver('suspect');
    expect(bench.fail({ key: 'suspect' })).toMatchObject({ do: 'retry', blame: 'record' });
  });

  test('are tried again once the guard has blocked: so many dead letters cast doubt on those before', () => {
    const bench = proven();
    bench.succeed(1_000);
    for (let n = 0; n < 41; n += 1) {
      bench.attribution.permitsAtOnce(bench.nowMs);
    }
    bench.nowMs += 300_000;
    bench.succeed(1);
    expect(bench.fail({ key: 'suspect' })).toMatchObject({ do: 'retry', blame: 'record' });
  });

  test('are tried again where it is 429', () => {
    const bench = proven();
    const decided = bench.fail({ key: 'suspect', kind: 'rate_limited' });
    expect(decided).toMatchObject({ do: 'retry' });
  });
});

describe('what a record is held by', () => {
  test('itself, where less than five first attempts have failed in a row, however long ago one succeeded', () => {
    const bench = new Bench();
    bench.succeed(1);
    bench.nowMs += 3_600_000;
    const blames = Array.from({ length: 5 }, () => bench.fail()).map(
      (decided) => decided.do === 'retry' && decided.blame,
    );
    expect(blames).toEqual(['record', 'record', 'record', 'record', 'service']);
  });

  test('itself, where the caller knows that the service works for others', () => {
    const bench = new Bench();
    bench.succeed(1);
    for (let n = 0; n < 10; n += 1) bench.fail();
    expect([bench.fail({ isWorking: true }), bench.fail()]).toMatchObject([{ blame: 'record' }, { blame: 'service' }]);
  });

  test('the service, while the breaker is open', () => {
    const bench = new Bench();
    bench.succeed(40);
    for (let n = 0; n < 19; n += 1) bench.fail();
    expect(bench.fail()).toMatchObject({ blame: 'service' });
    expect(bench.attribution.why).toBe('service_down');
  });
});

describe('the wait before a repeat', () => {
  test('is 200 ms, doubled with each failure', () => {
    const bench = new Bench();
    const first = bench.fail({ key: 'odd' });
    expect(first).toMatchObject({ forMs: 200 });
    const state = first.do === 'retry' ? first.state : null;
    expect(bench.fail({ key: 'odd', state })).toMatchObject({ forMs: 400 });
  });

  test('is at least what the service asks for, and with 429 exactly that', () => {
    const bench = new Bench({ draw: () => 0.5 });
    expect(bench.fail({ afterMs: 7_000 })).toMatchObject({ forMs: 7_500 });
    const state = bench.failOver(12, 60_000);
    expect(bench.fail({ state, afterMs: 7_000 })).toMatchObject({ forMs: 45_000 });
    expect(bench.fail({ state, afterMs: 7_000, kind: 'rate_limited' })).toMatchObject({ forMs: 7_500 });
  });
});

describe('room for repeats', () => {
  const slots = { free: 64, limit: 64, repeatsRunning: 0, untriedWaits: true, repeatWasLast: false };

  test('all that is free, while nothing untried waits', () => {
    expect(repeatRoom({ ...slots, free: 5, repeatsRunning: 60, untriedWaits: false })).toBe(5);
  });

  test('a quarter of the slots, while untried records wait', () => {
    expect(repeatRoom(slots)).toBe(16);
    expect(repeatRoom({ ...slots, repeatsRunning: 16 })).toBeLessThanOrEqual(0);
    expect(repeatRoom({ ...slots, free: 3 })).toBe(3);
    expect(repeatRoom({ ...slots, free: 0 })).toBe(0);
  });

  test('at least one slot', () => {
    expect(repeatRoom({ ...slots, free: 4, limit: 4 })).toBe(1);
    expect(repeatRoom({ ...slots, free: 4, limit: 4, repeatWasLast: true })).toBe(1);
  });

  test('with less than 4 slots repeats and untried records take turns', () => {
    expect(repeatRoom({ ...slots, free: 3, limit: 3 })).toBe(1);
    expect(repeatRoom({ ...slots, free: 3, limit: 3, repeatWasLast: true })).toBe(0);
  });
});

describe('what is refused again', () => {
  test('is at fault though nothing succeeds, and opens no breaker', () => {
    const bench = new Bench({ believesRefusals: true, maxShare: 1 });
    for (let n = 0; n < 50; n += 1) expect(bench.fail({ kind: 'refused' })).toEqual({ do: 'dead_letter' });
    expect(bench.attribution.why).toBeNull();
  });
});
