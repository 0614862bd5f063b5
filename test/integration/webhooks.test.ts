import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { type FraudReview, FRAUD_REVIEW_SCHEMA } from '../../src/screening/avro.generated.ts';
import { type ConnectorProcess } from '../support/connector-process.ts';
import { eventually } from '../support/eventually.ts';
import { PaymentWorld, recordsOf, somePayments } from '../support/payment-world.ts';
import { exchange } from '../support/raw-http.ts';
import { headerTexts, type TopicLog } from '../support/topic-log.ts';
import { reviewBody, sign } from '../support/webhooks.ts';

const MAX_BYTES = 4096;
const SIGNATURE = 'X-ServiceWebhook-Signature';
const TIMESTAMP = 'X-ServiceWebhook-Timestamp';

let world: PaymentWorld;
let connector: ConnectorProcess;
let log: TopicLog;

beforeAll(async () => {
  const env = { FLOWS: 'scoring,reviews', WEBHOOK_MAX_BYTES: String(MAX_BYTES) };
  world = await PaymentWorld.open({ ...inject('kafka'), env, service: { reviewAfterMs: 50 } });
  log = await world.read(world.topics.reviews, world.letters(world.topics.reviews));
  connector = await (await world.start()).ready();
});
afterAll(async () => {
  await world.close();
});

const secondsAgo = (seconds: number): string =>
  new Date(Date.now() - seconds * 1000).toISOString().replace(/\.\d+Z/, 'Z');

/** How a webhook is sent; a test breaks one thing. */
interface Sending {
  readonly body?: Buffer;
  readonly timestamp?: string;
  readonly secret?: string;
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string | null>>;
  readonly to?: ConnectorProcess;
}

async function post(sending: Sending = {}): Promise<Response> {
  const { body = reviewBody(), timestamp = secondsAgo(0), secret = world.service.webhookSecret } = sending;
  const { method = 'POST', path = '', headers = {}, to = connector } = sending;
  const all = {
    'content-type': 'application/json',
    [SIGNATURE]: sign(body, timestamp, secret),
    [TIMESTAMP]: timestamp,
    ...headers,
  };
  const given = Object.entries(all).flatMap(([name, value]) =>
    value === null ? [] : [[name, value] as [string, string]],
  );
  return await fetch(`${to.webhookUrl}${path}`, {
    method,
    headers: given,
    ...(method === 'GET' ? {} : { body: new Uint8Array(body) }),
  });
}

describe('a webhook with a defect is answered with its status, and nothing is published', () => {
  const defects: readonly (readonly [string, number, Sending])[] = [
    ['a signature of another secret', 401, { secret: 'another-secret-of-at-least-24-bytes' }],
    ['no signature', 401, { headers: { [SIGNATURE]: null } }],
    ['no timestamp', 401, { headers: { [TIMESTAMP]: null } }],
    ['a timestamp it was not signed with', 401, { headers: { [TIMESTAMP]: secondsAgo(1) } }],
    ['a timestamp of ten minutes ago', 401, { timestamp: secondsAgo(600) }],
    ['a timestamp in ten minutes', 401, { timestamp: secondsAgo(-600) }],
    ['a timestamp in no known form', 401, { timestamp: 'yesterday' }],
    ['a body that is no object', 400, { body: Buffer.from('[]') }],
    ['a body that is no JSON', 400, { body: Buffer.from('{"type":') }],
    ['another path', 404, { path: '/other' }],
    ['another method', 405, { method: 'GET' }],
    ['another content type', 415, { headers: { 'content-type': 'text/plain' } }],
    ['an encoded body', 415, { headers: { 'content-encoding': 'gzip' } }],
    ['a body over WEBHOOK_MAX_BYTES', 413, { body: reviewBody({ filler: 'x'.repeat(MAX_BYTES) }) }],
  ];
  test.for(defects)('%s: %i', async ([, status, sending]) => {
    const answer = await post(sending);
    expect(answer.status).toBe(status);
    expect(await answer.text()).not.toMatch(/signature|timestamp|secret/i);
  });

  test('malformed HTTP: 400; a body that does not come: 408', async () => {
    const { pathname, host } = new URL(connector.webhookUrl);
    expect((await exchange(connector.webhookUrl, 'NOT HTTP\r\n\r\n')).status).toBe(400);
    const head = `POST ${pathname} HTTP/1.1\r\nhost: ${host}\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n`;
    expect((await exchange(connector.webhookUrl, head, '{')).status).toBe(408);
    expect(log.records).toEqual([]);
  });
});

