import { beforeEach, describe, expect, test } from 'vitest';
import { type Emit, type EventFields, type WebhookResult } from '../../../src/kernel/emit.ts';
import { WebhookFailures } from '../../../src/telemetry/webhook-failures.ts';
import { ManualClock } from '../../support/manual-clock.ts';

let clock: ManualClock;
let told: [atMs: number, result: string, webhooks: number][];
let failures: WebhookFailures;

beforeEach(() => {
  clock = new ManualClock();
  told = [];
  const emit: Emit = (_event, fields) => {
    const { result, webhooks } = fields as EventFields['webhooks_failed'];
    told.push([clock.monotonicMs(), result, webhooks]);
  };
  failures = new WebhookFailures(clock, emit);
});

function come(result: WebhookResult, times = 1): void {
  for (let n = 0; n < times; n += 1) failures.hear('webhook', { result, status: 0, afterMs: 1 });
}

describe('webhooks that were not taken', () => {
  test('are told in one line five seconds after the first, with their number', () => {
    come('bad_signature', 3);
    clock.advance(4999);
    expect(told).toEqual([]);
    clock.advance(1);
    expect(told).toEqual([[5000, 'bad_signature', 3]]);
  });

  test('are told once a minute at most, none forgotten, for as long as they come', () => {
    for (let second = 0; second < 200; second += 1) {
      come('bad_signature', 10);
      clock.advance(1000);
    }
    expect(told.map(([atMs]) => atMs)).toEqual([5000, 65_000, 125_000, 185_000]);
    failures.stop();
    expect(told.reduce((sum, [, , webhooks]) => sum + webhooks, 0)).toBe(2000);
  });

  test('are told by their reasons, each for itself', () => {
    come('bad_signature');
    come('unavailable', 2);
    clock.advance(5000);
    expect(told).toEqual([
      [5000, 'bad_signature', 1],
      [5000, 'unavailable', 2],
    ]);
  });

  test('are told soon again when they come anew after a quiet minute', () => {
    come('too_slow');
    clock.advance(5000 + 60_000);
    expect(clock.pending).toBe(0);
    come('too_slow');
    clock.advance(5000);
    expect(told.map(([atMs]) => atMs)).toEqual([5000, 70_000]);
  });

  test('are told at the stop, and leave no timer behind', () => {
    come('too_slow', 2);
    failures.stop();
    expect(told).toEqual([[0, 'too_slow', 2]]);
    expect(clock.pending).toBe(0);
  });
});

test('webhooks that were taken are no news, nor is anything else', () => {
  for (const result of ['published', 'duplicate', 'parked'] as const) come(result);
  failures.hear('ready', { afterMs: 1 });
  expect(clock.pending).toBe(0);
});
