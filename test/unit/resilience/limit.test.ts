import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type CallEnd } from '../../../src/resilience/breaker.ts';
import { type CallAnswer, ConcurrencyLimit, type LoadSign, toLoadSign } from '../../../src/resilience/limit.ts';

const MOST = 64;

/** A limit all of whose room is used, at a time of its own. */
class Bench {
  readonly limit: ConcurrencyLimit;
  nowMs = 0;
  #open: number[] = [];

  constructor(most = MOST) {
    this.limit = new ConcurrencyLimit({ most, nowMs: 0 });
    this.fill();
  }

  fill(): void {
    for (; this.limit.room > 0; this.#open.push(this.nowMs)) this.limit.begin();
  }

  /** The oldest calls end so, each followed by a new one. */
  end(sign: LoadSign, times = 1): void {
    for (let n = 0; n < times; n += 1) {
      this.limit.end(this.#open.shift() ?? this.nowMs, sign, this.nowMs);
      this.fill();
    }
  }

  /** One round trip in which all are answered. */
  roundTrip(ms = 50): void {
    this.nowMs += ms;
    this.end('light', this.#open.length);
  }
}

const ANSWER: CallAnswer = { status: 200, afterMs: null };

const OK: CallEnd = { do: 'ok' };
const FAILED: CallEnd = { do: 'failed', cause: 'service_down' };
const REFUSED: CallEnd = { do: 'refused', cause: 'service_refuses' };

test.each<[string, LoadSign, CallEnd, Partial<CallAnswer>]>([
  ['429', 'overload', FAILED, { status: 429 }],
  ['429 with Retry-After', 'overload', FAILED, { status: 429, afterMs: 1_000 }],
  ['503 with Retry-After', 'overload', FAILED, { status: 503, afterMs: 1_000 }],
  ['503 with Retry-After: 0', 'overload', FAILED, { status: 503, afterMs: 0 }],
  ['503', 'strain', FAILED, { status: 503 }],
  ['no answer in time', 'strain', FAILED, { status: null, failed: 'timeout' }],
  ['500', 'none', FAILED, { status: 500 }],
  ['502 with Retry-After', 'none', FAILED, { status: 502, afterMs: 1_000 }],
  ['error_msg', 'none', FAILED, {}],
  ['a connection that broke', 'none', FAILED, { status: null }],
  ['403', 'none', FAILED, { status: 403 }],
  ['no session', 'none', { do: 'no_session', cause: 'credentials_refused' }, { status: null }],
  ['nothing sent', 'none', { do: 'void' }, { status: null }],
  ['200', 'light', OK, {}],
  ['a refusal of the record', 'light', REFUSED, { status: 422 }],
])('reads %s as %s', (_name, sign, end, answer) => {
  expect(toLoadSign(end, { ...ANSWER, ...answer })).toBe(sign);
});

describe('lowers the limit', () => {
  test('to what is open without the call that was refused', () => {
    const bench = new Bench();
    bench.end('overload');
    expect(bench.limit.value).toBe(MOST - 1);
  });

  test('by no more than a fifth a second, however many calls are refused', () => {
    const bench = new Bench();
    bench.end('overload', 60);
    expect(bench.limit.value).toBe(51);
    bench.nowMs += 999;
    bench.end('overload', 200);
    expect(bench.limit.value).toBe(51);
    bench.nowMs += 1;
    bench.end('overload', 200);
    expect(bench.limit.value).toBe(40);
  });

  test('never below 1', () => {
    const bench = new Bench(3);
    for (let n = 0; n < 30; n += 1) {
      bench.nowMs += 1_000;
      bench.end('overload', 3);
    }
    expect([bench.limit.value, bench.limit.room]).toEqual([1, 0]);
  });

  test('when 503 and time-outs are surely more than 30 % of at least 20 answers within a second', () => {
    const bench = new Bench();
    bench.end('light', 9);
    bench.end('strain', 10);
    expect(bench.limit.value).toBe(MOST);
    bench.end('strain', 2);
    expect(bench.limit.value).toBeLessThan(MOST);
  });

  test('by half when the breaker opens over it, and not when it opens over anything else', () => {
    const bench = new Bench();
    bench.limit.opened('none', 0);
    bench.limit.opened('light', 0);
    expect(bench.limit.value).toBe(MOST);
    bench.limit.opened('strain', 0);
    expect(bench.limit.value).toBe(32);
  });
});

describe('leaves it alone', () => {
  test('for failures that say nothing of load, however many', () => {
    const bench = new Bench();
    for (let n = 0; n < 100; n += 1) {
      bench.nowMs += 20;
      bench.end('none', 20);
    }
    expect(bench.limit.value).toBe(MOST);
  });

  test('for 20 % 503 by chance, in fast services and in slow ones', () => {
    for (const everyMs of [1, 30]) {
      const bench = new Bench();
      for (let n = 0; n < 20_000; n += 1) {
        bench.nowMs += everyMs;
        bench.end((n * 7_919) % 10 < 2 ? 'strain' : 'light');
      }
      expect(bench.limit.value).toBe(MOST);
    }
  });

  test('for few answers, and for old ones', () => {
    const bench = new Bench();
    bench.end('strain', 19);
    bench.nowMs += 1_001;
    bench.end('strain', 19);
    expect(bench.limit.value).toBe(MOST);
  });

  test('for calls that began before it was lowered', () => {
    const bench = new Bench();
    bench.nowMs = 10;
    bench.end('overload', 1);
    const lowered = bench.limit.value;
    bench.nowMs = 5_000;
    bench.end('overload', 60);
    bench.end('light', 3);
    expect(bench.limit.value).toBe(lowered);
  });
});

describe('raises it', () => {
  test('by one a round trip, in which all that is open was answered', () => {
    const bench = new Bench();
    bench.nowMs = 1;
    bench.limit.opened('overload', 1);
    bench.roundTrip();
    expect(bench.limit.value).toBe(32);
    for (let n = 0; n < 10; n += 1) bench.roundTrip();
    expect([41, 42]).toContain(bench.limit.value);
  });

  test('to where it was too much, and beyond, only after a second without overload', () => {
    const bench = new Bench();
    bench.nowMs = 5_000;
    bench.end('overload', 14);
    for (let n = 0; n < 19; n += 1) bench.roundTrip();
    expect(bench.limit.value).toBe(MOST - 1);
    for (let n = 0; n < 5; n += 1) bench.roundTrip();
    expect(bench.limit.value).toBe(MOST);
  });

  test('never above the most', () => {
    const bench = new Bench(8);
    for (let n = 0; n < 50; n += 1) bench.roundTrip();
    expect(bench.limit.value).toBe(8);
  });

  test('only while half of it is used', () => {
    const limit = new ConcurrencyLimit({ most: MOST, nowMs: 0 });
    limit.opened('overload', 0);
    for (let nowMs = 2_000; nowMs < 60_000; nowMs += 10) {
      limit.begin();
      limit.end(nowMs, 'light', nowMs + 10);
    }
    expect(limit.value).toBe(32);
  });
});

const signs = fc.constantFrom<LoadSign>('light', 'overload', 'strain', 'none');
const moves = fc.array(
  fc.oneof(
    fc.record({ do: fc.constant('end' as const), sign: signs, times: fc.integer({ min: 1, max: 80 }) }),
    fc.record({ do: fc.constant('opened' as const), sign: signs }),
    fc.record({ do: fc.constant('pass' as const), ms: fc.integer({ min: 0, max: 3_000 }) }),
  ),
  { maxLength: 60 },
);

test('stays a whole number between 1 and the most, whatever happens', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 1_024 }), moves, (most, all) => {
      const bench = new Bench(most);
      for (const move of all) {
        if (move.do === 'pass') bench.nowMs += move.ms;
        else if (move.do === 'opened') bench.limit.opened(move.sign, bench.nowMs);
        else bench.end(move.sign, move.times);
        const { value } = bench.limit;
        expect([Number.isInteger(value), value >= 1, value <= most]).toEqual([true, true, true]);
      }
    }),
  );
});
