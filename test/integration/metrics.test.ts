import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { METRICS, type NamedMetric } from '../../src/telemetry/catalogue.ts';
import { isAllowed } from '../../src/telemetry/label-values.ts';
import { METRIC_PREFIX } from '../../src/telemetry/metrics.ts';
import { type ConnectorProcess } from '../support/connector-process.ts';
import { eventually } from '../support/eventually.ts';
import { PaymentWorld, recordsOf, somePayments, trade } from '../support/payment-world.ts';
import { readScrape, type Scrape, type ScrapedSample, sumOf } from '../support/scrape.ts';
import { reviewBody, sign } from '../support/webhooks.ts';

/** Counted from events that do not come in an hour of good days and bad ones, with labels, so that there is no line before the first. */
const SELDOM: ReadonlySet<string> = new Set(
  [
    'offset_gaps_total',
    'offset_gap_records_total',
    'offset_maps_ignored_total',
    'dlq_withheld_total',
    'flow_broken_total',
    'fell_behind_total',
    'behind_seconds',
    'batch_splits_total',
    'answers_unrecognised_total',
    'scores_trimmed_total',
    'update_fields_dropped_total',
    'updates_noted_total',
    'webhook_tls_failures_total',
    'certificate_expiring_total',
    'writer_retries_total',
    'secret_reloads_total',
    'secret_reload_failures_total',
    'kafka_client_messages_total',
    'spans_dropped_total',
    'spans_full_total',
  ].map((name) => METRIC_PREFIX + name),
);
const WEBHOOK_SECRET = 'a-made-up-webhook-secret-0123456789';
const payments = somePayments(80);
/** Payments of keys of their own, whose statuses are not reported. */
const OTHERS = 300;
const SCORED = payments.length + OTHERS;

let world: PaymentWorld;
let connector: ConnectorProcess;
let scrape: Scrape;
let text: string;
/** Of the outage. */
let ill: Scrape;
let webhooks: readonly number[];

async function post(body: Buffer, secret: string): Promise<number> {
  const timestamp = new Date().toISOString();
  const headers = {
    'content-type': 'application/json',
    'X-ServiceWebhook-Signature': sign(body, timestamp, secret),
    'X-ServiceWebhook-Timestamp': timestamp,
  };
  const answer = await fetch(connector.webhookUrl, { method: 'POST', headers, body: new Uint8Array(body) });
  await answer.body?.cancel();
  return answer.status;
}

const linked = (): number => world.service.ledger().summary().transactionsWithStatus;

beforeAll(async () => {
  world = await PaymentWorld.open({
    ...inject('kafka'),
    env: { FLOWS: 'scoring,sync,reviews', SYNC_BATCH_MAX_AGE_MS: '50', SCORING_LIMIT: 'adaptive' },
    service: { webhookSecret: WEBHOOK_SECRET, reviewAfterMs: 600_000 },
  });
  const { created } = world.topics;
  connector = await (await world.start()).ready();
  await trade(world, payments.slice(0, 40));
  await eventually('half is linked', () => linked() === 40);
  world.service.faults.set({ status: { code: 503 } });
  const { created: rest, authorized } = recordsOf(payments.slice(40));
  // The breaker opens where the first attempts for 20 keys fail, and stays so while untried payments are left.
  const others = Array.from({ length: OTHERS }, (_, n) => ({ key: `other-${n}`, value: { trans_id: `other-${n}` } }));
  await world.send(created, ...rest, ...others, { key: 'k', value: '{' }, { key: 'k', value: null });
  ill = await eventually('the breaker has opened', async () => {
    const found = readScrape(await connector.text('/metrics'));
    return sumOf(found, 'fraud_connector_breaker_state', { flow: 'scoring' }) === 2 ? found : null;
  });
  world.service.faults.set({});
  await world.send(world.topics.authorized, ...authorized);
  await eventually('everything is linked', () => linked() === payments.length);
  await eventually('everything is scored', () => world.service.ledger().summary().transactions === SCORED);
  const review = reviewBody({ trans_id: payments[0]?.transId });
  webhooks = [await post(review, WEBHOOK_SECRET), await post(review, 'not-the-secret-0123456789')];
  await eventually('everything is committed', async () =>
    (await connector.status())?.partitions.every(({ lag }) => lag === '0'),
  );
  text = await connector.text('/metrics');
  scrape = readScrape(text);
});
afterAll(async () => {
  await world.close();
});

function rowOf({ name }: ScrapedSample): NamedMetric | undefined {
  return METRICS.find((metric) => {
    if (metric.type !== 'histogram') return metric.name === name;
    return ['_bucket', '_sum', '_count'].some((end) => metric.name + end === name);
  });
}

