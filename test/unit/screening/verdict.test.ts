import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isAccessFailure, judgeScoring, judgeSync } from '../../../src/screening/verdict.ts';

const ANSWER = { status: 200, errorMessage: null, isObject: true };

const anyAnswer = fc.record({
  status: fc.integer({ min: 100, max: 999 }),
  errorMessage: fc.option(fc.string({ minLength: 1 })),
  isObject: fc.boolean(),
});

describe('scoring', () => {
  test.each([200, 201, 202, 299])('takes a %i with an object for the score', (status) => {
    expect(judgeScoring({ ...ANSWER, status })).toEqual({ do: 'done' });
  });

  test.each([200, 204])('takes a %i without an object for an answer that cannot be used', (status) => {
    expect(judgeScoring({ ...ANSWER, status, isObject: false })).toEqual({ do: 'open', why: 'unusable_answer' });
  });

  test('takes an error_msg for a failure, whatever the status says', () => {
    expect(judgeScoring({ ...ANSWER, errorMessage: 'broken' })).toEqual({ do: 'open', why: 'error_msg' });
  });

  test.each([400, 409, 413, 422])('takes %i for a refusal of the record', (status) => {
    expect(judgeScoring({ ...ANSWER, status })).toEqual({ do: 'refused', why: `status_${status}` });
  });

  test('takes 429 for nothing that the record has done', () => {
    expect(judgeScoring({ ...ANSWER, status: 429 })).toEqual({ do: 'rate_limited', why: 'status_429' });
  });

  test.each([301, 302, 307, 401, 403, 404, 408, 418, 425, 500, 502, 503, 504, 599])(
    'leaves it open whether a %i is for the record or for everybody',
    (status) => {
      expect(judgeScoring({ ...ANSWER, status })).toEqual({ do: 'open', why: `status_${status}` });
    },
  );

  test('is done exactly for a 2xx with an object and without error_msg', () => {
    fc.assert(
      fc.property(anyAnswer, (any) => {
        const isSuccess = any.status >= 200 && any.status < 300;
        const isDone = isSuccess && any.isObject && any.errorMessage === null;
        expect(judgeScoring(any).do === 'done').toBe(isDone);
      }),
    );
  });
});

describe('sync', () => {
  test.each([200, 201, 202, 204])('takes %i as acceptance, and as a failure with error_msg', (status) => {
    expect(judgeSync({ status, errorMessage: null })).toEqual({ do: 'done' });
    expect(judgeSync({ status, errorMessage: 'broken' })).toEqual({ do: 'open', why: 'error_msg' });
  });

  test('agrees with scoring on every failure', () => {
    fc.assert(
      fc.property(anyAnswer, (any) => {
        fc.pre(any.status < 200 || any.status >= 300);
        expect(judgeSync(any)).toEqual(judgeScoring(any));
      }),
    );
  });
});

test('3xx and 4xx are more likely our access than the health of the service, but not 408, 425 and 429', () => {
  const statuses = [200, 299, 300, 301, 400, 403, 408, 409, 425, 429, 499, 500, 503];
  expect(statuses.filter(isAccessFailure)).toEqual([300, 301, 400, 403, 409, 499]);
});
