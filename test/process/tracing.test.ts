import { afterEach, beforeEach, expect, inject, test } from 'vitest';
import { type ConnectorProcess, type Environment } from '../support/connector-process.ts';
import { eventually } from '../support/eventually.ts';
import { OtlpReceiver, type ReceivedSpan } from '../support/otlp-receiver.ts';
import { PaymentWorld, recordsOf, somePayments } from '../support/payment-world.ts';
import { type RelayedRequest, ServiceRelay } from '../support/service-relay.ts';
import { headerTexts, type TopicLog } from '../support/topic-log.ts';
import { reviewBody, sign } from '../support/webhooks.ts';

const PASSWORD = 'canarypassword0123456789';
const WEBHOOK_SECRET = 'canary-webhook-secret-0123456789';
const COLLECTOR_TOKEN = 'canarycollectortoken0123456789';
/** A card number that the brand publishes for tests. */
const PAN = '4012888888881881';
/** Session tokens of the sandbox are JWTs, and all begin so. */
const TOKEN = Buffer.from('{"alg":"HS256","typ":"JWT"}').toString('base64url');
const PATH = '/api/v2/transaction';
const TRACED: Environment = { FLOWS: 'scoring,sync,reviews', OTEL_BSP_SCHEDULE_DELAY: '50' };

let world: PaymentWorld;
let receiver: OtlpReceiver;
let relay: ServiceRelay;
beforeEach(async () => {
  receiver = await OtlpReceiver.open();
  const service = { password: PASSWORD, webhookSecret: WEBHOOK_SECRET };
  world = await PaymentWorld.open({ ...inject('kafka'), env: TRACED, service });
  relay = await ServiceRelay.open(world.service.baseUrl);
});
afterEach(async () => {
  await world.close();
  await relay.close();
  await receiver.close();
});

async function startTraced(env: Environment = {}): Promise<ConnectorProcess> {
  const connector = await world.start({
    SERVICE_BASE_URL: relay.url,
    OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
    OTEL_EXPORTER_OTLP_HEADERS: `authorization=${COLLECTOR_TOKEN}`,
    ...env,
  });
  return await connector.ready();
}

/** A producer's place in a trace: one trace for each number. */
function producer(number: number): { readonly traceId: string; readonly spanId: string; readonly header: string } {
  const traceId = number.toString(16).padStart(32, 'a');
  const spanId = number.toString(16).padStart(16, 'b');
  return { traceId, spanId, header: `00-${traceId}-${spanId}-01` };
}

function headerOf({ traceId, spanId }: ReceivedSpan): string {
  return `00-${traceId}-${spanId}-01`;
}

async function spanOf(name: string, fits: (span: ReceivedSpan) => boolean = () => true): Promise<ReceivedSpan> {
  return await eventually(`a span ${name}`, () => receiver.named(name).find((span) => fits(span)) ?? null);
}

async function postWebhook(
  url: string,
  body: Buffer,
  more: Environment = {},
  secret = WEBHOOK_SECRET,
): Promise<number> {
  const timestamp = new Date().toISOString();
  const answer = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'X-ServiceWebhook-Signature': sign(body, timestamp, secret),
      'X-ServiceWebhook-Timestamp': timestamp,
      ...more,
    },
    body: new Uint8Array(body),
  });
  return answer.status;
}

test('a trace goes from a payment over each attempt at the service to its score', async () => {
  const [payment] = somePayments(1);
  const { created, scores } = world.topics;
  const log = await world.read(scores);
  const left = [503];
  relay.answer = ({ method, path }) =>
    method === 'POST' && path === PATH && left.length > 0 ? { status: left.pop() ?? 0, body: '{}' } : null;
  await startTraced();
  const { traceId, spanId, header } = producer(1);
  await world.send(created, {
    key: payment?.key ?? null,
    value: payment?.created ?? {},
    headers: { traceparent: header, tracestate: 'shop=one' },
  });

  const record = await log.find(scores, () => true);
  const process = await spanOf(`process ${created}`);
  const attempts = receiver.named(`POST ${PATH}`);
  const send = await spanOf(`send ${scores}`);
  expect(process).toMatchObject({ traceId, parentId: spanId, kind: 5, isError: false });
  expect(process.attributes).toMatchObject({
    'messaging.destination.name': created,
    'messaging.kafka.offset': 0,
    'fraud_connector.outcome': 'delivered',
    'fraud_connector.attempts': 2,
  });
  expect(process.events.map(({ attributes }) => attributes)).toEqual([{ 'fraud_connector.reason': 'service_down' }]);
  expect(attempts.map(({ attributes }) => attributes['http.response.status_code'])).toEqual([503, 200]);
  for (const span of [...attempts, send]) expect(span).toMatchObject({ traceId, parentId: process.spanId });
  const posts = relay.seen.filter(({ method, path }) => method === 'POST' && path === PATH);
  expect(posts.map(({ headers }) => headers['traceparent'])).toEqual(attempts.map((span) => headerOf(span)));
  expect(posts.map(({ headers }) => headers['tracestate'])).toEqual([undefined, undefined]);
  expect(headerTexts(record)).toMatchObject({ traceparent: headerOf(send), tracestate: 'shop=one' });
  expect(receiver.requests[0]?.headers.authorization).toBe(COLLECTOR_TOKEN);
});

