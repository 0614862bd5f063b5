import {
  type Context,
  type Link,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  trace,
  TraceFlags,
  type Tracer,
} from '@opentelemetry/api';
import { type WebhookResult } from '../../kernel/emit.ts';
import { type HoldCause } from '../../kernel/outcome.ts';
import { readTraceContext, type TraceContext } from '../../kernel/trace-context.ts';
import {
  type CallEnd,
  type CallSpan,
  passOn,
  type RecordEnd,
  type RecordSpan,
  type SendEnd,
  type SendSpan,
  type TracedRecord,
  type Tracing,
  type WebhookSpan,
} from '../../kernel/tracing.ts';
import { type SpanFacts, toAttributes } from './attributes.ts';

/** What is the same in many spans. */
export interface SpanPlaces {
  readonly group: string;
  /** Of the service; the URL has no query. */
  readonly service: { readonly url: string; readonly address: string; readonly port: number; readonly path: string };
  readonly webhook: { readonly path: string; readonly scheme: 'http' | 'https' };
}

export interface SpansParts {
  /** Decides by itself which traces are told. */
  readonly tracer: Tracer;
  /** Tells everything. */
  readonly always: Tracer;
  readonly places: SpanPlaces;
}

/** Spans of OpenTelemetry for what the connector does. Where a trace is not told, only its context goes on. */
export class Spans implements Tracing {
  readonly #parts: SpansParts;
  readonly #service: SpanFacts;

  constructor(parts: SpansParts) {
    this.#parts = parts;
    const { url, address, port, path } = parts.places.service;
    this.#service = { 'url.template': path, 'url.full': url, 'server.address': address, 'server.port': port };
  }

  record(flow: string, record: TracedRecord): RecordSpan {
    const { tracer, places } = this.#parts;
    const parent = readTraceContext(record.headers);
    const at = parent === null ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, toSpanContext(parent));
    const span = tracer.startSpan(`process ${record.topic}`, { kind: SpanKind.CONSUMER }, at);
    const tracestate = parent?.tracestate ?? null;
    if (!span.isRecording()) return passOn(contextOf(span, tracestate));
    const facts: SpanFacts = {
      ...messaging('process', record.topic),
      'messaging.destination.partition.id': String(record.partition),
      'messaging.kafka.offset': Number(record.offset),
      'messaging.consumer.group.name': places.group,
      'fraud_connector.flow': flow,
    };
    span.setAttributes(toAttributes(facts));
    return new TracedRecordSpan(span, { tracer, tracestate, service: this.#service });
  }

  batch(updates: readonly (TraceContext | null)[]): CallSpan {
    const links = updates.flatMap((update): readonly Link[] => {
      const context = update === null ? null : toSpanContext(update);
      return context !== null && isTold(context) ? [{ context }] : [];
    });
    // A batch is told of where one of its updates is: else what became of an update could not be followed.
    if (links.length === 0) return passOn(null).call(1);
    const facts: SpanFacts = {
      ...this.#service,
      'http.request.method': 'PATCH',
      'fraud_connector.updates': updates.length,
    };
    const { always, places } = this.#parts;
    const span = always.startSpan(
      `PATCH ${places.service.path}`,
      { kind: SpanKind.CLIENT, links: [...links], attributes: toAttributes(facts) },
      ROOT_CONTEXT,
    );
    return callOf(span, null);
  }

  webhook(sender: TraceContext | null): WebhookSpan {
    const { tracer, places } = this.#parts;
    const { path, scheme } = places.webhook;
    const links = sender === null ? [] : [{ context: toSpanContext(sender) }];
    const span = tracer.startSpan(`POST ${path}`, { kind: SpanKind.SERVER, links }, ROOT_CONTEXT);
    const facts: SpanFacts = {
      'http.request.method': 'POST',
      'http.route': path,
      'url.path': path,
      'url.scheme': scheme,
    };
    span.setAttributes(toAttributes(facts));
    return {
      send: (topic) => startSend(span, topic, { tracer, tracestate: null }),
      end: (result: WebhookResult, status: number) => {
        const end: SpanFacts = { 'http.response.status_code': status, 'fraud_connector.result': result };
        span.setAttributes(toAttributes(end));
        if (status >= 500) fail(span, String(status));
        span.end();
      },
    };
  }
}

interface TraceParts {
  readonly tracer: Tracer;
  /** What came with the record, and goes on with it. */
  readonly tracestate: string | null;
}

class TracedRecordSpan implements RecordSpan {
  readonly context: TraceContext;
  readonly #span: Span;
  readonly #parts: TraceParts & { readonly service: SpanFacts };

