import { expect, test } from 'vitest';
import { type RecordHeaders } from '../../../../src/engine/ports.ts';
import { toFailedScore, toScoreRecord } from '../../../../src/flows/scoring/record.ts';
import { createJob, createRecord } from './rig.ts';

const TRACE = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
const headersOf = (headers: RecordHeaders): RecordHeaders => {
  const record = createRecord({ headers });
  const context = {
    account: 'eu shop',
    httpStatus: 400,
    latencyMs: 1,
    attempts: 1,
    possiblyScoredBefore: false,
    atMs: 0,
  };
  const score = toFailedScore(record, createJob().item, 'status_400', context);
  return toScoreRecord('fraud.scores', record, score, Buffer.alloc(1)).headers;
};

test('names the event by the place of its payment, and its source by the account', () => {
  expect(headersOf({})).toEqual({
    ce_specversion: '1.0',
    ce_id: 'payments.created/3/42',
    ce_type: 'fraud.screening.score.v1',
    ce_source: '/fraud-screening-connector/eu%20shop',
    ce_time: '1970-01-01T00:00:00.000Z',
    'content-type': 'application/avro',
  });
});

test('passes a trace on, and nothing that is none', () => {
  expect(headersOf({ traceparent: Buffer.from(TRACE) })['traceparent']).toBe(TRACE);
  expect(headersOf({ traceparent: TRACE })['traceparent']).toBe(TRACE);
  expect(headersOf({ traceparent: [TRACE, TRACE] })['traceparent']).toBeUndefined();
  expect(headersOf({ traceparent: 'card 4111' })['traceparent']).toBeUndefined();
});

test('has the id as UTF-8 can hold it, in the key and in the value', () => {
  const context = { account: 'eu', httpStatus: 400, latencyMs: 1, attempts: 1, possiblyScoredBefore: false, atMs: 0 };
  const payment = { ...createJob().item, transId: 'half \ud800' };
  const score = toFailedScore(createRecord(), payment, 'status_400', context);
  expect(score.trans_id).toBe('half \ufffd');
  expect(toScoreRecord('fraud.scores', createRecord(), score, Buffer.alloc(1)).key?.toString()).toBe('half \ufffd');
});
