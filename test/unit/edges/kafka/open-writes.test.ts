import { beforeEach, describe, expect, test } from 'vitest';
import { OpenWrites } from '../../../../src/edges/kafka/open-writes.ts';
import { type Outgoing } from '../../../../src/edges/kafka/partition-queue.ts';
import { type WriteOutcome } from '../../../../src/engine/ports.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

const WRITTEN: WriteOutcome = { do: 'written', partition: 0, offset: 1n };

describe('OpenWrites', () => {
  let clock: ManualClock;
  let error: string;
  let open: OpenWrites;
  let told: string[];

  beforeEach(() => {
    clock = new ManualClock();
    error = 'not sent yet';
    told = [];
    open = new OpenWrites({ clock, late: () => ({ do: 'unavailable', error }) });
  });
  const add = (name: string, deadlineMs: number): Outgoing =>
    open.add({ topic: 't', key: null, value: Buffer.from(name), headers: {} }, deadlineMs, (outcome) => {
      told.push(`${name} ${outcome.do} ${String(clock.monotonicMs())}`);
    });

  test('takes headers without a value', () => {
    const headers = { none: null, some: [null, 'x'] };
    expect(() => open.add({ topic: 't', key: null, value: null, headers }, 100, () => undefined)).not.toThrow();
  });

  test('ends each in its own time, in whatever order they came', () => {
    add('slow', 300);
    clock.advance(50);
    add('quick', 100);
    add('quick too', 100);
    add('middle', 200);
    clock.advance(1000);
    expect(told).toEqual([
      'quick unavailable 150',
      'quick too unavailable 150',
      'middle unavailable 250',
      'slow unavailable 300',
    ]);
    expect(clock.pending).toBe(0);
  });

  test('tells those that are late what the last error was', () => {
    let outcome: WriteOutcome | null = null;
    open.add({ topic: 't', key: null, value: null, headers: {} }, 100, (of) => {
      outcome = of;
    });
    error = 'NOT_ENOUGH_REPLICAS';
    clock.advance(100);
    expect(outcome).toEqual({ do: 'unavailable', error: 'NOT_ENOUGH_REPLICAS' });
  });

  test('tells each once', () => {
    const write = add('one', 100);
    expect(write.isSettled()).toBe(false);
    write.settle(WRITTEN);
    expect(write.isSettled()).toBe(true);
    write.settle(WRITTEN);
    clock.advance(200);
    expect(told).toEqual(['one written 0']);
  });

  test('has one timer however many wait, and none when nobody does', () => {
    const writes = Array.from({ length: 100 }, (_, n) => add(String(n), 3000));
    expect(clock.pending).toBe(1);
    for (const write of writes) write.settle(WRITTEN);
    expect(clock.pending).toBe(0);
    add('again', 10);
    clock.advance(10);
    expect(told.at(-1)).toBe('again unavailable 10');
  });

  test('ends all at once when told', () => {
    for (const name of ['a', 'b']) add(name, 100);
    open.settleAll({ do: 'unavailable', error: 'closed' });
    expect(told).toEqual(['a unavailable 0', 'b unavailable 0']);
    expect(clock.pending).toBe(0);
  });
});
