import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { idOf, parseObject } from '../../../../src/sandbox/service/json.ts';
import { toReview } from '../../../../src/screening/review.ts';
import { readTransId } from '../../../../src/screening/transaction.ts';

describe('an id', () => {
  test.each([
    ['77', '77'],
    [77, '77'],
    [0, '0'],
    [-7, '-7'],
    ['', null],
    [7.5, null],
    [2 ** 53, null],
    [null, null],
    [true, null],
    [['77'], null],
  ])('of %j is %j, for the sandbox, for payments and updates, and for webhooks', (value, id) => {
    const data = { frg_trans_id: 'f', trans_id: value, decision: 'good', reviewed_at: '2026-03-01T09:30:00Z' };
    const read = toReview({ type: 'txn_manual_review', data });
    const ofReview = read.do === 'review' ? read.review.transactionId : null;
    expect([idOf(value), readTransId(value), ofReview]).toEqual([id, id, id]);
  });

  test('is one here whenever it is one for payments and updates', () => {
    const values = fc.oneof(fc.string(), fc.double(), fc.maxSafeInteger(), fc.jsonValue());
    fc.assert(
      fc.property(values, (value) => {
        expect(idOf(value)).toBe(readTransId(value));
      }),
    );
  });
});

test.each(['[]', '7', 'null', '{', ''])('a body %j is no object', (text) => {
  expect(parseObject(Buffer.from(text))).toBeNull();
});