describe('the metrics of a connector that has worked, and has been through an outage', () => {
  test('are all announced, each with the type that its row says', () => {
    expect(METRICS.filter(({ name, type }) => scrape.types.get(name) !== type).map(({ name }) => name)).toEqual([]);
  });

  test('are written, but for those of events that do not happen on such a day', () => {
    const written = new Set([...ill.samples, ...scrape.samples].map((sample) => rowOf(sample)?.name));
    const silent = METRICS.filter(({ name }) => !written.has(name) && !SELDOM.has(name)).map(({ name }) => name);
    expect(silent).toEqual([]);
  });

  test('have a row each, with the labels that their rows say, and values of which it is said that they may stand there', () => {
    const odd: string[] = [];
    for (const sample of [...ill.samples, ...scrape.samples]) {
      const row = rowOf(sample);
      if (row === undefined) {
        if (!/^(nodejs|process)_/.test(sample.name)) odd.push(sample.name);
        continue;
      }
      const { le: _, ...labels } = sample.labels;
      if (Object.keys(labels).toSorted().join() !== [...row.labels].toSorted().join())
        odd.push(`${sample.name}: ${Object.keys(labels).join()}`);
      const bare = row.name.startsWith(METRIC_PREFIX) ? row.name.slice(METRIC_PREFIX.length) : row.name;
      for (const [label, value] of Object.entries(labels))
        if (!isAllowed(bare, label, value)) odd.push(`${sample.name}: ${label}=${value}`);
    }
    expect(odd).toEqual([]);
  });

  test('tell nothing of keys, ids, payloads and secrets', () => {
    const untold = payments.flatMap(({ key, transId, created }) => [key, transId, String(created['cust_email'])]);
    const secrets = [WEBHOOK_SECRET, world.service.password, world.service.user];
    expect([...untold, ...secrets].filter((each) => text.includes(each))).toEqual([]);
  });

  test('add up: every record read has ended once, and its way and its work were measured', () => {
    const flow = { flow: 'scoring' };
    const topic = { messaging_destination_name: world.topics.created };
    expect(sumOf(scrape, 'messaging_client_consumed_messages_total', topic)).toBe(SCORED + 2);
    expect(sumOf(scrape, 'fraud_connector_records_total', flow)).toBe(SCORED + 2);
    expect(sumOf(scrape, 'fraud_connector_records_total', { ...flow, outcome: 'delivered' })).toBe(SCORED);
    expect(sumOf(scrape, 'fraud_connector_end_to_end_latency_seconds_count', flow)).toBe(SCORED + 2);
    // A tombstone ends as it is read.
    expect(sumOf(scrape, 'messaging_process_duration_seconds_count', topic)).toBe(SCORED + 1);
    expect(sumOf(scrape, 'fraud_connector_scoring_decisions_total')).toBe(SCORED);
    expect(sumOf(scrape, 'fraud_connector_scoring_validations_total')).toBe(SCORED);
    expect(sumOf(scrape, 'fraud_connector_http_attempts_total', { ...flow, class: 'ok' })).toBe(SCORED);
  });

  test('agree with what the service has seen, and with what Kafka was given', () => {
    const service = { server_port: new URL(world.service.baseUrl).port };
    const requests = { ...service, http_request_method: 'POST', url_template: '/api/v2/transaction' };
    const { scoreRequests } = world.service.ledger().summary();
    expect(sumOf(scrape, 'http_client_request_duration_seconds_count', requests)).toBe(scoreRequests);
    const refused = { ...requests, http_response_status_code: '503', error_type: '503' };
    expect(sumOf(scrape, 'http_client_request_duration_seconds_count', refused)).toBe(scoreRequests - SCORED);
    expect(sumOf(scrape, 'http_client_active_requests')).toBe(0);
    const sent = (destination: string): number =>
      sumOf(scrape, 'messaging_client_sent_messages_total', {
        messaging_destination_name: destination,
        error_type: '',
      });
    const { created, scores, reviews } = world.topics;
    expect([sent(scores), sent(reviews), sent(world.letters(created))]).toEqual([SCORED, 1, 1]);
  });

  test('have webhooks by status and by what became of them', () => {
    expect(webhooks).toEqual([200, 401]);
    const served = (status: string): number =>
      sumOf(scrape, 'http_server_request_duration_seconds_count', { http_response_status_code: status });
    expect([served('200'), served('401')]).toEqual([1, 1]);
    expect(sumOf(scrape, 'fraud_connector_webhook_requests_total', { result: 'bad_signature' })).toBe(1);
  });

  test('tell of an outage, and when it is over that there was one', () => {
    const flow = { flow: 'scoring' };
    expect(sumOf(ill, 'fraud_connector_waiting_records', { ...flow, cause: 'service_down' })).toBeGreaterThan(20);
    expect(sumOf(ill, 'fraud_connector_hold', { cause: 'service_down', scope: 'scoring breaker' })).toBe(1);
    expect(sumOf(scrape, 'fraud_connector_breaker_state', flow)).toBe(0);
    expect(sumOf(scrape, 'fraud_connector_breaker_transitions_total', flow)).toBeGreaterThan(1);
    expect(sumOf(scrape, 'fraud_connector_hold')).toBe(0);
    expect(sumOf(scrape, 'fraud_connector_hold_seconds_count', { cause: 'service_down' })).toBeGreaterThan(0);
  });
});