describe('an authentic webhook', () => {
  test('is answered 200 when it is in Kafka: a review, keyed by trans_id, a CloudEvent', async () => {
    const answer = await post({ body: reviewBody({ trans_id: 'pay-7', decision: 'suspicious', queue: 'night' }) });
    expect([answer.status, await answer.text()]).toEqual([200, '{}']);
    const record = await log.find(world.topics.reviews, ({ key }) => key?.toString() === 'pay-7');
    const review = await world.decode<FraudReview>(FRAUD_REVIEW_SCHEMA, record.value);
    expect(review).toMatchObject({
      account: 'test',
      type: 'txn_manual_review',
      frg_trans_id: 'frg-0001',
      trans_id: 'pay-7',
      decision: 'suspicious',
      reviewed_at: Date.UTC(2025, 11, 31, 23, 59, 58, 123) * 1000 + 456,
      extra: '{"queue":"night"}',
    });
    expect(headerTexts(record)).toEqual({
      ce_specversion: '1.0',
      ce_id: review.event_id,
      ce_type: 'fraud.screening.review.v1',
      ce_source: '/fraud-screening-connector/test',
      ce_time: '2025-12-31T23:59:58.123Z',
      'content-type': 'application/avro',
    });
  });

  test('that comes again, signed anew, is answered 200 and published once', async () => {
    const body = reviewBody({ trans_id: 'pay-8' });
    expect((await post({ body, timestamp: secondsAgo(9) })).status).toBe(200);
    expect((await post({ body })).status).toBe(200);
    await post({ body: reviewBody({ trans_id: 'pay-9' }) });
    await log.find(world.topics.reviews, ({ key }) => key?.toString() === 'pay-9');
    expect(log.of(world.topics.reviews).filter(({ key }) => key?.toString() === 'pay-8')).toHaveLength(1);
  });

  test('with an unknown decision is parked with what it was signed with, and answered 200', async () => {
    const body = reviewBody({ trans_id: 'pay-10', decision: 'escalated' });
    const timestamp = secondsAgo(0);
    expect((await post({ body, timestamp })).status).toBe(200);
    const parked = await log.find(world.letters(world.topics.reviews), () => true);
    expect(parked.key).toBeNull();
    expect(parked.value).toEqual(body);
    const headers = headerTexts(parked);
    expect(headers).toMatchObject({
      'dlq.reason': 'webhook_unrecognised',
      'dlq.stage': 'webhook',
      'dlq.detail': '/data/decision',
      'dlq.source.topic': 'webhook',
      'dlq.account': 'test',
    });
    const lower = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
    expect(lower[SIGNATURE.toLowerCase()]).toBe(sign(body, timestamp, world.service.webhookSecret));
    expect(lower[TIMESTAMP.toLowerCase()]).toBe(timestamp);
    expect(log.of(world.topics.reviews).some(({ key }) => key?.toString() === 'pay-10')).toBe(false);
  });

  test('of the service itself arrives: a reviewed payment is one record', async () => {
    world.service.setWebhookUrl(connector.webhookUrl);
    const [payment] = somePayments(1, { seed: 7 });
    const { created } = recordsOf(payment === undefined ? [] : [payment]);
    await world.send(world.topics.created, ...created);
    await eventually('it is scored', () => world.service.ledger().summary().transactions === 1);
    expect(world.service.review(payment?.transId ?? '', 'bad')).toBe(true);
    const record = await log.find(world.topics.reviews, ({ key }) => key?.toString() === payment?.transId);
    expect(await world.decode(FRAUD_REVIEW_SCHEMA, record.value)).toMatchObject({ decision: 'bad' });
    await eventually('the service knows', () => world.service.ledger().summary().webhooksDelivered > 0);
  });

  test('is answered 503 with Retry-After while Kafka is away', async () => {
    const away = await world.start({ KAFKA_BROKERS: '127.0.0.1:9', WEBHOOK_PUBLISH_TIMEOUT_MS: '300' });
    await eventually('it listens', async () => (await away.probe('/livez')) === 200);
    const answer = await eventually('it answers', async () => await post({ to: away }).catch(() => null));
    expect(answer.status).toBe(503);
    expect(answer.headers.get('retry-after')).toMatch(/^\d+$/);
    expect(await away.probe('/readyz')).toBe(503);
  });
});

describe('webhooks', () => {
  test('that are not taken are on the status by their reasons, and in one line of the log for each', async () => {
    const other = await (await world.start({ FLOWS: 'reviews' })).ready();
    for (let n = 0; n < 3; n += 1)
      expect((await post({ to: other, secret: 'another-secret-of-at-least-24-bytes' })).status).toBe(401);
    expect((await post({ to: other, body: reviewBody({ trans_id: 'pay-20' }) })).status).toBe(200);
    expect((await other.status())?.reviews).toEqual({
      ready: true,
      accepted: 1,
      published: 1,
      duplicate: 0,
      parked: 0,
      unavailable: 0,
      refused: { bad_signature: 3 },
    });
    expect(await other.probe('/readyz/reviews')).toBe(200);
    expect(await other.probe('/readyz/scoring')).toBe(404);
    const [line] = await eventually(
      'it is said',
      () => {
        const lines = other.said('webhooks_failed');
        return lines.length > 0 && lines;
      },
      15_000,
    );
    expect(line).toMatchObject({ level: 'warn', result: 'bad_signature', webhooks: 3 });
  });
});

test('of all webhooks with a defect nothing was published', () => {
  expect(log.of(world.topics.reviews).some(({ key }) => key?.toString() === 'pay-0001')).toBe(false);
  expect(log.of(world.letters(world.topics.reviews))).toHaveLength(1);
});
