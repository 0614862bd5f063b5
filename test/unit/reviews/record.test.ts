import fc from 'fast-check';
import { expect, test } from 'vitest';
import { eventIdOf, toReviewRecord } from '../../../src/reviews/record.ts';
import { type FraudReview } from '../../../src/screening/avro.generated.ts';
import { type Review, toReview } from '../../../src/screening/review.ts';
import { NOW_MS, reviewData } from '../../support/webhooks.ts';

function review(change: Readonly<Record<string, unknown>> = {}): Review {
  const reading = toReview({ type: 'txn_manual_review', data: reviewData(change) });
  if (reading.do !== 'review') throw new Error(reading.field);
  return reading.review;
}

test('the event id is the one that was computed elsewhere', () => {
  expect(eventIdOf(review())).toBe('472ae6c995f06be60e5402bdc6e8afedb82efe13b26a0f78a440018239768bf4');
});

test.each([{ frg_trans_id: 'x' }, { trans_id: 'x' }, { decision: 'bad' }, { reviewed_at: '2026-01-01T00:00:00Z' }])(
  'the event id changes with %j',
  (change) => {
    expect(eventIdOf(review(change))).not.toBe(eventIdOf(review()));
  },
);

test('law: no shift of characters between two fields gives the same event id', () => {
  fc.assert(
    fc.property(fc.string({ minLength: 2 }), fc.nat(), fc.nat(), (text, a, b) => {
      fc.pre(text.isWellFormed());
      const ids = [a, b].map((at) => {
        const cut = 1 + (at % (text.length - 1));
        const [frg_trans_id, trans_id] = [text.slice(0, cut), text.slice(cut)];
        fc.pre(frg_trans_id.isWellFormed() && trans_id.isWellFormed());
        return { cut, id: eventIdOf(review({ frg_trans_id, trans_id })) };
      });
      expect(ids[0]!.id === ids[1]!.id).toBe(ids[0]!.cut === ids[1]!.cut);
    }),
  );
});

test('the record is keyed by the transaction and carries the review as the schema has it', () => {
  let encoded: FraudReview | undefined;
  const context = {
    topic: 'fraud.reviews',
    account: 'eu',
    source: 'connector/eu',
    encoder: {
      encode: (value: FraudReview) => {
        encoded = value;
        return Buffer.from('encoded');
      },
    },
    receivedAtMs: NOW_MS,
  };
  const record = toReviewRecord(review(), '{"x":1}', 'e-1', context);
  expect(encoded).toEqual({
    event_id: 'e-1',
    account: 'eu',
    type: 'txn_manual_review',
    frg_trans_id: 'frg-0001',
    trans_id: 'pay-0001',
    decision: 'good',
    reviewed_at: 1_767_225_598_123_456,
    received_at: NOW_MS,
    extra: '{"x":1}',
  });
  expect(record).toMatchObject({
    topic: 'fraud.reviews',
    key: Buffer.from('pay-0001'),
    value: Buffer.from('encoded'),
    headers: {
      ce_id: 'e-1',
      ce_type: 'fraud.screening.review.v1',
      ce_source: 'connector/eu',
      ce_time: '2025-12-31T23:59:58.123Z',
    },
  });
});
