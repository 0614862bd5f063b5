import { describe, expect, test } from 'vitest';
import { type HoldCause } from '../../../src/kernel/outcome.ts';
import { type CallEnd } from '../../../src/resilience/breaker.ts';
import { Floodgate } from '../../../src/resilience/floodgate.ts';
import { Gate } from '../../../src/resilience/gate.ts';
import { TokenBucket } from '../../../src/resilience/token-bucket.ts';
import { ManualClock } from '../../support/manual-clock.ts';

class Bench {
  readonly clock = new ManualClock();
  readonly said: [string, unknown][] = [];
  readonly relief: [string, readonly HoldCause[]][] = [];
  readonly gate: Gate;

  constructor(bucket: TokenBucket | null = null) {
    this.gate = new Gate({
      scope: 'scoring',
      floodgate: new Floodgate(0.05, 0),
      bucket,
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

  call(
    end: CallEnd,
    answer: { status: number | null; afterMs: number | null } = { status: 200, afterMs: null },
  ): number {
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
  expect(bench.said).toEqual([['hold_started', { cause: 'service_down', scope: 'scoring breaker', error: '' }]]);
  expect(bench.gate.why).toBe('service_down');
  bench.clock.advance(2_000);
  bench.call('ok');
  expect(bench.said[1]).toEqual(['hold_ended', { cause: 'service_down', scope: 'scoring breaker', afterMs: 2_000 }]);
  expect(bench.relief).toEqual([['recovered', SERVICE]]);
  expect([bench.room, bench.gate.why, bench.gate.dueMs(bench.nowMs)]).toEqual([Infinity, null, null]);
});

test('finds a record for a probe that has fallen due, once, and asks for no time of its own until it has ended', () => {
  const bench = new Bench();
  bench.fail(20);
  expect(bench.gate.dueMs(bench.nowMs)).toBe(2_000);
  bench.clock.advance(2_000);
  bench.gate.tick(bench.nowMs);
  bench.gate.tick(bench.nowMs);
  expect(bench.relief).toEqual([['probe', SERVICE]]);
  expect([bench.room, bench.gate.dueMs(bench.nowMs)]).toEqual([1, null]);
});

test('tells the record of a failed probe to wait beyond the next one, so that another lane probes', () => {
  const bench = new Bench();
  bench.fail(20);
  bench.clock.advance(2_000);
  expect(bench.call('failed')).toBe(6_000);
  expect(bench.gate.dueMs(bench.nowMs)).toBe(bench.nowMs + 4_000);
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

describe('a 429 that says for how long', () => {
  test('keeps all calls back until then, and is on the report', () => {
    const bench = new Bench();
    bench.call('failed', { status: 429, afterMs: 4_000 });
    expect([bench.room, bench.gate.dueMs(0), bench.gate.report().pausedUntilMs]).toEqual([0, 4_000, 4_000]);
    bench.clock.advance(4_000);
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
  expect([bench.room, bench.gate.dueMs(0), bench.gate.why]).toEqual([0, 500, null]);
  bench.clock.advance(500);
  expect(bench.room).toBe(1);
  expect(bench.said).toEqual([]);
});
