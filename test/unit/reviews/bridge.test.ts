import { describe, expect, test } from 'vitest';
import { type OutgoingRecord, type WriteOutcome } from '../../../src/engine/ports.ts';
import { type EventFields, type EventName } from '../../../src/kernel/emit.ts';
import { Fault } from '../../../src/kernel/fault.ts';
import { createReviewsBridge, type ReviewsBridgeDeps } from '../../../src/reviews/bridge.ts';
import { type FraudReview } from '../../../src/screening/avro.generated.ts';
import { ManualClock, settled } from '../../support/manual-clock.ts';
import { reviewBody, SECRET, signedHeaders } from '../../support/webhooks.ts';

const WRITTEN: WriteOutcome = { do: 'written', partition: 0, offset: 1n };
const AWAY: WriteOutcome = { do: 'unavailable', error: 'Error' };

function setUp(change: Partial<ReviewsBridgeDeps> = {}) {
  const clock = new ManualClock();
  const written: OutgoingRecord[] = [];
  const values: FraudReview[] = [];
  const parked: { readonly body: string; readonly field: string }[] = [];
  const events: [EventName, EventFields[EventName]][] = [];
  /** Answers of the writer, one a write; afterwards it acknowledges at once. */
  const outcomes: Promise<WriteOutcome>[] = [];
  const bridge = createReviewsBridge({
    secrets: () => [SECRET],
    writer: {
      write: async (record) => {
        written.push(record);
        return await (outcomes.shift() ?? Promise.resolve(WRITTEN));
      },
    },
    encoder: {
      encode: (value) => {
        values.push(value);
        return Buffer.from(JSON.stringify(value));
      },
    },
    topic: 'fraud.reviews',
    account: 'eu',
    source: 'connector/eu',
    park: async (webhook, field) => {
      parked.push({ body: webhook.body.toString(), field });
      return await Promise.resolve('written');
    },
    clock,
    emit: (name, fields) => events.push([name, fields]),
    options: {
      signatureForms: ['hex', 'base64'],
      timestampForms: ['rfc3339', 'unix_s', 'unix_ms'],
      toleranceSeconds: 300,
      publishTimeoutMs: 3000,
    },
    ...change,
  });
  const send = async (body: Buffer = reviewBody(), rawHeaders: readonly string[] = signedHeaders(body)) =>
    await bridge.handle({ rawHeaders, body });
  const results = () =>
    events.flatMap(([name, fields]) => (name === 'webhook' && 'result' in fields ? [fields.result] : []));
  return { bridge, clock, written, values, parked, events, outcomes, send, results };
}

describe('publishes nothing and parks nothing', () => {
  test.each([
    ['without a proof', reviewBody(), [], 401, 'bad_signature'],
    [
      'with the proof of another body',
      reviewBody(),
      signedHeaders(reviewBody({ decision: 'bad' })),
      401,
      'bad_signature',
    ],
    ['with a timestamp that is none', reviewBody(), signedHeaders(reviewBody(), 'now'), 401, 'bad_timestamp'],
    ['that is too old', reviewBody(), signedHeaders(reviewBody(), '2025-12-31T00:00:00Z'), 401, 'outside_window'],
    ['that is no object', Buffer.from('[]'), signedHeaders(Buffer.from('[]')), 400, 'not_an_object'],
    ['that is broken', Buffer.from('{"type":'), signedHeaders(Buffer.from('{"type":')), 400, 'not_an_object'],
  ])('of a webhook %s', async (_name, body, rawHeaders, status, result) => {
    const { send, written, parked, results } = setUp();
    expect((await send(body, rawHeaders)).status).toBe(status);
    expect([written, parked]).toEqual([[], []]);
    expect(results()).toEqual([result]);
  });

  test('of one that was refused before it was whole, and counts it', () => {
    const { bridge, written, results } = setUp();
    expect(bridge.refuse('too_slow').status).toBe(408);
    expect(written).toEqual([]);
    expect(results()).toEqual(['too_slow']);
  });
});

describe('asks the sender to come again', () => {
  test('while Kafka does not acknowledge, and publishes when it does', async () => {
    const { send, outcomes, results } = setUp();
    outcomes.push(Promise.resolve(AWAY));
    const reply = await send();
    expect(reply.status).toBe(503);
    expect(Number(reply.headers['retry-after'])).toBeGreaterThan(0);
    expect((await send()).status).toBe(200);
    expect(results()).toEqual(['unavailable', 'published']);
  });

  test('when the record can never be written: the sender keeps the event while a person looks', async () => {
    const { send, outcomes } = setUp();
    outcomes.push(Promise.resolve({ do: 'refused', why: 'too_large' }));
    expect((await send()).status).toBe(503);
  });

  test('when the writer is out of time, and never says 200 before the acknowledgement', async () => {
    const { send, outcomes } = setUp();
    const { promise, resolve } = Promise.withResolvers<WriteOutcome>();
    outcomes.push(promise);
    let answered = false;
    const reply = send().finally(() => {
      answered = true;
    });
    await settled();
    expect(answered).toBe(false);
    resolve(AWAY);
    expect((await reply).status).toBe(503);
    expect((await send()).status).toBe(200);
  });

  test('at the deadline of a repeat, whose event is being written for longer than that', async () => {
    const { send, clock, outcomes } = setUp();
    const { promise, resolve } = Promise.withResolvers<WriteOutcome>();
    outcomes.push(promise);
    const first = send();
    await settled();
    clock.advance(2000);
    const repeat = send();
    await settled();
    clock.advance(3000);
    expect((await repeat).status).toBe(503);
    resolve(WRITTEN);
    expect((await first).status).toBe(200);
  });

  test('when the value cannot be encoded, and tells a person', async () => {
    const { send, written, events } = setUp({
      encoder: {
        encode: () => {
          throw new TypeError('secret value');
        },
      },
    });
    expect((await send()).status).toBe(503);
    expect(written).toEqual([]);
    expect(events).toContainEqual(['flow_broken', { flow: 'reviews', error: 'TypeError' }]);
  });

  test('as long as the id of the schema is not known, which is nobody’s defect', async () => {
    const { send, events } = setUp({
      encoder: {
        encode: () => {
          throw new Fault('REGISTRY_FAILED', 'not there yet');
        },
      },
    });
    expect((await send()).status).toBe(503);
    expect(events.map(([name]) => name)).toEqual(['webhook_verified', 'webhook']);
  });

  test('when parking fails, whichever way', async () => {
    const waiting = setUp({ park: async () => await Promise.resolve('dead_letter_topic') });
    expect((await waiting.send(Buffer.from('{}'))).status).toBe(503);
    const throwing = setUp({ park: async () => await Promise.reject(new Error('no')) });
    expect((await throwing.send(Buffer.from('{}'))).status).toBe(503);
    expect(throwing.results()).toEqual(['unavailable']);
  });
});

