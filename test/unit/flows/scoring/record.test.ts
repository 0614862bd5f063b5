import { expect, test } from 'vitest';
import { type RecordHeaders } from '../../../../src/engine/ports.ts';
import { type TraceContext } from '../../../../src/kernel/trace-context.ts';
import { toFailedScore, toScoreRecord } from '../../../../src/flows/scoring/record.ts';
import { createJob, createRecord } from './rig.ts';

const headersOf = (trace: TraceContext | null): RecordHeaders => {
  const record = createRecord();
  const context = {
    account: 'eu shop',
    httpStatus: 400,
    latencyMs: 1,
    attempts: 1,
    possiblyScoredBefore: false,
    atMs: 0,
  };
  const score = toFailedScore(record, createJob().item, 'status_400', context);
  return toScoreRecord('fraud.scores', record, { score, value: Buffer.alloc(1), trace }).headers;
};

test('names the event by the place of its payment, and its source by the account', () => {
  expect(headersOf(null)).toEqual({
    ce_specversion: '1.0',
    ce_id: 'payments.created/3/42',
    ce_type: 'fraud.screening.score.v1',
    ce_source: '/fraud-screening-connector/eu%20shop',
    ce_time: '1970-01-01T00:00:00.000Z',
    'content-type': 'application/avro',
  });
});

test('says which trace it belongs to', () => {
  const trace = { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', tracestate: 'a=1' };
  expect(headersOf(trace)).toMatchObject(trace);
});

test('has the id as UTF-8 can hold it, in the key and in the value', () => {
  const context = { account: 'eu', httpStatus: 400, latencyMs: 1, attempts: 1, possiblyScoredBefore: false, atMs: 0 };
  const payment = { ...createJob().item, transId: 'half \ud800' };
  const score = toFailedScore(createRecord(), payment, 'status_400', context);
  expect(score.trans_id).toBe('half \ufffd');
  const record = toScoreRecord('fraud.scores', createRecord(), { score, value: Buffer.alloc(1), trace: null });
  expect(record.key?.toString()).toBe('half \ufffd');
});
