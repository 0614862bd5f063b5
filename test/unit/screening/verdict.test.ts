import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { judgeScoring, judgeSync, type ScoringAnswer } from '../../../src/screening/verdict.ts';

const answer = (changes: Partial<ScoringAnswer>): ScoringAnswer => ({
  status: 200,
  retryAfterMs: null,
  errorMessage: null,
  isObject: true,
  afterAmbiguous: false,
  ...changes,
});

const anyAnswer = fc.record({
  status: fc.integer({ min: 100, max: 999 }),
  retryAfterMs: fc.option(fc.integer({ min: 0, max: 300_000 })),
  errorMessage: fc.option(fc.string({ minLength: 1 })),
  isObject: fc.boolean(),
  afterAmbiguous: fc.boolean(),
});

describe('scoring', () => {
  test.each([400, 413, 422])('refuses the record at %i', (status) => {
    expect(judgeScoring(answer({ status }))).toEqual({ do: 'refuse', why: `status_${status}` });
  });

  test.each([400, 409, 422])(
    'does not blame the data for a %i after an attempt that may have been carried out',
    (status) => {
      const verdict = judgeScoring(answer({ status, afterAmbiguous: true }));
      expect(verdict).toEqual({ do: 'refuse', why: 'ambiguous_then_refused' });
    },
  );

  test.each([201, 204, 301, 302, 307, 401, 403, 404, 405, 409, 418])('holds at %i', (status) => {
    expect(judgeScoring(answer({ status }))).toEqual({ do: 'hold', why: `status_${status}` });
  });

  test.each([408, 425, 429, 501, 502, 503, 504, 599])('retries at %i, which says nothing of the record', (status) => {
    const verdict = judgeScoring(answer({ status, retryAfterMs: 7_000 }));
    expect(verdict).toEqual({ do: 'retry', afterMs: 7_000, why: `status_${status}`, counts: null });
  });

  test('counts a 500 and an error_msg against the record', () => {
    expect(judgeScoring(answer({ status: 500 }))).toMatchObject({ do: 'retry', counts: 'status_500' });
    expect(judgeScoring(answer({ errorMessage: 'broken' }))).toMatchObject({ do: 'retry', counts: 'error_msg' });
  });

  test('holds when a 200 has no object', () => {
    expect(judgeScoring(answer({ isObject: false }))).toEqual({ do: 'hold', why: 'no_object' });
  });

  test('is done exactly for a 200 with an object and without error_msg', () => {
    fc.assert(
      fc.property(anyAnswer, (any) => {
        const isDone = any.status === 200 && any.isObject && any.errorMessage === null;
        expect(judgeScoring(any).do === 'done').toBe(isDone);
      }),
    );
  });

  test('refuses a record for nothing but 400, 409, 413 and 422', () => {
    fc.assert(
      fc.property(anyAnswer, (any) => {
        expect(judgeScoring(any).do !== 'refuse' || [400, 409, 413, 422].includes(any.status)).toBe(true);
      }),
    );
  });
});

describe('sync', () => {
  test.each([400, 413, 422])('refuses at %i', (status) => {
    expect(judgeSync(answer({ status }))).toEqual({ do: 'refuse', why: `status_${status}` });
  });

  test.each([200, 201, 202, 204])('takes %i as acceptance, and as a failure with error_msg', (status) => {
    expect(judgeSync(answer({ status }))).toEqual({ do: 'done' });
    expect(judgeSync(answer({ status, errorMessage: 'broken' }))).toMatchObject({ do: 'retry', counts: 'error_msg' });
  });

  test('agrees with scoring on every failure', () => {
    fc.assert(
      fc.property(anyAnswer, (any) => {
        fc.pre(any.status < 200 || any.status >= 300);
        expect(judgeSync(any)).toEqual(judgeScoring({ ...any, afterAmbiguous: false }));
      }),
    );
  });
});
