import { expect, test } from 'vitest';
import { type OutgoingRecord, type WriteOutcome } from '../../../src/engine/ports.ts';
import { createReviewsBridge } from '../../../src/reviews/bridge.ts';
import { type WebhookReply } from '../../../src/reviews/ports.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { ToldTracing, toldParent } from '../../support/told-tracing.ts';
import { reviewBody, SECRET, signedHeaders } from '../../support/webhooks.ts';

const SENDER = ['traceparent', '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'];

function traced(tracing: ToldTracing | undefined, outcomes: (WriteOutcome | Error)[] = []) {
  const written: OutgoingRecord[] = [];
  const bridge = createReviewsBridge({
    secrets: () => [SECRET],
    writer: {
      write: async (record) => {
        written.push(record);
        const outcome = outcomes.shift() ?? { do: 'written', partition: 0, offset: 1n };
        if (outcome instanceof Error) throw outcome;
        return await Promise.resolve(outcome);
      },
    },
    encoder: { encode: () => Buffer.from('value') },
    topic: 'fraud.reviews',
    account: 'eu',
    source: 'connector/eu',
    park: async () => await Promise.resolve('written'),
    tracing,
    clock: new ManualClock(),
    emit: () => undefined,
    options: { signatureForms: ['hex'], timestampForms: ['rfc3339'], toleranceSeconds: 300, publishTimeoutMs: 3000 },
  });
  const send = async (body = reviewBody(), headers = [...signedHeaders(body), ...SENDER]): Promise<WebhookReply> =>
    await bridge.handle({ rawHeaders: headers, body });
  return { written, send };
}

test('what is not authentic is not told of, whatever trace it names', async () => {
  const tracing = new ToldTracing();
  const { send } = traced(tracing);
  expect((await send(reviewBody(), SENDER)).status).toBe(401);
  expect(tracing.told).toEqual([]);
});

test('a review belongs to the trace of its webhook, told with its write and its answer', async () => {
  const tracing = new ToldTracing();
  const { send, written } = traced(tracing);
  await send();
  expect(tracing.told).toEqual([
    'webhook from somewhere',
    'webhook send fraud.reviews written',
    'webhook published 200',
  ]);
  expect(written[0]?.headers['traceparent']).toBe(toldParent(1));
});

test('a repeat writes nothing and is told as one; one that is parked, too', async () => {
  const tracing = new ToldTracing();
  const { send } = traced(tracing);
  await send();
  await send(reviewBody(), signedHeaders(reviewBody()));
  await send(reviewBody({ decision: 'odd' }));
  expect(tracing.told.slice(3)).toEqual([
    'webhook from nowhere',
    'webhook duplicate 200',
    'webhook from somewhere',
    'webhook parked 200',
  ]);
});

test('a write that fails, or breaks, ends what is told all the same', async () => {
  const tracing = new ToldTracing();
  const { send } = traced(tracing, [{ do: 'unavailable', error: 'Error' }, new Error('broken')]);
  expect((await send()).status).toBe(503);
  expect((await send()).status).toBe(503);
  expect(tracing.told.filter((line) => !line.includes('from'))).toEqual([
    'webhook send fraud.reviews unavailable',
    'webhook unavailable 503',
    'webhook unavailable 503',
  ]);
});

test('without tracing a review belongs to no trace: its sender is not believed', async () => {
  const { send, written } = traced(undefined);
  await send();
  expect(Object.keys(written[0]?.headers ?? {}).filter((name) => name.startsWith('trace'))).toEqual([]);
});
