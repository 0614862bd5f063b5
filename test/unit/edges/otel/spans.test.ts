import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  InMemorySpanExporter,
  ParentBasedSampler,
  type ReadableSpan,
  type Sampler,
  SimpleSpanProcessor,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import { SpanKind, SpanStatusCode } from '@opentelemetry/api';
import { describe, expect, test } from 'vitest';
import { ATTRIBUTES } from '../../../../src/edges/otel/attributes.ts';
import { Spans } from '../../../../src/edges/otel/spans.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const PARENT = 'b7ad6b7169203331';
const sampled = { traceparent: `00-${TRACE}-${PARENT}-01`, tracestate: 'rojo=1' };
const unsampled = { traceparent: `00-${TRACE}-${PARENT}-00` };
const at = { topic: 'payments.created', partition: 3, offset: 42n };
const places = {
  group: 'g',
  service: { url: 'https://s.test/v/api', address: 's.test', port: 443, path: '/api' },
  webhook: { path: '/hook', scheme: 'https' },
} as const;

function told(sampler: Sampler = new ParentBasedSampler({ root: new AlwaysOnSampler() })): {
  readonly spans: Spans;
  readonly ended: () => ReadableSpan[];
} {
  const exporter = new InMemorySpanExporter();
  const tracerOf = (of: Sampler): ReturnType<TracerProvider['getTracer']> =>
    new TracerProvider({ sampler: of, spanProcessors: [new SimpleSpanProcessor({ exporter })] }).getTracer('test');
  const spans = new Spans({ tracer: tracerOf(sampler), always: tracerOf(new AlwaysOnSampler()), places });
  return { spans, ended: () => exporter.getFinishedSpans() };
}

function one(ended: readonly ReadableSpan[], name: string): ReadableSpan {
  const [found, ...more] = ended.filter((span) => span.name === name);
  if (found === undefined || more.length > 0)
    throw new Error(`not one ${name}: ${ended.map((each) => each.name).join()}`);
  return found;
}

describe('a record', () => {
  test('is a consumer span below its producer, and what it calls and writes is below it', () => {
    const { spans, ended } = told();
    const record = spans.record('scoring', { ...at, headers: sampled });
    const call = record.call(1);
    call.end({ status: 200, error: null });
    const send = record.send('fraud.scores');
    send.end({ do: 'written', partition: 1, offset: 7n });
    record.wait('kafka');
    record.end({ outcome: 'delivered', attempts: 1 });
    record.end({ outcome: 'lost', attempts: 1 });

    const process = one(ended(), 'process payments.created');
    expect(process.kind).toBe(SpanKind.CONSUMER);
    expect(process.spanContext().traceId).toBe(TRACE);
    expect(process.parentSpanContext?.spanId).toBe(PARENT);
    expect(process.attributes).toEqual({
      'messaging.system': 'kafka',
      'messaging.operation.name': 'process',
      'messaging.operation.type': 'process',
      'messaging.destination.name': 'payments.created',
      'messaging.destination.partition.id': '3',
      'messaging.kafka.offset': 42,
      'messaging.consumer.group.name': 'g',
      'fraud_connector.flow': 'scoring',
      'fraud_connector.outcome': 'delivered',
      'fraud_connector.attempts': 1,
    });
    expect(process.events.map(({ name, attributes }) => [name, attributes])).toEqual([
      ['wait', { 'fraud_connector.reason': 'kafka' }],
    ]);
    const post = one(ended(), 'POST /api');
    expect(post.kind).toBe(SpanKind.CLIENT);
    expect(post.parentSpanContext?.spanId).toBe(process.spanContext().spanId);
    expect(post.attributes).toEqual({
      'http.request.method': 'POST',
      'http.response.status_code': 200,
      'url.template': '/api',
      'url.full': 'https://s.test/v/api',
      'server.address': 's.test',
      'server.port': 443,
    });
    expect(call.context).toEqual({ traceparent: `00-${TRACE}-${post.spanContext().spanId}-01`, tracestate: 'rojo=1' });
    const write = one(ended(), 'send fraud.scores');
    expect(write.kind).toBe(SpanKind.PRODUCER);
    expect(write.attributes).toMatchObject({ 'messaging.destination.partition.id': '1', 'messaging.kafka.offset': 7 });
    expect(send.context).toEqual({ traceparent: `00-${TRACE}-${write.spanContext().spanId}-01`, tracestate: 'rojo=1' });
  });

  test('that came without a trace, or with none that is valid, begins one', () => {
    const { spans, ended } = told();
    for (const headers of [{}, { traceparent: 'x', tracestate: 'rojo=1' }]) {
      const record = spans.record('scoring', { ...at, headers });
      expect(record.context?.tracestate).toBeNull();
      record.end({ outcome: 'delivered', attempts: 1 });
    }
    const [first, second] = ended();
    expect(first?.parentSpanContext).toBeUndefined();
    expect(second?.spanContext().traceId).not.toBe(first?.spanContext().traceId);
  });

  test('is not told where its producer said so, and its context goes on all the same', () => {
    const { spans, ended } = told();
    const record = spans.record('scoring', { ...at, headers: unsampled });
    record.call(1).end({ status: 500, error: 'status_500' });
    record.send('fraud.scores').end({ do: 'unavailable' });
    record.end({ outcome: 'delivered', attempts: 1 });
    expect(ended()).toEqual([]);
    expect(record.call(2).context?.traceparent).toMatch(new RegExp(`^00-${TRACE}-(?!${PARENT})[0-9a-f]{16}-00$`));
  });

  test('that ends as a letter is an error of that code', () => {
    const { spans, ended } = told();
    spans.record('sync', { ...at, headers: {} }).end({ outcome: 'dead_letter', reason: 'ts_invalid', attempts: 3 });
    const [span] = ended();
    expect(span?.status).toEqual({ code: SpanStatusCode.ERROR });
    expect(span?.attributes).toMatchObject({
      'error.type': 'ts_invalid',
      'fraud_connector.outcome': 'dead_letter',
      'fraud_connector.reason': 'ts_invalid',
      'fraud_connector.attempts': 3,
    });
  });

  test.each([
    [{ status: 503, error: 'status_503' }, '503', 503],
    [{ status: 200, error: 'error_msg' }, 'error_msg', 200],
    [{ status: null, error: 'timeout' }, 'timeout', undefined],
  ])('case %#: an attempt that failed says how, and how many were before it', (end, type, status) => {
    const { spans, ended } = told();
    spans
      .record('scoring', { ...at, headers: {} })
      .call(3)
      .end(end);
    const [span] = ended();
    expect(span?.status).toEqual({ code: SpanStatusCode.ERROR });
    expect(span?.attributes).toMatchObject({ 'error.type': type, 'http.request.resend_count': 2 });
    expect(span?.attributes['http.response.status_code']).toBe(status);
  });
});

