import { describe, expect, test } from 'vitest';
import { DeadLetterGuard } from '../../../src/resilience/dead-letter-guard.ts';

const PAID = { free: false };
const FREE = { free: true };
const FULL = 40;
const AT_START = 20;
const BLOCKED_MS = 300_000;

/** How many of so many dead letters it permits at a moment. */
function permitted(guard: DeadLetterGuard, times: number, nowMs = 0): number {
  return Array.from({ length: times }, () => guard.permits(nowMs, PAID)).filter(Boolean).length;
}

/** A guard with a full budget. */
function full(): DeadLetterGuard {
  const guard = new DeadLetterGuard(0.05, 0);
  guard.succeeded(10_000);
  return guard;
}

test('permits 20 dead letters after a start, and blocks with the next', () => {
  const guard = new DeadLetterGuard(0.05, 0);
  expect(permitted(guard, AT_START)).toBe(AT_START);
  expect(guard.isBlocking(0)).toBe(false);
  expect(guard.permits(0, PAID)).toBe(false);
  expect([guard.isBlocking(0), guard.blocks]).toEqual([true, 1]);
});

test('saves no more than 40, however many records were delivered', () => {
  expect(permitted(full(), 100)).toBe(FULL);
});

test('with a share of 5 %, 19 successes pay for one dead letter', () => {
  const guard = new DeadLetterGuard(0.05, 0);
  permitted(guard, AT_START);
  guard.succeeded(18);
  expect(guard.report(0).budget).toBe(0);
  guard.succeeded(1);
  expect(guard.report(0).budget).toBe(1);
});

test.each([0.01, 0.05, 0.25])('in the long run a share of %f becomes dead letters at most', (share) => {
  const guard = new DeadLetterGuard(share, 0);
  let deadLetters = 0;
  let nowMs = 0;
  for (let record = 0; record < 100_000; record += 1) {
    nowMs += 1;
    if (record % 2 === 0 && guard.permits(nowMs, PAID)) deadLetters += 1;
    else guard.succeeded(1);
  }
  // A block ends with a full budget, for which no success paid.
  expect(deadLetters - AT_START - FULL * guard.blocks).toBeLessThanOrEqual(100_000 * share);
});

/** A guard that has blocked since second 1. */
function blocking(): DeadLetterGuard {
  const guard = full();
  permitted(guard, FULL + 1, 1_000);
  return guard;
}

describe('while it blocks', () => {
  test('permits nothing, not even what is free, for 5 minutes', () => {
    const guard = blocking();
    const lastMs = 1_000 + BLOCKED_MS - 1;
    expect([guard.permits(lastMs, PAID), guard.permits(lastMs, FREE)]).toEqual([false, false]);
    expect(guard.dueMs(lastMs)).toBe(1_000 + BLOCKED_MS);
  });

  test('reports since when, until when, and what is left', () => {
    expect(blocking().report(2_000)).toEqual({
      state: 'blocking',
      sinceMs: 1_000,
      untilMs: 1_000 + BLOCKED_MS,
      budget: 0,
    });
  });

  test('is not ended by successes', () => {
    const guard = blocking();
    guard.succeeded(10_000);
    expect(guard.permits(2_000, PAID)).toBe(false);
  });

  test('ends with a full budget', () => {
    const guard = blocking();
    const endMs = 1_000 + BLOCKED_MS;
    expect(guard.report(endMs)).toEqual({ state: 'permitting', sinceMs: endMs, untilMs: null, budget: FULL });
    expect(permitted(guard, 100, endMs)).toBe(FULL);
    expect(guard.blocks).toBe(2);
  });
});

test('what is free is permitted without a budget, and spends none', () => {
  const guard = new DeadLetterGuard(0.05, 0);
  permitted(guard, AT_START);
  expect([guard.permits(0, FREE), guard.isBlocking(0)]).toEqual([true, false]);
});

test('with a share of 1 it permits everything', () => {
  const guard = new DeadLetterGuard(1, 0);
  expect(permitted(guard, 10_000)).toBe(10_000);
  expect([guard.blocks, guard.isBlocking(0), guard.dueMs(0)]).toEqual([0, false, null]);
});
