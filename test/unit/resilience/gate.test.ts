import { describe, expect, test } from 'vitest';
import { type HoldCause } from '../../../src/kernel/outcome.ts';
import { type CallEnd } from '../../../src/resilience/breaker.ts';
import { Floodgate } from '../../../src/resilience/floodgate.ts';
import { Gate } from '../../../src/resilience/gate.ts';
import { type CallAnswer, ConcurrencyLimit } from '../../../src/resilience/limit.ts';
import { TokenBucket } from '../../../src/resilience/token-bucket.ts';
import { ManualClock } from '../../support/manual-clock.ts';

class Bench {
  readonly clock = new ManualClock();
  readonly said: [string, unknown][] = [];
  readonly relief: [string, readonly HoldCause[]][] = [];
  readonly gate: Gate;

  constructor(bucket: TokenBucket | null = null, limit: ConcurrencyLimit | null = null) {
    this.gate = new Gate({
      scope: 'scoring',
      floodgate: new Floodgate(0.05, 0),
      bucket,
      limit,
      clock: this.clock,
      emit: (event, fields) => void this.said.push([event, fields]),
    });
    this.gate.attach({
      recovered: (causes) => void this.relief.push(['recovered', causes]),
      probe: (causes) => void this.relief.push(['probe', causes]),
    });
  }

  get nowMs(): number {
    return this.clock.monotonicMs();
  }

  get room(): number {
    return this.gate.room(this.nowMs);
  }

  call(end: CallEnd, answer: CallAnswer = { status: 200, afterMs: null }): number {
    return this.gate.end(this.gate.begin(this.nowMs), end, answer);
  }

  fail(times: number): void {
    for (let n = 0; n < times; n += 1) this.call('failed', { status: 503, afterMs: null });
  }
}

const SERVICE = ['service_down', 'service_refuses', 'credentials_refused', 'sessions_displace_each_other'];

test('says when the breaker opens and closes, once each, and that waiting records may be asked again', () => {
  const bench = new Bench();
  bench.fail(25);
  expect(bench.said).toEqual([
    ['hold_started', { cause: 'service_down', scope: 'scoring breaker', error: 'status_503' }],
  ]);
  expect(bench.gate.why).toBe('service_down');
  bench.clock.advance(2_000);
  bench.call('ok');
  expect(bench.said[1]).toEqual(['hold_ended', { cause: 'service_down', scope: 'scoring breaker', afterMs: 2_000 }]);
  expect(bench.relief).toEqual([['recovered', SERVICE]]);
  expect([bench.room, bench.gate.why, bench.gate.probeMs()]).toEqual([Infinity, null, null]);
});

test('finds a record for a probe that has fallen due, once, and asks for no time of its own until it has ended', () => {
  const bench = new Bench();
  bench.fail(20);
  expect(bench.gate.probeMs()).toBe(2_000);
  bench.clock.advance(2_000);
  bench.gate.tick(bench.nowMs);
  bench.gate.tick(bench.nowMs);
  expect(bench.relief).toEqual([['probe', SERVICE]]);
  expect([bench.room, bench.gate.probeMs()]).toEqual([1, null]);
});

test('tells the record of a failed probe to wait beyond the next one, so that another lane probes', () => {
  const bench = new Bench();
  bench.fail(20);
  bench.clock.advance(2_000);
  expect(bench.call('failed')).toBe(6_000);
  expect(bench.gate.probeMs()).toBe(bench.nowMs + 4_000);
});

test('changes its mind about the cause aloud', () => {
  const bench = new Bench();
  bench.fail(20);
  bench.clock.advance(2_000);
  bench.call({ do: 'no_session', why: 'credentials_refused' });
  expect(bench.said.slice(1).map(([event, fields]) => [event, (fields as { cause: string }).cause])).toEqual([
    ['hold_ended', 'service_down'],
    ['hold_started', 'credentials_refused'],
  ]);
  expect(bench.relief).toEqual([]);
});

test.each<[what: string, end: CallEnd, answer: CallAnswer, error: string]>([
  ['no answer in time', 'failed', { status: null, afterMs: null, failed: 'timeout' }, 'timeout'],
  ['no connection', 'failed', { status: 0, afterMs: null, failed: 'connect' }, 'connect'],
  ['an error inside of an answer', 'failed', { status: 200, afterMs: null }, 'status_200'],
  [
    'no session, and so no answer',
    { do: 'no_session', why: 'credentials_refused' },
    { status: null, afterMs: null },
    '',
  ],
])('names what opened the breaker: %s', (_what, end, answer, error) => {
  const bench = new Bench();
  for (let call = 0; call < 20; call += 1) bench.call(end, answer);
  expect(bench.said).toMatchObject([['hold_started', { error }]]);
});