describe('a batch', () => {
  test('begins a trace and links those of its updates that are told', () => {
    const { spans, ended } = told();
    const update = spans.record('sync', { ...at, headers: sampled });
    const call = spans.batch([update.context, null, { ...unsampled, tracestate: null }]);
    call.end({ status: 200, error: null });
    const span = one(ended(), 'PATCH /api');
    expect(span.kind).toBe(SpanKind.CLIENT);
    expect(span.parentSpanContext).toBeUndefined();
    expect(span.spanContext().traceId).not.toBe(TRACE);
    expect(span.links.map(({ context }) => `00-${context.traceId}-${context.spanId}-01`)).toEqual([
      update.context?.traceparent,
    ]);
    expect(span.attributes).toMatchObject({ 'http.request.method': 'PATCH', 'fraud_connector.updates': 3 });
    expect(call.context?.traceparent).toContain(span.spanContext().spanId);
  });

  test('is told wherever one of its updates is, and else not at all', () => {
    const { spans, ended } = told(new ParentBasedSampler({ root: new AlwaysOffSampler() }));
    spans.batch([{ ...sampled }]).end({ status: 200, error: null });
    expect(ended()).toHaveLength(1);
    const silent = spans.batch([{ ...unsampled, tracestate: null }, null]);
    silent.end({ status: 200, error: null });
    expect(silent.context).toBeNull();
    expect(ended()).toHaveLength(1);
  });
});

describe('a webhook', () => {
  test('begins a trace of its own, whatever its sender says, and links that', () => {
    const { spans, ended } = told();
    const webhook = spans.webhook({ ...sampled });
    const send = webhook.send('fraud.reviews');
    send.end({ do: 'refused' });
    webhook.end('unavailable', 503);
    const server = one(ended(), 'POST /hook');
    expect(server.kind).toBe(SpanKind.SERVER);
    expect(server.parentSpanContext).toBeUndefined();
    expect(server.links.map(({ context }) => context.spanId)).toEqual([PARENT]);
    expect(server.attributes).toEqual({
      'http.request.method': 'POST',
      'http.route': '/hook',
      'url.path': '/hook',
      'url.scheme': 'https',
      'http.response.status_code': 503,
      'fraud_connector.result': 'unavailable',
      'error.type': '503',
    });
    const write = one(ended(), 'send fraud.reviews');
    expect(write.attributes['error.type']).toBe('refused');
    expect(write.parentSpanContext?.spanId).toBe(server.spanContext().spanId);
    expect(send.context?.tracestate).toBeNull();
  });

  test('is not decided by what its sender says: the sampler decides', () => {
    const { spans, ended } = told(new ParentBasedSampler({ root: new AlwaysOffSampler() }));
    const webhook = spans.webhook({ ...sampled });
    webhook.send('fraud.reviews').end({ do: 'written', partition: 0, offset: 0n });
    webhook.end('published', 200);
    expect(ended()).toEqual([]);
  });
});

test('no span says anything that is not in the table', () => {
  const { spans, ended } = told();
  const record = spans.record('scoring', { ...at, headers: {} });
  record.call(2).end({ status: 500, error: 'status_500' });
  record.send('t').end({ do: 'written', partition: 0, offset: 0n });
  record.wait('kafka');
  spans.batch([record.context]).end({ status: null, error: 'timeout' });
  record.end({ outcome: 'skip', reason: 'tombstone', attempts: 1 });
  spans.webhook(null).end('published', 200);
  const inEvents = ended().flatMap(({ events }) => events.map(({ attributes = {} }) => attributes));
  const inSpans = ended().map(({ attributes }) => attributes);
  const names = new Set([...inSpans, ...inEvents].flatMap((attributes) => Object.keys(attributes)));
  // And every row of the table is used.
  expect([...names].toSorted()).toEqual(Object.keys(ATTRIBUTES).toSorted());
});
