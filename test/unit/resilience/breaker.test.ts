import { describe, expect, test } from 'vitest';
import { Breaker, type CallEnd, toSessionEnd } from '../../../src/resilience/breaker.ts';

/** A breaker at a moment that its own slices of time do not know. */
const START_MS = 123_456;

class Bench {
  nowMs = START_MS;
  readonly breaker = new Breaker(START_MS);

  call(end: CallEnd, afterMs: number | null = null): void {
    this.breaker.end(this.breaker.begin(this.nowMs), end, afterMs, this.nowMs);
  }

  calls(times: number, end: CallEnd): void {
    for (let n = 0; n < times; n += 1) this.call(end);
  }

  get room(): number {
    return this.breaker.room(this.nowMs);
  }

  get state(): string {
    return this.breaker.report().state;
  }

  open(): void {
    this.calls(20, 'failed');
  }
}

describe('stays closed', () => {
  test('while fewer than 20 calls were made, whatever they came to', () => {
    const bench = new Bench();
    bench.calls(19, 'failed');
    expect(bench.room).toBe(Infinity);
  });

  test('while less than half of the calls of the last 10 s fail', () => {
    const bench = new Bench();
    for (let n = 0; n < 1000; n += 1) {
      bench.call('ok');
      bench.call(n % 10 === 0 ? 'ok' : 'failed');
      bench.nowMs += 7;
    }
    expect(bench.state).toBe('closed');
  });

  test('when failures are older than 10 s', () => {
    const bench = new Bench();
    bench.calls(19, 'failed');
    bench.nowMs += 10_000;
    bench.call('failed');
    expect(bench.state).toBe('closed');
  });

  test('through answers nobody can use, as long as others are good: one record may bring them', () => {
    const bench = new Bench();
    for (let n = 0; n < 9; n += 1) {
      bench.calls(2, 'hold');
      bench.calls(3, 'ok');
    }
    expect(bench.state).toBe('closed');
  });

  test('when nothing was sent', () => {
    const bench = new Bench();
    bench.calls(100, 'void');
    expect(bench.state).toBe('closed');
  });
});

describe('opens', () => {
  test('when half of at least 20 calls failed, and says so', () => {
    const bench = new Bench();
    bench.calls(10, 'ok');
    bench.calls(9, 'failed');
    expect(bench.state).toBe('closed');
    bench.call('failed');
    expect(bench.room).toBe(0);
    const probeAtMs = START_MS + 2_000;
    expect(bench.breaker.report()).toEqual({ state: 'open', why: 'service_down', sinceMs: START_MS, probeAtMs });
    expect(bench.breaker.dueMs()).toBe(probeAtMs);
  });

  test('after three answers in a row that nobody can use, for a minute', () => {
    const bench = new Bench();
    bench.calls(5, 'ok');
    bench.calls(3, 'hold');
    expect(bench.breaker.report()).toMatchObject({ why: 'service_refuses', probeAtMs: START_MS + 60_000 });
  });

  test('at once when logins are refused, and looks again soon, because that costs the service nothing', () => {
    const bench = new Bench();
    bench.call({ do: 'no_session', why: 'credentials_refused' });
    expect(bench.breaker.report()).toMatchObject({ why: 'credentials_refused', probeAtMs: START_MS + 2_000 });
  });

  test('for seconds, not for a minute, when many calls waited for one login that gave no token', () => {
    const bench = new Bench();
    const epoch = bench.breaker.begin(START_MS);
    for (let call = 0; call < 64; call += 1) bench.breaker.end(epoch, toSessionEnd('service_refuses'), null, START_MS);
    expect(bench.breaker.report()).toMatchObject({ why: 'service_refuses', probeAtMs: START_MS + 2_000 });
  });

  test.each([
    [5_000, 5_000],
    [500, 2_000],
    [300_000, 60_000],
  ])('for as long as the service asks, within bounds: %i ms', (afterMs, openMs) => {
    const bench = new Bench();
    bench.calls(19, 'failed');
    bench.call('failed', afterMs);
    expect(bench.breaker.report().probeAtMs).toBe(START_MS + openMs);
  });
});

describe('while open', () => {
  test('lets one probe out when its time has come, and no other meanwhile', () => {
    const bench = new Bench();
    bench.open();
    bench.nowMs += 1_999;
    expect(bench.room).toBe(0);
    bench.nowMs += 1;
    expect(bench.room).toBe(1);
    bench.breaker.begin(bench.nowMs);
    expect([bench.room, bench.state, bench.breaker.dueMs()]).toEqual([0, 'half_open', null]);
  });

  test('is closed by one success, and counts anew', () => {
    const bench = new Bench();
    bench.open();
    bench.nowMs += 2_000;
    bench.call('ok');
    expect(bench.room).toBe(Infinity);
    bench.calls(19, 'failed');
    expect(bench.state).toBe('closed');
    bench.call('failed');
    expect(bench.breaker.report().probeAtMs).toBe(bench.nowMs + 2_000);
  });

  test('waits twice as long after each probe that failed, 8 s at most, and remembers since when', () => {
    const bench = new Bench();
    bench.open();
    const spans: number[] = [];
    for (let n = 0; n < 5; n += 1) {
      const { probeAtMs } = bench.breaker.report();
      spans.push((probeAtMs ?? 0) - bench.nowMs);
      bench.nowMs = probeAtMs ?? 0;
      bench.call('failed');
    }
    expect(spans).toEqual([2_000, 4_000, 8_000, 8_000, 8_000]);
    expect(bench.breaker.report().sinceMs).toBe(START_MS);
  });

  test('takes no notice of calls that began before', () => {
    const bench = new Bench();
    const early = bench.breaker.begin(bench.nowMs);
    bench.open();
    bench.breaker.end(early, 'ok', null, bench.nowMs);
    expect(bench.state).toBe('open');
    bench.nowMs += 2_000;
    bench.breaker.begin(bench.nowMs);
    bench.breaker.end(early, 'ok', null, bench.nowMs);
    expect([bench.state, bench.room]).toEqual(['half_open', 0]);
  });

  test('lets another probe out for one that was not sent', () => {
    const bench = new Bench();
    bench.open();
    bench.nowMs += 2_000;
    bench.call('void');
    expect(bench.room).toBe(1);
  });

  test('a probe is known by its epoch', () => {
    const bench = new Bench();
    const early = bench.breaker.begin(bench.nowMs);
    bench.open();
    bench.nowMs += 2_000;
    const probe = bench.breaker.begin(bench.nowMs);
    expect([early, probe].map((epoch) => bench.breaker.isProbe(epoch))).toEqual([false, true]);
  });
});