describe('what is authentic but not understood', () => {
  test.each([
    ['{}', '/type'],
    ['{"type":"txn_refund","data":{}}', '/type'],
    [reviewBody({ decision: 'perhaps' }).toString(), '/data/decision'],
  ])('is parked as it came: %s', async (text, field) => {
    const { send, written, parked, results } = setUp();
    expect((await send(Buffer.from(text))).status).toBe(200);
    expect(parked).toEqual([{ body: text, field }]);
    expect(written).toEqual([]);
    expect(results()).toEqual(['parked']);
  });

  test('is parked once, however often it comes', async () => {
    const { send, parked, results } = setUp();
    await send(Buffer.from('{}'));
    await send(Buffer.from('{}'));
    expect(parked).toHaveLength(1);
    expect(results()).toEqual(['parked', 'duplicate']);
  });
});

describe('the same event twice', () => {
  test('shares one write while it is in flight, and nobody gets 200 before its acknowledgement', async () => {
    const { send, written, outcomes, results } = setUp();
    const { promise, resolve } = Promise.withResolvers<WriteOutcome>();
    outcomes.push(promise);
    const replies = [send(), send(), send()];
    await settled();
    expect(written).toHaveLength(1);
    expect(results()).toEqual([]);
    resolve(WRITTEN);
    expect((await Promise.all(replies)).map((reply) => reply.status)).toEqual([200, 200, 200]);
    expect(written).toHaveLength(1);
    expect(results()).toEqual(['published', 'duplicate', 'duplicate']);
  });

  test('shares the failure too, and the next one tries again', async () => {
    const { send, written, outcomes } = setUp();
    outcomes.push(Promise.resolve(AWAY));
    expect((await Promise.all([send(), send()])).map((reply) => reply.status)).toEqual([503, 503]);
    expect((await send()).status).toBe(200);
    expect(written).toHaveLength(2);
  });

  test('writes nothing once it was acknowledged, signed anew and laid out differently as it may be', async () => {
    const { send, written } = setUp();
    await send();
    const spaced = Buffer.from(JSON.stringify(JSON.parse(reviewBody().toString()), null, 2));
    const rawHeaders = signedHeaders(spaced, '1767225601');
    expect((await send(spaced, rawHeaders)).status).toBe(200);
    expect(written).toHaveLength(1);
  });

  test('is another event when the decision changed', async () => {
    const { send, written } = setUp();
    await send();
    await send(reviewBody({ decision: 'bad' }));
    expect(written.map((record) => record.key?.toString())).toEqual(['pay-0001', 'pay-0001']);
  });

  test('does not shorten the proof: a repeat without one is refused', async () => {
    const { send } = setUp();
    await send();
    expect((await send(reviewBody(), [])).status).toBe(401);
  });
});

test('asks for the secrets each time, so that one can be changed while it runs, and tells when an old one is used', async () => {
  let secrets = [SECRET];
  const { send, events } = setUp({ secrets: () => secrets });
  expect((await send()).status).toBe(200);
  secrets = ['a-new-secret-of-many-bytes', SECRET];
  expect((await send(reviewBody({ trans_id: 'b' }))).status).toBe(200);
  secrets = ['a-new-secret-of-many-bytes'];
  expect((await send(reviewBody({ trans_id: 'c' }))).status).toBe(401);
  const used = events.flatMap(([name, fields]) =>
    name === 'webhook_verified' && 'secret' in fields ? [fields.secret] : [],
  );
  expect(used).toEqual(['newest', 'older']);
});

test('a secret that cannot be read is a 503, not an open door', async () => {
  const { send, written } = setUp({
    secrets: () => {
      throw new Error('ENOENT');
    },
  });
  expect((await send()).status).toBe(503);
  expect(written).toEqual([]);
});

test('says when it was received, and leaves no timer behind', async () => {
  const { send, values, clock } = setUp();
  clock.advance(1500);
  await send();
  expect(values[0]?.received_at).toBe(Date.UTC(2026, 0, 1) + 1500);
  expect(clock.pending).toBe(0);
});
