import { AlwaysOnSampler, BatchSpanProcessor } from '@opentelemetry/sdk-trace';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { type TracingSettings } from '../../../../src/config/tracing.ts';
import { openTracing } from '../../../../src/edges/otel/tracing.ts';
import { systemClock } from '../../../../src/edges/system/clock.ts';
import { type OpenTracing } from '../../../../src/kernel/tracing.ts';
import { eventually } from '../../../support/eventually.ts';
import { OtlpReceiver } from '../../../support/otlp-receiver.ts';

const QUEUE = { delayMs: 20, exportTimeoutMs: 500, maxSpans: 50, batchSpans: 10 };
const NO_HEADERS = { OTEL_EXPORTER_OTLP_HEADERS: new Map(), OTEL_EXPORTER_OTLP_TRACES_HEADERS: new Map() };
const places = {
  group: 'g',
  service: { url: 'https://s.test/api', address: 's.test', port: 443, path: '/api' },
  webhook: { path: '/hook', scheme: 'http' },
} as const;
const at = { topic: 'payments.created', partition: 3, offset: 42n, headers: {} };

let receiver: OtlpReceiver;
let said: unknown[];
let headers: Map<string, string>;
beforeEach(async () => {
  receiver = await OtlpReceiver.open();
  said = [];
  headers = new Map();
});
afterEach(async () => {
  vi.restoreAllMocks();
  await receiver.close();
});

function open(change: Partial<TracingSettings> = {}): OpenTracing {
  return openTracing({
    settings: {
      url: `${receiver.url}/v1/traces`,
      headers: NO_HEADERS,
      timeoutMs: 300,
      compression: 'none',
      tls: { authorities: null, certificate: null, key: null },
      serviceName: 'svc',
      resource: new Map(),
      sampler: 'parentbased_always_on',
      ratio: 1,
      queue: QUEUE,
      ...change,
    },
    places,
    account: 'eu',
    version: '1.2.3',
    headers: () => headers,
    clock: systemClock,
    emit: (event, fields) => said.push({ event, ...fields }),
  });
}

function tell(tracing: OpenTracing, records = 1): void {
  for (let n = 0; n < records; n += 1) tracing.record('scoring', at).end({ outcome: 'delivered', attempts: 1 });
}

test.each(['none', 'gzip'] as const)(
  'spans arrive as OTLP (compression %s), with who tells them',
  async (compression) => {
    const tracing = open({ compression, resource: new Map([['deployment.environment.name', 'live']]) });
    const record = tracing.record('scoring', at);
    record.call(1).end({ status: 503, error: 'status_503' });
    record.wait('service_down');
    record.end({ outcome: 'delivered', attempts: 2 });
    tracing.batch([record.context]).end({ status: 200, error: null });
    await tracing.close(5000);
    const [process] = receiver.named('process payments.created');
    expect(process).toMatchObject({ kind: 5, parentId: '', isError: false });
    expect(process?.attributes).toMatchObject({ 'messaging.kafka.offset': 42, 'fraud_connector.attempts': 2 });
    expect(process?.events).toEqual([{ name: 'wait', attributes: { 'fraud_connector.reason': 'service_down' } }]);
    expect(receiver.named('POST /api')).toMatchObject([{ kind: 3, parentId: process?.spanId, isError: true }]);
    const { traceId, spanId } = process ?? {};
    expect(receiver.named('PATCH /api')).toMatchObject([{ parentId: '', links: [{ traceId, spanId }] }]);
    expect(receiver.requests[0]?.path).toBe('/v1/traces');
    expect(receiver.requests[0]?.headers['content-encoding']).toBe(compression === 'gzip' ? 'gzip' : undefined);
    expect(receiver.resources[0]).toMatchObject({
      'service.name': 'svc',
      'service.version': '1.2.3',
      'fraud_connector.account': 'eu',
      'deployment.environment.name': 'live',
    });
    expect(said).toEqual([]);
  },
);

test('each export carries the headers of that moment', async () => {
  const tracing = open();
  headers.set('authorization', 'one');
  tell(tracing);
  await eventually('the first export', () => receiver.requests.length === 1);
  headers.set('authorization', 'two');
  tell(tracing);
  await tracing.close(5000);
  expect(receiver.requests.map((request) => request.headers.authorization)).toEqual(['one', 'two']);
});

function fail(): never {
  throw new Error('a defect');
}

