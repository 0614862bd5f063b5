import { readTraceContext, type TraceContext } from '../kernel/trace-context.ts';
import { type WebhookRequest } from './ports.ts';

/**
 * Where the sender of a webhook says that it is in a trace (W3C Trace Context); null: it says nothing, or nothing valid.
 * The signature does not cover it: anybody between may have written it.
 */
export function senderOf({ rawHeaders }: WebhookRequest): TraceContext | null {
  let traceparent: string | undefined;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    if (rawHeaders[at]?.toLowerCase() !== 'traceparent') continue;
    if (traceparent !== undefined) return null;
    traceparent = rawHeaders[at + 1];
  }
  return readTraceContext({ traceparent });
}
