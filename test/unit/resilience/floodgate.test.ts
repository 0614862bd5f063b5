import { describe, expect, test } from 'vitest';
import { Floodgate } from '../../../src/resilience/floodgate.ts';

class Bench {
  nowMs = 5_000_000;
  readonly gate: Floodgate;

  constructor(maxShare = 0.05) {
    this.gate = new Floodgate(maxShare, this.nowMs);
  }

  deliver(records = 1): void {
    const epoch = this.gate.begin(this.nowMs);
    this.gate.end(epoch);
    this.gate.delivered(epoch, records, this.nowMs);
  }

  refuse(times = 1): string[] {
    return Array.from({ length: times }, () => this.gate.refused(this.nowMs));
  }

  letter(times = 1): string[] {
    return Array.from({ length: times }, () => this.gate.letter(this.nowMs));
  }

  get room(): number {
    return this.gate.room(this.nowMs);
  }
}

describe('holds', () => {
  test('at the tenth refusal in a row', () => {
    const bench = new Bench();
    expect(bench.refuse(11)).toEqual([...Array<string>(9).fill('letter'), 'hold', 'hold']);
    expect(bench.room).toBe(0);
    expect(bench.gate.report()).toEqual({
      state: 'holding',
      why: 'refusals_in_a_row',
      sinceMs: bench.nowMs,
      probeAtMs: bench.nowMs + 30_000,
    });
  });

  test('when letters of any reason are more than their share of at least 100 records in 5 minutes', () => {
    const bench = new Bench();
    bench.deliver(94);
    expect(bench.letter(5)).toEqual(Array(5).fill('letter'));
    expect(bench.letter()).toEqual(['hold']);
    expect(bench.gate.report().why).toBe('share_of_letters');
  });

  test('for letters of other reasons, too, once it holds', () => {
    const bench = new Bench();
    bench.refuse(10);
    expect(bench.letter()).toEqual(['hold']);
  });
});

describe('does not hold', () => {
  test('while successes come between refusals', () => {
    const bench = new Bench();
    for (let n = 0; n < 100; n += 1) {
      expect(bench.refuse(4)).not.toContain('hold');
      bench.deliver(196);
    }
  });

  test('for a share of fewer than 100 records', () => {
    const bench = new Bench();
    bench.deliver(10);
    expect(bench.letter(60)).not.toContain('hold');
  });

  test('for letters that are older than 5 minutes', () => {
    const bench = new Bench();
    bench.letter(50);
    bench.nowMs += 300_000;
    bench.deliver(99);
    expect(bench.letter(5)).not.toContain('hold');
  });

  test('when it is turned off', () => {
    const bench = new Bench(1);
    expect([...bench.refuse(1000), ...bench.letter(1000)]).not.toContain('hold');
  });
});

describe('while it holds', () => {
  test('lets one record out every 30 s', () => {
    const bench = new Bench();
    bench.refuse(10);
    bench.nowMs += 29_999;
    expect(bench.room).toBe(0);
    bench.nowMs += 1;
    expect([bench.room, bench.gate.dueMs()]).toEqual([1, bench.nowMs]);
    const epoch = bench.gate.begin(bench.nowMs);
    expect([bench.room, bench.gate.dueMs()]).toEqual([0, null]);
    bench.gate.end(epoch);
    expect([bench.room, bench.gate.dueMs()]).toEqual([0, bench.nowMs + 30_000]);
  });

  test('is opened by the first success, with empty counts', () => {
    const bench = new Bench();
    bench.refuse(10);
    bench.nowMs += 30_000;
    bench.deliver();
    expect([bench.room, bench.gate.report().state]).toEqual([Infinity, 'letting']);
    expect(bench.refuse(9)).not.toContain('hold');
    expect(bench.refuse()).toEqual(['hold']);
  });

  test('takes no notice of a success that began before', () => {
    const bench = new Bench();
    const early = bench.gate.begin(bench.nowMs);
    bench.refuse(10);
    bench.gate.delivered(early, 1, bench.nowMs);
    expect(bench.gate.isHolding).toBe(true);
  });
});
