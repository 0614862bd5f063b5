import { type WebhookResult } from './emit.ts';
import { type HoldCause, type LetterCode, type SkipRule } from './outcome.ts';
import { readTraceContext, type TraceContext, type TraceHeaders } from './trace-context.ts';

/** The record that a span is about. Nothing of its key and value is told. */
export interface TracedRecord {
  readonly topic: string;
  readonly partition: number;
  readonly offset: bigint;
  readonly headers: TraceHeaders;
}

/** How what was traced of a record ended. `lost`: its partition went to another process, or this one stopped. */
export type RecordEnd =
  | { readonly outcome: 'delivered' | 'lost'; readonly attempts: number }
  | { readonly outcome: 'skip'; readonly reason: SkipRule; readonly attempts: number }
  | { readonly outcome: 'dead_letter'; readonly reason: LetterCode; readonly attempts: number };

/** How a request to the service ended. */
export interface CallEnd {
  /** Null: there was no answer. */
  readonly status: number | null;
  /** A stable code of what went wrong, never a text of the answer; null: nothing did. */
  readonly error: string | null;
}

/** How a write to Kafka ended; without a place: it was not acknowledged. */
export type SendEnd =
  | { readonly do: 'written'; readonly partition: number; readonly offset: bigint }
  | { readonly do: 'refused' | 'unavailable' };

interface Placed {
  /** What is called or written gets this in its headers; null: nothing. */
  readonly context: TraceContext | null;
}

/** A request to the service. Ends once. */
export interface CallSpan extends Placed {
  end(how: CallEnd): void;
}

/** A write to Kafka. Ends once. */
export interface SendSpan extends Placed {
  end(how: SendEnd): void;
}

/** A record, from its first step to its end. */
export interface RecordSpan extends Placed {
  /** A scoring request begins. `attempt`: 1 for the first of this record. */
  call(attempt: number): CallSpan;
  /** The write of what came of it begins. */
  send(topic: string): SendSpan;
  /** It waits for this cause, and is tried again. */
  wait(why: HoldCause): void;
  /** Once; later calls do nothing. */
  end(how: RecordEnd): void;
}

/** A webhook that is authentic, until its answer. */
export interface WebhookSpan {
  send(topic: string): SendSpan;
  end(result: WebhookResult, status: number): void;
}

/**
 * Tells a collector what happens to each record, as spans of OpenTelemetry. Contexts are passed from hand to hand: there
 * is no "current" span. Nothing here throws, waits or slows work down.
 */
export interface Tracing {
  record(flow: string, record: TracedRecord): RecordSpan;
  /** A request with several updates; `updates`: where each was, which become links. */
  batch(updates: readonly (TraceContext | null)[]): CallSpan;
  /** `sender`: from headers that anybody between could have written, so it becomes a link and no parent. */
  webhook(sender: TraceContext | null): WebhookSpan;
}

/** Tracing whose spans go to a collector. */
export interface OpenTracing extends Tracing {
  /** Exports what waits, within `limitMs` milliseconds. Never rejects; what is left is dropped and counted. */
  close(limitMs: number): Promise<void>;
}

const noEnd = (): void => undefined;
const NO_PLACE = { context: null, end: noEnd };

class PassedOn implements RecordSpan {
  readonly context: TraceContext;
  readonly end = noEnd;
  readonly wait = noEnd;

  constructor(context: TraceContext) {
    this.context = context;
  }

  call(): CallSpan {
    return this;
  }

  send(): SendSpan {
    return this;
  }
}

const NO_RECORD: RecordSpan = { ...NO_PLACE, call: () => NO_PLACE, send: () => NO_PLACE, wait: noEnd };

/** A record of which nothing is told: whoever it calls gets the place in a trace that it came with, if it did. */
export function passOn(context: TraceContext | null): RecordSpan {
  return context === null ? NO_RECORD : new PassedOn(context);
}

/** Tells nobody; what came with a record is passed on, and nothing of a webhook is. */
export const NO_TRACING: Tracing = {
  record: (_flow, { headers }) => passOn(readTraceContext(headers)),
  batch: () => NO_PLACE,
  webhook: () => ({ send: () => NO_PLACE, end: noEnd }),
};
