import { expect, test } from 'vitest';
import { type Job } from '../../../../src/engine/ports.ts';
import { type ScoreCarry } from '../../../../src/flows/scoring/flow.ts';
import { type Payment } from '../../../../src/flows/scoring/read.ts';
import { ToldTracing, toldParent } from '../../../support/told-tracing.ts';
import { createJob, createRecord, failed, REFUSED, Rig, UNAVAILABLE } from './rig.ts';

const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
const tracestate = 'rojo=1';

function traced(tracing: ToldTracing): Job<Payment, ScoreCarry> {
  const job = createJob(undefined, createRecord({ headers: { traceparent, tracestate } }));
  return { ...job, span: tracing.record('scoring', job.record) };
}

test('each attempt and each write has a span of its own, named in what goes out', async () => {
  const tracing = new ToldTracing();
  const rig = new Rig({ extras: { forwardIp: false, idempotencyHeader: 'Idempotency-Key' } });
  rig.judged = [failed()];
  rig.outcomes = [UNAVAILABLE];
  await rig.runToEnd(traced(tracing));
  expect(rig.headers.map((headers) => headers?.slice(-2))).toEqual([
    ['traceparent', toldParent(2)],
    ['traceparent', toldParent(3)],
  ]);
  expect(rig.written.map(({ headers }) => [headers['traceparent'], headers['tracestate']])).toEqual([
    [toldParent(4), tracestate],
    [toldParent(5), tracestate],
  ]);
  expect(tracing.told.slice(1)).toEqual([
    'payments.created/3/42 call 1 503 status_503',
    'payments.created/3/42 call 2 200 null',
    'payments.created/3/42 send fraud.scores unavailable',
    'payments.created/3/42 send fraud.scores written',
  ]);
});

test('how an attempt ended is told by its status, or by a code where there was no answer', async () => {
  const tracing = new ToldTracing();
  const rig = new Rig();
  rig.judged = [
    failed({ why: 'timed_out', error: 'timeout', ambiguous: true, status: null, latencyMs: null }),
    { do: 'fenced' },
    { do: 'no_session', why: 'credentials_refused', retryMs: 1 },
    REFUSED,
  ];
  await rig.runToEnd(traced(tracing));
  expect(tracing.told.filter((line) => line.includes(' call '))).toEqual([
    'payments.created/3/42 call 1 null timeout',
    'payments.created/3/42 call 2 null fenced',
    'payments.created/3/42 call 2 null credentials_refused',
    'payments.created/3/42 call 2 422 status_422',
  ]);
});

test('without tracing the trace of the record goes on, to the service without its tracestate', async () => {
  const rig = new Rig();
  await rig.runToEnd(
    createJob(undefined, createRecord({ headers: { traceparent: Buffer.from(traceparent), tracestate } })),
  );
  expect(rig.headers).toEqual([['traceparent', traceparent]]);
  expect(rig.written[0]?.headers).toMatchObject({ traceparent, tracestate });
});

test('nothing that is no trace goes on', async () => {
  const rig = new Rig();
  await rig.runToEnd(createJob(undefined, createRecord({ headers: { traceparent: 'card 4111', tracestate } })));
  expect(rig.headers).toEqual([undefined]);
  expect(Object.keys(rig.written[0]?.headers ?? {}).filter((name) => name.startsWith('trace'))).toEqual([]);
});
