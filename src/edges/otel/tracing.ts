import { randomUUID } from 'node:crypto';
import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { defaultResource, type Resource, resourceFromAttributes } from '@opentelemetry/resources';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import { type TracingSettings } from '../../config/tracing.ts';
import { type Clock } from '../../kernel/clock.ts';
import { type Emit } from '../../kernel/emit.ts';
import { NO_TRACING, type OpenTracing } from '../../kernel/tracing.ts';
import { Outlet } from './outlet.ts';
import { type SpanPlaces, Spans } from './spans.ts';

export interface TracingOptions {
  readonly settings: TracingSettings;
  readonly places: SpanPlaces;
  readonly account: string;
  readonly version: string;
  /** Asked before each export; names in lower case. */
  readonly headers: () => ReadonlyMap<string, string>;
  readonly clock: Clock;
  readonly emit: Emit;
}

const SCOPE = 'fraud-screening-connector';
/** Updates of one batch that a span links, at most. */
const MOST_LINKS = 1000;

type ExporterConfig = NonNullable<ConstructorParameters<typeof OTLPTraceExporter>[0]>;

/**
 * Tracing to a collector that takes OTLP over HTTP, as protocol buffers. Opens no connection before the first export,
 * and changes nothing that is shared in the process: no global provider, propagator or context.
 */
export function openTracing(options: TracingOptions): OpenTracing {
  const { settings, places, clock, emit, version } = options;
  const outlet = new Outlet({ exporter: exporterOf(options), clock, emit, queue: settings.queue });
  const tracerOf = (sampler: Sampler): ReturnType<TracerProvider['getTracer']> =>
    new TracerProvider({
      resource,
      sampler,
      spanProcessors: [outlet],
      spanLimits: { linkCountLimit: MOST_LINKS },
    }).getTracer(SCOPE, version);
  const resource = resourceOf(options);
  const spans = new Spans({ tracer: tracerOf(samplerOf(settings)), always: tracerOf(new AlwaysOnSampler()), places });
  return {
    record: (flow, record) =>
      orElse(
        () => spans.record(flow, record),
        () => NO_TRACING.record(flow, record),
      ),
    batch: (updates) =>
      orElse(
        () => spans.batch(updates),
        () => NO_TRACING.batch(updates),
      ),
    webhook: (sender) =>
      orElse(
        () => spans.webhook(sender),
        () => NO_TRACING.webhook(sender),
      ),
    close: async (limitMs) => {
      await outlet.close(limitMs);
    },
  };
}

/** A trace is never worth a record: what the library throws is a span that is not told. */
function orElse<T>(told: () => T, untold: () => T): T {
  try {
    return told();
  } catch {
    return untold();
  }
}

function exporterOf({ settings, headers }: TracingOptions): OTLPTraceExporter {
  const { url, timeoutMs, compression, tls } = settings;
  const agent = url.startsWith('https:')
    ? new HttpsAgent({
        keepAlive: true,
        minVersion: 'TLSv1.2',
        ...(tls.authorities === null ? {} : { ca: tls.authorities }),
        ...(tls.certificate === null || tls.key === null ? {} : { cert: tls.certificate, key: tls.key }),
      })
    : new HttpAgent({ keepAlive: true });
  return new OTLPTraceExporter({
    url,
    timeoutMillis: timeoutMs,
    compression: compression as NonNullable<ExporterConfig['compression']>,
    headers: async () => await Promise.resolve(Object.fromEntries(headers())),
    httpAgentOptions: async () => await Promise.resolve(agent),
    // The queue sends one batch at a time; all that waits goes at once at the end.
    concurrencyLimit: 1 + Math.ceil(settings.queue.maxSpans / settings.queue.batchSpans),
  });
}

function resourceOf({ settings, account, version }: TracingOptions): Resource {
  return defaultResource().merge(
    resourceFromAttributes({
      'service.instance.id': randomUUID(),
      ...Object.fromEntries(settings.resource),
      'service.name': settings.serviceName,
      'service.version': version,
      'fraud_connector.account': account,
    }),
  );
}

function samplerOf({ sampler, ratio }: TracingSettings): Sampler {
  switch (sampler) {
    case 'always_on':
      return new AlwaysOnSampler();
    case 'always_off':
      return new AlwaysOffSampler();
    case 'traceidratio':
      return new TraceIdRatioBasedSampler(ratio);
    case 'parentbased_always_on':
      return new ParentBasedSampler({ root: new AlwaysOnSampler() });
    case 'parentbased_always_off':
      return new ParentBasedSampler({ root: new AlwaysOffSampler() });
    case 'parentbased_traceidratio':
      return new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(ratio) });
  }
}