test('a batch of status updates links the traces of its updates', async () => {
  const payments = somePayments(3);
  const records = recordsOf(payments);
  const { created, authorized } = world.topics;
  await startTraced({ SYNC_BATCH_MAX_AGE_MS: '1000' });
  await world.send(created, ...records.created);
  await eventually('all are scored', () => world.service.ledger().summary().transactions === 3);
  const traced = records.authorized.map(({ key = null, value }, n) => {
    const { header: traceparent } = producer(n + 1);
    return { key, value, headers: { traceparent } };
  });
  await world.send(authorized, ...traced);
  await eventually('all updates are told', () => receiver.named(`process ${authorized}`).length === 3);

  const updates = receiver.named(`process ${authorized}`);
  expect(updates.map(({ traceId }) => traceId).toSorted()).toEqual([1, 2, 3].map((n) => producer(n).traceId));
  await spanOf(`PATCH ${PATH}`);
  const patches = receiver.named(`PATCH ${PATH}`);
  const links = patches.flatMap((patch) => patch.links.map(({ spanId }) => spanId));
  expect(links.toSorted()).toEqual(updates.map(({ spanId }) => spanId).toSorted());
  for (const patch of patches) {
    expect(patch).toMatchObject({ parentId: '', kind: 3, isError: false });
    expect(patch.attributes['fraud_connector.updates']).toBe(patch.links.length);
  }
  const seen = relay.seen.filter(({ method }) => method === 'PATCH');
  expect(seen.map(({ headers }) => String(headers['traceparent'])).toSorted()).toEqual(
    patches.map((span) => headerOf(span)).toSorted(),
  );
});

test('a webhook begins a trace that its review goes on with; what its sender says is a link, and only once it is proven', async () => {
  const { reviews } = world.topics;
  const log = await world.read(reviews);
  const connector = await startTraced();
  const { traceId, spanId, header } = producer(7);
  const body = reviewBody();
  expect(await postWebhook(connector.webhookUrl, body, { traceparent: header }, 'not-the-secret-0123456789')).toBe(401);
  expect(await postWebhook(connector.webhookUrl, body, { traceparent: header })).toBe(200);
  const record = await log.find(reviews, () => true);
  const server = await spanOf('POST /webhooks/fraud');
  const send = await spanOf(`send ${reviews}`);
  expect(server).toMatchObject({ parentId: '', kind: 2, links: [{ traceId, spanId }] });
  expect(server.traceId).not.toBe(traceId);
  expect(server.attributes).toMatchObject({ 'fraud_connector.result': 'published', 'http.response.status_code': 200 });
  expect(send).toMatchObject({ traceId: server.traceId, parentId: server.spanId, kind: 4 });
  expect(headerTexts(record)).toMatchObject({ traceparent: headerOf(send) });
  expect(receiver.named('POST /webhooks/fraud')).toHaveLength(1);
});

