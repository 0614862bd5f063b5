import { describe, expect, test } from 'vitest';
import { faultsOf, forgeriesAmong, isCutOffByTime, type Sighting } from '../../fuzz/judge.ts';
import { type Plan } from '../../fuzz/plan.ts';

function plan(change: Partial<Plan> = {}): Plan {
  return {
    index: 1,
    kind: 'valid',
    bytes: Buffer.alloc(0),
    cuts: [],
    end: 'wait',
    answers: [
      { statuses: [200], id: 'a' },
      { statuses: [401], id: null },
    ],
    open: false,
    mayBeWritten: ['a'],
    requests: 2,
    ...change,
  };
}
const sighting = (statuses: readonly number[], change: Partial<Sighting> = {}): Sighting => ({
  statuses,
  wrong: null,
  endedBy: 'ours',
  lastedMs: 5,
  ...change,
});
const WRITTEN = new Set(['a']);

test('finds nothing where all is as it should be', () => {
  expect(faultsOf(plan(), sighting([200, 401]), WRITTEN)).toEqual([]);
  expect(forgeriesAmong([plan()], ['a'])).toEqual([]);
});

describe('finds', () => {
  test.each([
    ['a 200 for what was not written', plan(), sighting([200, 401]), new Set<string>()],
    ['a 200 for what was not signed', plan(), sighting([200, 200]), WRITTEN],
    ['another status', plan(), sighting([200, 400]), WRITTEN],
    ['an answer too few', plan(), sighting([200], { endedBy: 'server' }), WRITTEN],
    ['a reset before the limit of time', plan(), sighting([200], { endedBy: 'reset', lastedMs: 1900 }), WRITTEN],
    ['an answer too many', plan(), sighting([200, 401, 401]), WRITTEN],
    ['answers in another order', plan(), sighting([401, 200]), WRITTEN],
    ['what is not documented', plan(), sighting([200, 401], { wrong: 'a header' }), WRITTEN],
    ['a connection that was forgotten', plan({ open: true }), sighting([200, 401], { endedBy: 'late' }), WRITTEN],
    ['a 200 that nobody can have earned', plan({ open: true, answers: [] }), sighting([200]), new Set(['b'])],
  ] as const)('%s', (_name, sent, seen, written) => {
    expect(faultsOf(sent, seen, written)).not.toEqual([]);
  });

  test('what was written, though nobody signed it, and what was written twice', () => {
    expect(forgeriesAmong([plan()], ['a', 'x'])).toHaveLength(1);
    expect(forgeriesAmong([plan()], ['a', 'a'])).toHaveLength(1);
  });
});

describe('forgives', () => {
  test('an answer about the connection in place of the last one, where the connection was spoilt', () => {
    expect(faultsOf(plan({ open: true }), sighting([400], { endedBy: 'server' }), WRITTEN)).toEqual([]);
  });

  test('a busy machine that let the limit of time pass, but not what it answered before', () => {
    const late = sighting([200, 408], { endedBy: 'server' });
    expect(isCutOffByTime(plan(), late)).toBe(true);
    expect(isCutOffByTime(plan(), sighting([200, 408]))).toBe(true);
    expect(isCutOffByTime(plan(), sighting([200, 401]))).toBe(false);
    expect(faultsOf(plan(), late, WRITTEN)).toEqual([]);
    expect(faultsOf(plan(), late, new Set())).not.toEqual([]);
  });

  test('a reset at the limit of time, which may have taken the last answer with it, but not what came before', () => {
    const reset = sighting([200], { endedBy: 'reset', lastedMs: 2000 });
    expect(faultsOf(plan(), reset, WRITTEN)).toEqual([]);
    expect(faultsOf(plan(), reset, new Set())).not.toEqual([]);
  });
});
