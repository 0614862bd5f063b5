import { describe, expect, test } from 'vitest';
import { Breaker, type CallEnd, toSessionEnd } from '../../../src/resilience/breaker.ts';

const START_MS = 123_456;
const OK: CallEnd = { do: 'ok' };
const FAILED: CallEnd = { do: 'failed', cause: 'service_down' };
const REFUSED: CallEnd = { do: 'refused', cause: 'service_refuses' };
const VOID: CallEnd = { do: 'void' };
const NO_SESSION: CallEnd = { do: 'no_session', cause: 'credentials_refused' };

class Bench {
  nowMs = START_MS;
  readonly breaker: Breaker;
  #keys = 0;

  constructor(quietMs = 0) {
    this.breaker = new Breaker(START_MS, { quietMs });
  }

  /** The first attempt for a key of its own, unless told otherwise. */
  call(end: CallEnd, { key = `key ${String((this.#keys += 1))}`, isFirst = true } = {}): void {
    this.breaker.end(this.breaker.begin(this.nowMs), { key, isFirst }, end, this.nowMs);
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
    this.calls(20, FAILED);
  }

  /** Up to the time of the next probe. */
  passToProbe(): void {
    this.nowMs = this.breaker.report().probeAtMs ?? 0;
  }
}

describe('stays closed', () => {
  test('after failed first attempts for 19 keys', () => {
    const bench = new Bench();
    bench.calls(19, FAILED);
    expect([bench.room, bench.state]).toEqual([Infinity, 'closed']);
  });

  test('when a first attempt succeeds in between, however large the share of failures is', () => {
    const bench = new Bench();
    for (let n = 0; n < 50; n += 1) {
      bench.calls(19, FAILED);
      bench.call(OK);
    }
    expect(bench.state).toBe('closed');
  });

  test('so soon after a success, where it is told to wait: a service may refuse at once what is too much for it', () => {
    const bench = new Bench(100);
    bench.call(OK);
    bench.nowMs += 99;
    bench.calls(1_000, FAILED);
    expect(bench.state).toBe('closed');
    bench.nowMs += 1;
    bench.call(FAILED);
    expect(bench.state).toBe('open');
  });

  test('when the same key fails again and again: it may be the key', () => {
    const bench = new Bench();
    bench.calls(18, FAILED);
    for (let n = 0; n < 100; n += 1) bench.call(FAILED, { key: 'the same' });
    expect(bench.state).toBe('closed');
  });

  test('when repeats fail, and when nothing was sent', () => {
    const bench = new Bench();
    for (let n = 0; n < 100; n += 1) {
      bench.call(FAILED, { key: `repeat ${String(n)}`, isFirst: false });
      bench.call(VOID);
    }
    expect(bench.state).toBe('closed');
  });
});

describe('opens', () => {
  test.each<[string, CallEnd, string]>([
    ['fail', FAILED, 'service_down'],
    ['are refused', REFUSED, 'service_refuses'],
  ])('when first attempts for 20 keys in a row %s, and reports why', (_what, end, why) => {
    const bench = new Bench();
    bench.call(OK);
    bench.calls(20, end);
    const probeAtMs = START_MS + 2_000;
    expect(bench.breaker.report()).toEqual({ state: 'open', why, sinceMs: START_MS, probeAtMs });
    expect([bench.room, bench.breaker.isClosed, bench.breaker.dueMs()]).toEqual([0, false, probeAtMs]);
  });

  test('although repeats succeed in between: they are of other records than the service is asked for now', () => {
    const bench = new Bench();
    bench.calls(19, FAILED);
    bench.call(OK, { isFirst: false });
    bench.call(FAILED);
    expect(bench.state).toBe('open');
  });

  test('at once when there is no session, even for a repeat', () => {
    const bench = new Bench();
    bench.call(NO_SESSION, { isFirst: false });
    expect(bench.breaker.report()).toMatchObject({ why: 'credentials_refused', probeAtMs: START_MS + 2_000 });
  });

  test('once for many calls that waited for one login', () => {
    const bench = new Bench();
    const epoch = bench.breaker.begin(START_MS);
    for (let call = 0; call < 64; call += 1)
      bench.breaker.end(epoch, { key: String(call), isFirst: true }, toSessionEnd('service_refuses'), START_MS);
    expect(bench.breaker.report()).toMatchObject({ why: 'service_refuses', probeAtMs: START_MS + 2_000 });
  });

  test('not for one login that was not answered: that is a failed call', () => {
    expect(toSessionEnd('service_down')).toEqual(FAILED);
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
    bench.passToProbe();
    bench.call(OK);
    expect([bench.room, bench.breaker.why]).toEqual([Infinity, null]);
    bench.calls(19, FAILED);
    expect(bench.state).toBe('closed');
    bench.call(FAILED);
    expect(bench.breaker.report().probeAtMs).toBe(bench.nowMs + 2_000);
  });

  test('waits twice as long after each probe that failed, 8 s at most, and remembers since when', () => {
    const bench = new Bench();
    bench.open();
    const spans: number[] = [];
    for (let n = 0; n < 5; n += 1) {
      const { probeAtMs } = bench.breaker.report();
      spans.push((probeAtMs ?? 0) - bench.nowMs);
      bench.passToProbe();
      bench.call(n % 2 === 0 ? FAILED : REFUSED);
    }
    expect(spans).toEqual([2_000, 4_000, 8_000, 8_000, 8_000]);
    expect(bench.breaker.report().sinceMs).toBe(START_MS);
  });

  test('takes no notice of calls that began before', () => {
    const bench = new Bench();
    const early = bench.breaker.begin(bench.nowMs);
    const call = { key: 'early', isFirst: true };
    bench.open();
    bench.breaker.end(early, call, OK, bench.nowMs);
    expect(bench.state).toBe('open');
    bench.passToProbe();
    bench.breaker.begin(bench.nowMs);
    bench.breaker.end(early, call, OK, bench.nowMs);
    expect([bench.state, bench.room]).toEqual(['half_open', 0]);
  });

  test('lets another probe out for one that was not sent', () => {
    const bench = new Bench();
    bench.open();
    bench.passToProbe();
    bench.call(VOID);
    expect(bench.room).toBe(1);
  });

  test('a probe is known by its epoch', () => {
    const bench = new Bench();
    const early = bench.breaker.begin(bench.nowMs);
    bench.open();
    bench.passToProbe();
    const probe = bench.breaker.begin(bench.nowMs);
    expect([early, probe].map((epoch) => bench.breaker.isProbe(epoch))).toEqual([false, true]);
  });
});

describe('where no record is left that was not tried yet', () => {
  test('closes, for nothing could probe, and starts with 2 s again', () => {
    const bench = new Bench();
    bench.open();
    bench.passToProbe();
    bench.call(FAILED);
    bench.breaker.closeForWantOfProbes(bench.nowMs);
    expect([bench.state, bench.breaker.why, bench.room]).toEqual(['closed', null, Infinity]);
    bench.open();
    expect(bench.breaker.report().probeAtMs).toBe(bench.nowMs + 2_000);
  });

  test('waits for the probe that is under way, and changes nothing while it is closed', () => {
    const bench = new Bench();
    const { changes } = bench.breaker;
    bench.breaker.closeForWantOfProbes(bench.nowMs);
    expect(bench.breaker.changes).toBe(changes);
    bench.open();
    bench.passToProbe();
    bench.breaker.begin(bench.nowMs);
    bench.breaker.closeForWantOfProbes(bench.nowMs);
    expect(bench.state).toBe('half_open');
  });
});
