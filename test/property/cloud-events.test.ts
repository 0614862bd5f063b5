import { CloudEvent, Kafka } from 'cloudevents';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type OutgoingRecord } from '../../src/engine/ports.ts';
import { toFailedScore, toScoreRecord } from '../../src/flows/scoring/record.ts';
import { eventIdOf, toReviewRecord } from '../../src/reviews/record.ts';
import { toReview } from '../../src/screening/review.ts';
import { createJob, createRecord } from '../unit/flows/scoring/rig.ts';
import { reviewData } from '../support/webhooks.ts';

const TRACE = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

/** A record as the CloudEvents library reads it, and held against the JSON schema of CloudEvents 1.0. */
function eventOf({ key, value, headers }: OutgoingRecord): CloudEvent<unknown> {
  // On the wire headers are bytes.
  const texts = Object.fromEntries(
    Object.entries(headers).map(([name, text]) => [name, Buffer.from(String(text)).toString()]),
  );
  const message = { key: String(key), value, body: value, headers: texts };
  expect(Kafka.isEvent(message)).toBe(true);
  const event = Kafka.toEvent(message);
  if (!(event instanceof CloudEvent)) throw new Error('not one event');
  expect(event.validate()).toBe(true);
  return event;
}

function reviewRecord(account: string, transId: string, value: Buffer): OutgoingRecord {
  const reading = toReview({ type: 'txn_manual_review', data: reviewData({ trans_id: transId }) });
  if (reading.do !== 'review') throw new Error(reading.field);
  const source = `/fraud-screening-connector/${encodeURIComponent(account)}`;
  return toReviewRecord(reading.review, '{}', eventIdOf(reading.review), {
    topic: 'fraud.reviews',
    account,
    source,
    encoder: { encode: () => value },
    receivedAtMs: Date.UTC(2026, 0, 1),
  });
}

function scoreRecord(account: string, offset: bigint, value: Buffer): OutgoingRecord {
  const record = createRecord({ offset });
  const score = toFailedScore(record, createJob().item, 'status_400', {
    account,
    httpStatus: 400,
    latencyMs: 1,
    attempts: 1,
    possiblyScoredBefore: false,
    atMs: Date.UTC(2026, 0, 1),
  });
  return toScoreRecord('fraud.scores', record, { score, value, trace: { traceparent: TRACE, tracestate: null } });
}

const accounts = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }).filter((text) => text.isWellFormed());
const values = fc.uint8Array({ minLength: 1, maxLength: 20 }).map((bytes) => Buffer.from(bytes));

test('the library refuses an event without a source, so that its word counts', () => {
  const record = reviewRecord('eu', 'pay-1', Buffer.alloc(1));
  expect(() => eventOf({ ...record, headers: { ...record.headers, ce_source: '' } })).toThrow(/invalid payload|source/);
});

describe('law: whatever the account and the ids, the CloudEvents library reads', () => {
  test('a review, its value as it was written', () => {
    fc.assert(
      fc.property(accounts, accounts, values, (account, transId, value) => {
        const event = eventOf(reviewRecord(account, transId, value));
        expect(event).toMatchObject({
          specversion: '1.0',
          type: 'fraud.screening.review.v1',
          datacontenttype: 'application/avro',
          time: '2025-12-31T23:59:58.123Z',
          partitionkey: transId,
        });
        expect(event.id).toMatch(/^[0-9a-f]{64}$/);
        expect(decodeURIComponent(event.source)).toBe(`/fraud-screening-connector/${account}`);
        expect(Buffer.from(event.data as Uint8Array)).toEqual(value);
      }),
    );
  });

  test('a score, named by the place of its payment', () => {
    fc.assert(
      fc.property(accounts, fc.bigInt(0n, 2n ** 53n - 2n), values, (account, offset, value) => {
        const event = eventOf(scoreRecord(account, offset, value));
        expect(event).toMatchObject({
          specversion: '1.0',
          id: `payments.created/3/${String(offset)}`,
          type: 'fraud.screening.score.v1',
          datacontenttype: 'application/avro',
          time: '2026-01-01T00:00:00.000Z',
        });
        expect(Buffer.from(event.data as Uint8Array)).toEqual(value);
      }),
    );
  });
});
