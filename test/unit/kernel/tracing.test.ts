import { expect, test } from 'vitest';
import { NO_TRACING } from '../../../src/kernel/tracing.ts';

const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
const at = { topic: 'payments.created', partition: 0, offset: 1n };

test('where nothing is traced, what came with a record goes on to all that it calls and writes', () => {
  const span = NO_TRACING.record('scoring', { ...at, headers: { traceparent, tracestate: 'a=1' } });
  const context = { traceparent, tracestate: 'a=1' };
  expect([span.context, span.call(1).context, span.send('fraud.scores').context]).toEqual([context, context, context]);
  span.wait('kafka');
  span.call(2).end({ status: 200, error: null });
  span.end({ outcome: 'delivered', attempts: 1 });
});

test('and nothing where it came with none, nor of a batch, nor of who sent a webhook', () => {
  const span = NO_TRACING.record('scoring', { ...at, headers: {} });
  expect([span.context, span.call(1).context, span.send('fraud.scores').context]).toEqual([null, null, null]);
  expect(NO_TRACING.batch([{ traceparent, tracestate: null }]).context).toBeNull();
  expect(NO_TRACING.webhook({ traceparent, tracestate: null }).send('fraud.reviews').context).toBeNull();
});
