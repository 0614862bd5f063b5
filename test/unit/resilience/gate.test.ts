import { describe, expect, test } from 'vitest';
import { type HoldCause } from '../../../src/kernel/outcome.ts';
import { type FailedAttempt } from '../../../src/resilience/attribution.ts';
import { type CallEnd } from '../../../src/resilience/breaker.ts';
import { Gate, type Pass, SERVICE_CAUSES } from '../../../src/resilience/gate.ts';
import { type CallAnswer, ConcurrencyLimit } from '../../../src/resilience/limit.ts';
import { TokenBucket } from '../../../src/resilience/token-bucket.ts';
import { buildAttribution } from '../../support/attribution-builder.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const OK: CallEnd = { do: 'ok' };
const FAILED: CallEnd = { do: 'failed', cause: 'service_down' };
const NO_SESSION: CallEnd = { do: 'no_session', cause: 'credentials_refused' };
const GOOD: CallAnswer = { status: 200, afterMs: null };
const BAD: CallAnswer = { status: 503, afterMs: null };
const RECORD = { topic: 'payments.created', partition: 3, offset: 41n };
const REFUSED: FailedAttempt = {
  key: 'odd',
  isFirst: true,
  state: null,
  kind: 'refused',
  afterMs: null,
  failingFill: 0,
};

class Bench {
  readonly clock = new ManualClock();
  readonly said: [string, unknown][] = [];
  readonly recovered: (readonly HoldCause[])[] = [];
  readonly gate: Gate;
  #keys = 0;

  constructor(bucket: TokenBucket | null = null, limit: ConcurrencyLimit | null = null) {
    this.gate = new Gate({
      scope: 'scoring',
      attribution: buildAttribution(),
      bucket,
      limit,
      clock: this.clock,
      emit: (event, fields) => void this.said.push([event, fields]),
    });
    this.gate.attach((causes) => void this.recovered.push(causes));
  }

  get nowMs(): number {
    return this.clock.monotonicMs();
  }

  get room(): number {
    return this.gate.room(this.nowMs);
  }

  /** The first attempt for a key of its own. */
  call(end: CallEnd, answer: CallAnswer = GOOD): void {
    this.end(this.gate.begin(this.nowMs), end, answer);
  }

