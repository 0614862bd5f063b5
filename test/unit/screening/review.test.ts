import { describe, expect, test } from 'vitest';
import { REVIEW_DECISIONS, toReview } from '../../../src/screening/review.ts';
import { reviewData } from '../../support/webhooks.ts';

function read(change: Readonly<Record<string, unknown>>) {
  return toReview({ type: 'txn_manual_review', data: reviewData(change) });
}

describe('does not recognise', () => {
  test.each([
    ['a type of the future', { type: 'txn_refund', data: reviewData() }, '/type'],
    ['a missing type', { data: reviewData() }, '/type'],
    ['a type that is no text', { type: ['txn_manual_review'], data: reviewData() }, '/type'],
    ['missing data', { type: 'txn_manual_review' }, '/data'],
    ['data that is null', { type: 'txn_manual_review', data: null }, '/data'],
    ['data that is a list', { type: 'txn_manual_review', data: [reviewData()] }, '/data'],
    ['no object at all', 'txn_manual_review', '/type'],
    ['a list', [], '/type'],
  ])('%s', (_name, event, field) => {
    expect(toReview(event)).toEqual({ do: 'unrecognised', field });
  });

  test.each([
    ['frg_trans_id', undefined],
    ['frg_trans_id', ''],
    ['frg_trans_id', 7.5],
    ['trans_id', undefined],
    ['trans_id', ''],
    ['trans_id', Number.MAX_SAFE_INTEGER + 1],
    ['trans_id', true],
    ['trans_id', null],
    ['trans_id', 'half \ud83d'],
    ['decision', undefined],
    ['decision', 'GOOD'],
    ['decision', 'unknown'],
    ['decision', 'excellent'],
    ['decision', '__proto__'],
    ['reviewed_at', undefined],
    ['reviewed_at', 1767225600],
    ['reviewed_at', '2026-01-01'],
    ['reviewed_at', '2026-01-01T00:00:00'],
  ])('%s of %j', (field, value) => {
    expect(read({ [field]: value })).toEqual({ do: 'unrecognised', field: `/data/${field}` });
  });

  test('fields that are only inherited', () => {
    const event: unknown = JSON.parse('{"__proto__":{"type":"txn_manual_review","data":{}}}');
    expect(toReview(event)).toEqual({ do: 'unrecognised', field: '/type' });
  });
});

test.each(REVIEW_DECISIONS)('reads the decision %s', (decision) => {
  expect(read({ decision })).toMatchObject({ do: 'review', review: { decision } });
});

test('reads the time of the review to the microsecond and keeps it as it came', () => {
  expect(read({})).toEqual({
    do: 'review',
    review: {
      type: 'txn_manual_review',
      fraudTransactionId: 'frg-0001',
      transactionId: 'pay-0001',
      decision: 'good',
      reviewedAt: '2025-12-31T23:59:58.123456Z',
      reviewedAtMicros: Date.UTC(2025, 11, 31, 23, 59, 58) * 1000 + 123_456,
    },
  });
});

test('reads ids that are whole numbers as their digits, as a payment and an update do', () => {
  expect(read({ trans_id: 12345, frg_trans_id: 7 })).toMatchObject({
    do: 'review',
    review: { transactionId: '12345', fraudTransactionId: '7' },
  });
});

test.each(['2025-12-31T23:59:60Z', '2025-12-31T23:59:59.99999999999Z'])(
  'reads %s as a time of a review',
  (reviewedAt) => {
    expect(read({ reviewed_at: reviewedAt })).toMatchObject({ do: 'review', review: { reviewedAt } });
  },
);

test('takes fields it does not know', () => {
  expect(read({ reviewer: 'r', risk: { deep: [1] } })).toMatchObject({ do: 'review' });
});