test('no password, token, secret, key, id, e-mail address, card number or text of the service is told, whatever goes wrong', async () => {
  const payments = somePayments(40);
  const { created, authorized } = world.topics;
  const letters = await world.read(world.letters(created), world.letters(authorized));
  const connector = await startTraced({ LOG_LEVEL: 'debug', SERVICE_FORWARD_IP: 'true' });
  const { created: good, authorized: statuses } = recordsOf(payments);
  const emails = payments.map((payment) => String(payment.created['cust_email']));
  const [email = ''] = emails;
  const quoted = 'the-service-quotes-9f8e7d';
  relay.answer = quoting(quoted);
  world.service.faults.set({ status: { code: 503, share: 0.3 }, resetShare: 0.1, expireTokens: true });
  await world.send(created, ...good);
  await world.send(authorized, ...statuses);
  await world.send(
    created,
    { key: 'refused-key', value: { trans_id: 'refused-id', cust_email: email } },
    { value: { cust_email: email } },
    { key: PAN, value: { trans_id: 'card', note: PAN }, headers: { note: PAN, traceparent: PAN, tracestate: email } },
  );
  await world.send(authorized, { key: PAN, value: { trans_id: 'refused-id', status: email, ts: email } });
  const review = reviewBody({ trans_id: 'review-id', frg_trans_id: 'review-frg-id', decision: 'bad' });
  expect(await postWebhook(connector.webhookUrl, review, { traceparent: email })).toBe(200);
  expect(await postWebhook(connector.webhookUrl, reviewBody({ decision: email }))).toBe(200);
  world.service.faults.set({ expireTokens: true });
  await eventually('all are linked', () => world.service.ledger().summary().transactionsWithStatus === payments.length);
  await eventually('what is bad has become letters', () => letters.records.length >= 4);
  expect(await connector.stop()).toMatchObject({ code: 0 });

  const bodies = Buffer.concat(receiver.requests.map(({ body }) => body)).toString('latin1');
  expect(receiver.spans.length).toBeGreaterThan(4 * payments.length);
  expect(receiver.named('POST /webhooks/fraud')).toHaveLength(2);
  const basic = Buffer.from(`${world.service.user}:${PASSWORD}`).toString('base64');
  const secrets = [PASSWORD, basic, TOKEN, WEBHOOK_SECRET, COLLECTOR_TOKEN, PAN, quoted];
  const ids = ['refused-id', 'refused-key', 'review-id', 'review-frg-id', ...payments.map(({ transId }) => transId)];
  const ips = payments.flatMap((payment) => (typeof payment.created['ip'] === 'string' ? [payment.created['ip']] : []));
  const told = [...secrets, ...ids, ...emails, ...ips, ...payments.map(({ key }) => key)];
  expect(told.filter((each) => each.length > 3 && bodies.includes(each))).toEqual([]);
  expect(connector.output).not.toContain(COLLECTOR_TOKEN);
  expectReasons(receiver.spans, letters);
});

/** The codes of the letters, and no other words, say why. */
function expectReasons(spans: readonly ReceivedSpan[], letters: TopicLog): void {
  const reasons = spans.flatMap(({ attributes }) =>
    attributes['fraud_connector.outcome'] === 'dead_letter' ? [String(attributes['fraud_connector.reason'])] : [],
  );
  expect(reasons.toSorted()).toEqual(
    letters.records.map((letter) => String(headerTexts(letter)['dlq.reason'])).toSorted(),
  );
}

/** Quotes what it is told about what is bad. */
function quoting(words: string): ServiceRelay['answer'] {
  return ({ body }: RelayedRequest) =>
    body.includes('refused-id') ? { status: 422, body: JSON.stringify({ error_msg: `${words} ${body}` }) } : null;
}

test('a collector that dies costs its spans, which are counted, and nothing else; nor does it hold up the end', async () => {
  const payments = somePayments(60);
  const records = recordsOf(payments);
  const { created, authorized } = world.topics;
  const connector = await startTraced({ OTEL_EXPORTER_OTLP_TIMEOUT: '500' });
  await world.send(created, ...records.created.slice(0, 20));
  await eventually('the collector is told', () => receiver.named(`process ${created}`).length > 0);
  receiver.status = null;
  await world.send(created, ...records.created.slice(20, 40));
  await eventually('it was asked', () => receiver.requests.length > 1);
  await receiver.close();
  await world.send(created, ...records.created.slice(40));
  await world.send(authorized, ...records.authorized);
  await eventually('all are linked', () => world.service.ledger().summary().transactionsWithStatus === payments.length);
  await eventually('it is said', () => connector.said('spans_dropped').length > 0);
  expect(await connector.text('/metrics')).toMatch(/fraud_connector_spans_dropped_total\{why="export_failed"\} [1-9]/);
  expect(await connector.flow('scoring')).toMatchObject({ outcomes: { delivered: payments.length } });
  expect(await connector.stop()).toMatchObject({ code: 0 });
});
