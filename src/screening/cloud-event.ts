import { toTraceHeaders, type TraceContext } from '../kernel/trace-context.ts';
import { formatRfc3339Millis } from './rfc3339.ts';

/** What a record we write says of itself beside its value. */
export interface CloudEvent {
  /** The same for every repeat of the same event; unique together with `source`. */
  readonly id: string;
  readonly type: string;
  /** Who says it: a URI reference. */
  readonly source: string;
  /** When it happened, milliseconds since 1970. */
  readonly timeMs: number;
  /** Null or absent: the record belongs to no trace. */
  readonly trace?: TraceContext | null;
}

/** The headers of a record in the binary mode of CloudEvents 1.0 (Kafka Protocol Binding, section 3.2); its value is Avro. */
export function cloudEventHeaders(event: CloudEvent): Record<string, string> {
  return {
    ce_specversion: '1.0',
    ce_id: event.id,
    ce_type: event.type,
    ce_source: event.source,
    ce_time: formatRfc3339Millis(event.timeMs),
    'content-type': 'application/avro',
    ...toTraceHeaders(event.trace ?? null),
  };
}