  constructor(span: Span, parts: TraceParts & { readonly service: SpanFacts }) {
    this.#span = span;
    this.#parts = parts;
    this.context = contextOf(span, parts.tracestate);
  }

  call(attempt: number): CallSpan {
    const { tracer, service, tracestate } = this.#parts;
    const facts: SpanFacts = {
      ...service,
      'http.request.method': 'POST',
      ...(attempt > 1 ? { 'http.request.resend_count': attempt - 1 } : {}),
    };
    const options = { kind: SpanKind.CLIENT, attributes: toAttributes(facts) };
    const span = tracer.startSpan(`POST ${String(service['url.template'])}`, options, below(this.#span));
    return callOf(span, tracestate);
  }

  send(topic: string): SendSpan {
    return startSend(this.#span, topic, this.#parts);
  }

  wait(why: HoldCause): void {
    const facts: SpanFacts = { 'fraud_connector.reason': why };
    this.#span.addEvent('wait', toAttributes(facts));
  }

  end(how: RecordEnd): void {
    if (!this.#span.isRecording()) return;
    const facts: SpanFacts = {
      'fraud_connector.outcome': how.outcome,
      'fraud_connector.attempts': how.attempts,
      ...('reason' in how ? { 'fraud_connector.reason': how.reason } : {}),
    };
    this.#span.setAttributes(toAttributes(facts));
    if (how.outcome === 'dead_letter') fail(this.#span, how.reason);
    this.#span.end();
  }
}

function callOf(span: Span, tracestate: string | null): CallSpan {
  return {
    context: contextOf(span, tracestate),
    end: ({ status, error }: CallEnd) => {
      if (status !== null) span.setAttributes(toAttributes({ 'http.response.status_code': status }));
      if (status !== null && status >= 400) fail(span, String(status));
      else if (error !== null) fail(span, error);
      span.end();
    },
  };
}

function sendOf(span: Span, tracestate: string | null): SendSpan {
  return {
    context: contextOf(span, tracestate),
    end: (how: SendEnd) => {
      if (how.do === 'written') {
        const facts: SpanFacts = {
          'messaging.destination.partition.id': String(how.partition),
          'messaging.kafka.offset': Number(how.offset),
        };
        span.setAttributes(toAttributes(facts));
      } else fail(span, how.do);
      span.end();
    },
  };
}

function startSend(parent: Span, topic: string, { tracer, tracestate }: TraceParts): SendSpan {
  const options = { kind: SpanKind.PRODUCER, attributes: toAttributes(messaging('send', topic)) };
  return sendOf(tracer.startSpan(`send ${topic}`, options, below(parent)), tracestate);
}

function messaging(operation: 'process' | 'send', topic: string): SpanFacts {
  return {
    'messaging.system': 'kafka',
    'messaging.operation.name': operation,
    'messaging.operation.type': operation,
    'messaging.destination.name': topic,
  };
}

function fail(span: Span, type: string): void {
  span.setAttributes(toAttributes({ 'error.type': type }));
  span.setStatus({ code: SpanStatusCode.ERROR });
}

function below(span: Span): Context {
  return trace.setSpan(ROOT_CONTEXT, span);
}

function isTold({ traceFlags }: SpanContext): boolean {
  return (traceFlags & TraceFlags.SAMPLED) !== 0;
}

/** Without the tracestate: it is passed on with the record, and is nothing that this program tells. */
function toSpanContext({ traceparent }: TraceContext): SpanContext {
  return {
    traceId: traceparent.slice(3, 35),
    spanId: traceparent.slice(36, 52),
    traceFlags: Number.parseInt(traceparent.slice(53, 55), 16),
    isRemote: true,
  };
}

function contextOf(span: Span, tracestate: string | null): TraceContext {
  const { traceId, spanId, traceFlags } = span.spanContext();
  const flags = traceFlags.toString(16).padStart(2, '0');
  return { traceparent: `00-${traceId}-${spanId}-${flags}`, tracestate };
}
