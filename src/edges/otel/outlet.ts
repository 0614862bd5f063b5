import { type Context, TraceFlags } from '@opentelemetry/api';
import { type ExportResult, ExportResultCode } from '@opentelemetry/core';
import {
  BatchSpanProcessor,
  type ReadableSpan,
  type Span,
  type SpanExporter,
  type SpanProcessor,
} from '@opentelemetry/sdk-trace';
import { type Clock, within } from '../../kernel/clock.ts';
import { type Emit } from '../../kernel/emit.ts';
import { nameOf } from '../../kernel/fault.ts';

export interface OutletParts {
  readonly exporter: SpanExporter;
  readonly clock: Clock;
  readonly emit: Emit;
  readonly queue: {
    readonly delayMs: number;
    readonly exportTimeoutMs: number;
    readonly maxSpans: number;
    readonly batchSpans: number;
  };
}

/**
 * Where spans go out, in batches, one export at a time as long as they succeed. A collector that is away, slow or refuses never slows anybody
 * down: what does not fit into the queue and what could not be exported is dropped and counted (event `spans_dropped`).
 */
export class Outlet implements SpanProcessor {
  readonly #parts: OutletParts;
  readonly #batches: BatchSpanProcessor;
  /** Spans that wait for their export. */
  #waiting = 0;
  /** Spans in an export. */
  #leaving = 0;
  /** Not told of yet. */
  #overflown = 0;
  /** Whether the last export failed. */
  #isFailing = false;
  #isClosed = false;
  /** What was still open at the end has been counted. */
  #isCounted = false;

  constructor(parts: OutletParts) {
    this.#parts = parts;
    const { delayMs, exportTimeoutMs, maxSpans, batchSpans } = parts.queue;
    this.#batches = new BatchSpanProcessor({
      exporter: {
        export: (spans, done) => {
          this.#export(spans, done);
        },
        shutdown: async () => {
          await parts.exporter.shutdown();
        },
      },
      scheduledDelayMillis: delayMs,
      exportTimeoutMillis: exportTimeoutMs,
      maxQueueSize: maxSpans,
      maxExportBatchSize: batchSpans,
    });
  }

  onStart(_span: Span, _parent: Context): void {}

  onEnd(span: ReadableSpan): void {
    if (this.#isClosed || (span.spanContext().traceFlags & TraceFlags.SAMPLED) === 0) return;
    if (this.#waiting >= this.#parts.queue.maxSpans) {
      this.#overflown += 1;
      return;
    }
    this.#waiting += 1;
    try {
      this.#batches.onEnd(span);
    } catch {
      // Whoever ends a span has more to do.
      this.#waiting -= 1;
      this.#overflown += 1;
    }
  }

  async forceFlush(): Promise<void> {
    await this.#batches.forceFlush();
  }

  /** The library's name for `close`. */
  async shutdown(): Promise<void> {
    await this.close(0);
  }

  /** Exports what waits, within `limitMs`, and not at all where the last export failed. Never rejects; what is left is dropped and counted. */
  async close(limitMs: number): Promise<void> {
    if (this.#isClosed) return;
    const { clock } = this.#parts;
    const ends = this.#isFailing ? Promise.resolve() : this.#batches.shutdown();
    this.#isClosed = true;
    await within(clock, limitMs, ends).catch(() => 'late');
    const left = this.#waiting + this.#leaving;
    this.#isCounted = true;
    this.#waiting = 0;
    this.#tellOverflow();
    if (left > 0) this.#drop('stopped', left, 'stopped');
  }

  #export(spans: ReadableSpan[], done: (result: ExportResult) => void): void {
    this.#waiting -= spans.length;
    this.#leaving += spans.length;
    this.#parts.exporter.export(spans, (result) => {
      this.#leaving -= spans.length;
      this.#isFailing = result.code !== ExportResultCode.SUCCESS;
      // What was open at the end was counted there.
      if (this.#isFailing && !this.#isCounted) this.#drop('export_failed', spans.length, errorOf(result.error));
      this.#tellOverflow();
      done(result);
    });
  }

  #tellOverflow(): void {
    const spans = this.#overflown;
    this.#overflown = 0;
    if (spans > 0) this.#drop('queue_full', spans, 'queue_full');
  }

  #drop(why: 'queue_full' | 'export_failed' | 'stopped', spans: number, error: string): void {
    this.#parts.emit('spans_dropped', { why, spans, error });
  }
}

/** The collector's status, or the error's name: its text may quote anything. */
function errorOf(error: Error | undefined): string {
  const code: unknown = error !== undefined && 'code' in error ? error.code : undefined;
  return typeof code === 'number' ? `status ${String(code)}` : nameOf(error);
}