describe('what the library throws', () => {
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

  test('when a span begins, costs that span alone: what came with the record is passed on', async () => {
    vi.spyOn(AlwaysOnSampler.prototype, 'shouldSample').mockImplementation(fail);
    const tracing = open();
    const record = tracing.record('scoring', { ...at, headers: { traceparent } });
    expect(record.call(1).context).toEqual({ traceparent, tracestate: null });
    record.end({ outcome: 'delivered', attempts: 1 });
    tracing.batch([record.context]).end({ status: 200, error: null });
    tracing.webhook(null).end('published', 200);
    await tracing.close(5000);
    expect(receiver.spans).toEqual([]);
  });

  test('when a span ends, is counted as dropped', async () => {
    vi.spyOn(BatchSpanProcessor.prototype, 'onEnd').mockImplementation(fail);
    const tracing = open();
    tell(tracing, 2);
    await tracing.close(5000);
    expect(said).toEqual([{ event: 'spans_dropped', why: 'queue_full', spans: 2, error: 'queue_full' }]);
  });
});

describe('a collector that', () => {
  test('refuses costs its spans, which are counted, and nothing else', async () => {
    receiver.status = 401;
    const tracing = open();
    tell(tracing, 3);
    await eventually('it is told', () => said.length > 0);
    expect(said).toEqual([{ event: 'spans_dropped', why: 'export_failed', spans: 3, error: 'status 401' }]);
    await tracing.close(5000);
  });

  test('is away, or does not answer, fills the queue and no more', async () => {
    receiver.status = null;
    // Long enough that all is told within one export, whatever else the machine does.
    const tracing = open({ timeoutMs: 2000, queue: { ...QUEUE, exportTimeoutMs: 10_000 } });
    tell(tracing, 10);
    await eventually('an export is open', () => receiver.requests.length === 1);
    tell(tracing, 200);
    await eventually('it was given up', () => said.length >= 2);
    await receiver.close();
    await tracing.close(5000);
    const dropped = (said as { why: string; spans: number }[]).reduce((sum, { spans }) => sum + spans, 0);
    expect(dropped).toBe(210);
    expect(said).toContainEqual({ event: 'spans_dropped', why: 'queue_full', spans: 150, error: 'queue_full' });
  });

  test('does not answer at the end is not waited for', async () => {
    receiver.status = null;
    const tracing = open({ timeoutMs: 60_000 });
    tell(tracing, 7);
    await tracing.close(50);
    expect(said).toEqual([{ event: 'spans_dropped', why: 'stopped', spans: 7, error: 'stopped' }]);
  });
});

describe('the sampler', () => {
  const PARENT = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-0';
  async function toldBy(sampler: TracingSettings['sampler'], ratio: number): Promise<readonly number[]> {
    const tracing = open({
      sampler,
      ratio,
      queue: { delayMs: 20, exportTimeoutMs: 500, maxSpans: 500, batchSpans: 500 },
    });
    for (const parent of [undefined, `${PARENT}1`, `${PARENT}0`])
      for (let n = 0; n < 100; n += 1)
        tracing
          .record('scoring', { ...at, offset: BigInt(n), headers: { traceparent: parent } })
          .end({ outcome: 'delivered', attempts: parent === undefined ? 1 : parent.endsWith('1') ? 2 : 3 });
    await tracing.close(5000);
    return [1, 2, 3].map(
      (which) => receiver.spans.filter(({ attributes }) => attributes['fraud_connector.attempts'] === which).length,
    );
  }

  test.each<[TracingSettings['sampler'], number, number, number]>([
    ['always_on', 100, 100, 100],
    ['always_off', 0, 0, 0],
    ['parentbased_always_on', 100, 100, 0],
    ['parentbased_always_off', 0, 100, 0],
  ])('%s tells of new traces, of told and of untold parents', async (sampler, ...expected) => {
    expect(await toldBy(sampler, 1)).toEqual(expected);
  });

  test('parentbased_traceidratio tells a share of the new ones', async () => {
    const [fresh = 0, ...rest] = await toldBy('parentbased_traceidratio', 0.5);
    expect(rest).toEqual([100, 0]);
    expect(fresh).toBeGreaterThan(10);
    expect(fresh).toBeLessThan(90);
  });

  test('traceidratio decides by the trace alone', async () => {
    expect(await toldBy('traceidratio', 0)).toEqual([0, 0, 0]);
  });
});
