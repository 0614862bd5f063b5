import { expect, test } from 'vitest';
import { senderOf } from '../../../src/reviews/sender.ts';

const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
const of = (...rawHeaders: string[]): unknown => senderOf({ rawHeaders, body: Buffer.alloc(0) });

test.each([
  [[]],
  [['x', traceparent]],
  [['traceparent', 'x']],
  [['traceparent', traceparent, 'Traceparent', traceparent]],
  [['traceparent']],
])('nothing is read from %j', (headers) => {
  expect(of(...headers)).toBeNull();
});

test('what the sender says is read, however the name is written, without its tracestate', () => {
  expect(of('tracestate', 'a=1', 'TraceParent', traceparent)).toEqual({ traceparent, tracestate: null });
});