  end(pass: Pass, end: CallEnd, answer: CallAnswer = GOOD): void {
    const key = String((this.#keys += 1));
    this.gate.end(pass, { key, isFirst: true, record: RECORD, end, answer, delivered: end.do === 'ok' ? 1 : 0 });
  }

  fail(times: number): void {
    for (let n = 0; n < times; n += 1) this.call(FAILED, BAD);
  }
}

test('says when the breaker opens, by which record, and when it closes, once each', () => {
  const bench = new Bench();
  bench.fail(25);
  const position = 'payments.created:3:41';
  expect(bench.said).toEqual([
    ['hold_started', { cause: 'service_down', scope: 'scoring breaker', error: 'status_503', position }],
  ]);
  expect(bench.gate.why).toBe('service_down');
  bench.clock.advance(2_000);
  bench.call(OK);
  expect(bench.said[1]).toEqual(['hold_ended', { cause: 'service_down', scope: 'scoring breaker', afterMs: 2_000 }]);
  expect([bench.room, bench.gate.why, bench.gate.dueMs(bench.nowMs)]).toEqual([Infinity, null, null]);
});

describe('the first success after failures', () => {
  test('says that records that wait for the service may be tried again', () => {
    const bench = new Bench();
    bench.fail(1);
    bench.clock.advance(2_000);
    bench.call(OK);
    expect(bench.recovered).toEqual([SERVICE_CAUSES]);
    bench.call(OK);
    expect(bench.recovered).toHaveLength(1);
  });

  test('says nothing where the failures are younger than 2 s, or nothing was sent', () => {
    const bench = new Bench();
    bench.call({ do: 'void' });
    bench.clock.advance(10_000);
    bench.fail(1);
    bench.clock.advance(1_999);
    bench.call(OK);
    expect(bench.recovered).toEqual([]);
  });
});

test('is due when a probe is, and not again while it runs', () => {
  const bench = new Bench();
  bench.fail(20);
  expect([bench.room, bench.gate.dueMs(0)]).toEqual([0, 2_000]);
  bench.clock.advance(2_000);
  expect([bench.room, bench.gate.dueMs(2_000)]).toEqual([1, null]);
  bench.gate.begin(bench.nowMs);
  expect([bench.room, bench.gate.dueMs(0)]).toEqual([0, null]);
});

test('closes the breaker where nothing is left to probe with, and says so', () => {
  const bench = new Bench();
  bench.fail(20);
  bench.gate.noneUntried(bench.nowMs);
  expect([bench.room, bench.gate.why]).toEqual([Infinity, null]);
  expect(bench.said.map(([event]) => event)).toEqual(['hold_started', 'hold_ended']);
});

test('says so when the cause is another', () => {
  const bench = new Bench();
  bench.fail(20);
  bench.clock.advance(2_000);
  bench.call(NO_SESSION);
  expect(bench.said.slice(1).map(([event, fields]) => [event, (fields as { cause: string }).cause])).toEqual([
    ['hold_ended', 'service_down'],
    ['hold_started', 'credentials_refused'],
  ]);
});

test.each<[what: string, end: CallEnd, answer: CallAnswer, error: string]>([
  ['no answer in time', FAILED, { status: null, afterMs: null, failed: 'timeout' }, 'timeout'],
  ['no connection', FAILED, { status: 0, afterMs: null, failed: 'connect' }, 'connect'],
  ['an error inside of an answer', FAILED, { status: 200, afterMs: null }, 'status_200'],
  ['no session, and so no answer', NO_SESSION, { status: null, afterMs: null }, ''],
])('names what opened the breaker: %s', (_what, end, answer, error) => {
  const bench = new Bench();
  for (let call = 0; call < 20; call += 1) bench.call(end, answer);
  expect(bench.said).toMatchObject([['hold_started', { error }]]);
});

describe('a 429 that says for how long', () => {
  test('keeps all calls back until then, and is on the report', () => {
    const bench = new Bench();
    bench.call(FAILED, { status: 429, afterMs: 4_000 });
    expect([bench.room, bench.gate.dueMs(0), bench.gate.report().pausedUntilMs]).toEqual([0, 4_000, 4_000]);
    bench.clock.advance(4_000);
    // Whoever asked a moment before has to ask again, although there is room by now.
    expect([bench.gate.dueMs(3_999), bench.gate.dueMs(4_000)]).toEqual([4_000, null]);
    expect([bench.room, bench.gate.report().pausedUntilMs]).toEqual([Infinity, null]);
  });

  test('does not stop everything for longer than 30 s', () => {
    const bench = new Bench();
    bench.call(FAILED, { status: 429, afterMs: 300_000 });
    bench.clock.advance(30_000);
    expect(bench.room).toBe(Infinity);
  });
});

describe('the dead-letter guard', () => {
  test('blocks by name when its budget is spent, keeps no call back, and ends its block by itself', () => {
    const bench = new Bench();
    bench.call(OK);
    const decisions = Array.from({ length: 21 }, () => bench.gate.decide(REFUSED).do);
    expect(decisions).toEqual([...Array.from({ length: 20 }, () => 'dead_letter'), 'retry']);
    expect(bench.said).toEqual([
      ['hold_started', { cause: 'dead_letter_guard', scope: 'scoring dead letters', error: '' }],
    ]);
    expect([bench.room, bench.gate.why, bench.gate.permitsDeadLetter()]).toEqual([Infinity, null, false]);
    expect(bench.gate.report().guard).toMatchObject({ state: 'blocking', untilMs: 300_000 });
    expect(bench.gate.dueMs(bench.nowMs)).toBe(300_000);
    bench.clock.advance(300_000);
    bench.gate.tick(bench.nowMs);
    const afterMs = 300_000;
    expect(bench.said[1]).toEqual([
      'hold_ended',
      { cause: 'dead_letter_guard', scope: 'scoring dead letters', afterMs },
    ]);
    expect(bench.gate.permitsDeadLetter()).toBe(true);
  });

  test('is spent by records that need no answer, too', () => {
    const bench = new Bench();
    const permitted = Array.from({ length: 21 }, () => bench.gate.permitsDeadLetter());
    expect(permitted.filter(Boolean)).toHaveLength(20);
    expect(bench.said).toMatchObject([['hold_started', { cause: 'dead_letter_guard' }]]);
  });
});

test('keeps to the limit of requests per second, which is no hold', () => {
  const bench = new Bench(new TokenBucket(2, 0));
  bench.call(OK);
  expect([bench.room, bench.gate.dueMs(0), bench.gate.why]).toEqual([0, 500, null]);
  bench.clock.advance(500);
  expect(bench.room).toBe(1);
  expect(bench.said).toEqual([]);
});

function limited(most = 64): Bench {
  return new Bench(null, new ConcurrencyLimit({ most, nowMs: 0 }));
}

describe('with a limit of calls at once', () => {
  test('has room for so many, and says how many they are', () => {
    const bench = limited(2);
    const passes = [bench.gate.begin(0), bench.gate.begin(0)];
    expect([bench.room, bench.gate.report().limit, bench.gate.limit]).toEqual([0, 2, 2]);
    for (const pass of passes) bench.end(pass, OK);
    expect(bench.room).toBe(2);
    expect(new Bench().gate.report().limit).toBeNull();
  });

  test('goes on at a lower limit when the service asks to be left alone, in place of a pause', () => {
    const bench = limited(10);
    bench.call(FAILED, { status: 429, afterMs: 5_000 });
    expect([bench.room, bench.gate.report().limit, bench.gate.report().pausedUntilMs]).toEqual([8, 8, null]);
  });

  test('halves it when the breaker opens over what may be load, and leaves it alone for probes', () => {
    const bench = limited();
    bench.fail(20);
    const { limit } = bench.gate.report();
    expect(limit).toBeLessThanOrEqual(32);
    for (let n = 0; n < 4; n += 1) {
      bench.clock.advance(8_000);
      bench.call(FAILED, { status: 503, afterMs: 1_000 });
    }
    expect(bench.gate.report().limit).toBe(limit);
  });

  test('does not touch it when the breaker opens over what is no load', () => {
    const bench = limited();
    for (let n = 0; n < 20; n += 1) bench.call(FAILED, { status: 500, afterMs: null });
    expect([bench.gate.report().breaker.state, bench.gate.report().limit]).toEqual(['open', 64]);
  });
});

test('counts calls by what they said of the service, and the changes of the breaker', () => {
  const bench = new Bench();
  const refused: CallEnd = { do: 'refused', cause: 'service_refuses' };
  for (const end of [OK, OK, FAILED, refused, { do: 'void' } as const, NO_SESSION]) bench.call(end);
  expect(bench.gate.report()).toMatchObject({
    calls: { ok: 2, refused: 1, failed: 1, no_session: 1, void: 1 },
    breakerChanges: 1,
  });
});