describe('a 429 that says for how long', () => {
  test('keeps all calls back until then, and is on the report', () => {
    const bench = new Bench();
    bench.call('failed', { status: 429, afterMs: 4_000 });
    expect([bench.room, bench.gate.roomMs(0), bench.gate.report().pausedUntilMs]).toEqual([0, 4_000, 4_000]);
    bench.clock.advance(4_000);
    // Whoever asked a moment before has to ask again, although there is room by now.
    expect([bench.gate.roomMs(3_999), bench.gate.roomMs(4_000)]).toEqual([4_000, null]);
    expect([bench.room, bench.gate.report().pausedUntilMs]).toEqual([Infinity, null]);
  });

  test('does not stop everything for longer than 30 s', () => {
    const bench = new Bench();
    bench.call('failed', { status: 429, afterMs: 300_000 });
    bench.clock.advance(30_000);
    expect(bench.room).toBe(Infinity);
  });
});

test('holds a flood, says so, lets one out in 30 s, and is opened by its success', () => {
  const bench = new Bench();
  const verdicts = Array.from({ length: 12 }, () => bench.gate.refused());
  expect(verdicts.filter((verdict) => verdict === 'hold')).toHaveLength(3);
  expect(bench.said).toEqual([['hold_started', { cause: 'floodgate', scope: 'scoring floodgate', error: '' }]]);
  expect(bench.gate.letter()).toBe('hold');
  expect([bench.room, bench.gate.why]).toEqual([0, 'floodgate']);
  bench.clock.advance(30_000);
  bench.gate.tick(bench.nowMs);
  const pass = bench.gate.begin(bench.nowMs);
  bench.gate.end(pass, 'ok', { status: 200, afterMs: null });
  bench.gate.delivered(pass, 1);
  expect(bench.relief).toEqual([
    ['probe', ['floodgate']],
    ['recovered', ['floodgate']],
  ]);
  expect([bench.room, bench.gate.letter()]).toEqual([Infinity, 'letter']);
});

test('keeps to the limit of requests per second, which is no hold', () => {
  const bench = new Bench(new TokenBucket(2, 0));
  bench.call('ok');
  expect([bench.room, bench.gate.roomMs(0), bench.gate.why]).toEqual([0, 500, null]);
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
    expect([bench.room, bench.gate.report().limit]).toEqual([0, 2]);
    for (const pass of passes) bench.gate.end(pass, 'ok', { status: 200, afterMs: null });
    expect(bench.room).toBe(2);
    expect(new Bench().gate.report().limit).toBeNull();
  });

  test('goes on at a lower limit when the service asks to be left alone, in place of a pause', () => {
    const bench = limited(10);
    bench.call('failed', { status: 429, afterMs: 5_000 });
    expect([bench.room, bench.gate.report().limit, bench.gate.report().pausedUntilMs]).toEqual([8, 8, null]);
  });

  test('halves it when the breaker opens over what may be load, and leaves it alone for probes', () => {
    const bench = limited();
    bench.fail(20);
    const { limit } = bench.gate.report();
    expect(limit).toBeLessThanOrEqual(32);
    for (let n = 0; n < 4; n += 1) {
      bench.clock.advance(8_000);
      bench.call('failed', { status: 503, afterMs: 1_000 });
    }
    expect(bench.gate.report().limit).toBe(limit);
  });

  test('does not touch it when the breaker opens over what is no load', () => {
    const bench = limited();
    for (let n = 0; n < 20; n += 1) bench.call('failed', { status: 500, afterMs: null });
    expect([bench.gate.report().breaker.state, bench.gate.report().limit]).toEqual(['open', 64]);
  });
});

test('counts calls by what they said of the service, and the changes of the breaker', () => {
  const bench = new Bench();
  const ends: CallEnd[] = ['ok', 'ok', 'failed', 'void', { do: 'no_session', why: 'credentials_refused' }];
  for (const end of ends) bench.call(end);
  expect(bench.gate.report()).toMatchObject({
    calls: { ok: 2, failed: 1, hold: 0, no_session: 1, void: 1 },
    breakerChanges: 1,
  });
});
