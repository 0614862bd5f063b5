import { type ExportResult, ExportResultCode } from '@opentelemetry/core';
import { type ReadableSpan, TracerProvider } from '@opentelemetry/sdk-trace';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { Outlet } from '../../../../src/edges/otel/outlet.ts';
import { ManualClock, settled } from '../../../support/manual-clock.ts';

const OK: ExportResult = { code: ExportResultCode.SUCCESS };

// The library has timers of its own.
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
});
afterEach(() => {
  vi.useRealTimers();
});

function rig(answers: (ExportResult | null)[] = []): {
  readonly exported: number[];
  readonly said: unknown[];
  readonly clock: ManualClock;
  readonly outlet: Outlet;
  readonly spans: (count: number) => void;
  readonly give: (result: ExportResult) => void;
} {
  const exported: number[] = [];
  const said: unknown[] = [];
  const open: ((result: ExportResult) => void)[] = [];
  const onNone: (() => void)[] = [];
  const clock = new ManualClock();
  const outlet = new Outlet({
    exporter: {
      export: (batch: ReadableSpan[], done) => {
        exported.push(batch.length);
        const answer = answers.shift();
        if (answer === null || answer === undefined) open.push(done);
        else done(answer);
      },
      // As the real one: when the last export has ended.
      shutdown: async () => {
        await new Promise<void>((resolve) => {
          onNone.push(resolve);
          if (open.length === 0) resolve();
        });
      },
    },
    clock,
    emit: (_event, fields) => said.push(fields),
    queue: { delayMs: 1000, exportTimeoutMs: 30_000, maxSpans: 10, batchSpans: 4 },
  });
  const tracer = new TracerProvider({ spanProcessors: [outlet] }).getTracer('test');
  return {
    exported,
    said,
    clock,
    outlet,
    spans: (count) => {
      for (let n = 0; n < count; n += 1) tracer.startSpan('x').end();
    },
    give: (result) => {
      open.shift()?.(result);
      if (open.length === 0) for (const resolve of onNone) resolve();
    },
  };
}

const failed = (error: Error): ExportResult => ({ code: ExportResultCode.FAILED, error });

describe('spans', () => {
  test('go out in batches, after a pause at the latest', async () => {
    const { exported, spans } = rig([OK, OK]);
    spans(5);
    await vi.advanceTimersByTimeAsync(0);
    expect(exported).toEqual([4]);
    await vi.advanceTimersByTimeAsync(1000);
    expect(exported).toEqual([4, 1]);
  });

  test('that find no room are dropped and counted, and those that wait are not', async () => {
    const { exported, spans, said, give } = rig([]);
    spans(4);
    spans(17);
    expect(exported).toEqual([4]);
    expect(said).toEqual([]);
    give(OK);
    expect(said).toEqual([{ why: 'queue_full', spans: 7, error: 'queue_full' }]);
    await vi.advanceTimersByTimeAsync(0);
    give(OK);
    await vi.advanceTimersByTimeAsync(0);
    give(OK);
    await vi.advanceTimersByTimeAsync(5000);
    expect(exported).toEqual([4, 4, 4, 2]);
    expect(said).toHaveLength(1);
  });

  test('of an export that fails are dropped and counted, by a status or a name and never by a text', async () => {
    const refused = Object.assign(new Error('token 123 is wrong'), { name: 'OTLPExporterError', code: 401 });
    const away = Object.assign(new Error('connect to 10.0.0.1'), { code: 'ECONNREFUSED' });
    const { spans, said } = rig([failed(refused), failed(away), OK]);
    for (const count of [4, 3, 2]) {
      spans(count);
      await vi.advanceTimersByTimeAsync(1000);
    }
    expect(said).toEqual([
      { why: 'export_failed', spans: 4, error: 'status 401' },
      { why: 'export_failed', spans: 3, error: 'Error ECONNREFUSED' },
    ]);
  });

  test('of traces that are not told are not even looked at', async () => {
    const { outlet, exported } = rig();
    const span = { spanContext: () => ({ traceFlags: 0 }) } as unknown as ReadableSpan;
    for (let n = 0; n < 50; n += 1) outlet.onEnd(span);
    await vi.advanceTimersByTimeAsync(5000);
    expect(exported).toEqual([]);
  });
});

describe('at the end', () => {
  test('what waits goes out, in as many exports as it takes, and nothing afterwards', async () => {
    const { outlet, exported, spans, said, give } = rig([null, OK, OK]);
    spans(9);
    const closing = outlet.close(2000);
    await settled();
    expect(exported).toEqual([4, 4, 1]);
    spans(4);
    give(OK);
    await closing;
    expect(exported).toEqual([4, 4, 1]);
    expect(said).toEqual([]);
  });

  test('a collector that does not answer is not waited for longer than told; what is left is counted', async () => {
    const { outlet, spans, said, clock } = rig();
    spans(6);
    let closed = false;
    const closing = outlet.close(2000).then(() => (closed = true));
    await settled();
    clock.advance(1999);
    await settled();
    expect(closed).toBe(false);
    clock.advance(1);
    await closing;
    expect(said).toEqual([{ why: 'stopped', spans: 6, error: 'stopped' }]);
  });

  test('what a collector refuses at the very end is counted, too', async () => {
    const { outlet, spans, said, give } = rig([failed(new Error('refused')), null]);
    spans(6);
    const closing = outlet.close(2000);
    await closing;
    give(OK);
    expect(said).toEqual([
      { why: 'export_failed', spans: 4, error: 'Error' },
      { why: 'stopped', spans: 2, error: 'stopped' },
    ]);
  });

  test('a collector whose last export failed is not tried again', async () => {
    const { outlet, spans, said, exported } = rig([failed(new Error('away'))]);
    spans(4);
    await vi.advanceTimersByTimeAsync(0);
    spans(3);
    await outlet.close(2000);
    await outlet.close(2000);
    expect(exported).toEqual([4]);
    expect(said).toEqual([
      { why: 'export_failed', spans: 4, error: 'Error' },
      { why: 'stopped', spans: 3, error: 'stopped' },
    ]);
  });
});
