import { describe, expect, test } from 'vitest';
import { type EngineStatus } from '../../../src/engine/ports.ts';
import { BucketCounts } from '../../../src/kernel/bucket-counts.ts';
import { ExchangeCounts } from '../../../src/kernel/exchange-counts.ts';
import { type GateReport } from '../../../src/resilience/ports.ts';
import { Metrics } from '../../../src/telemetry/metrics.ts';
import { type Running } from '../../../src/telemetry/running.ts';
import { engineStatus } from '../../support/engine-status.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { running } from '../../support/running.ts';

const NOW_MS = 1_700_000_000_000;

function metrics(over: Partial<Running> = {}, ofProcess = false) {
  const clock = new ManualClock(NOW_MS);
  let current = running(over);
  const made = new Metrics({
    version: '1.2.3',
    configHash: '0123456789ab',
    clock,
    running: () => current,
    webhookPath: '/webhooks/fraud',
    ofProcess,
  });
  const lines = async (): Promise<string[]> => (await made.text()).split('\n').filter((line) => !line.startsWith('#'));
  return {
    made,
    clock,
    lines,
    linesOf: async (name: string) => (await lines()).filter((line) => line.startsWith(name)),
    becomes: (engine: EngineStatus) => {
      current = running({ engine });
    },
  };
}

const gate: GateReport = {
  scope: 'scoring',
  breaker: { state: 'closed', why: null, sinceMs: 0, probeAtMs: null },
  breakerChanges: 0,
  guard: { state: 'permitting', sinceMs: 0, untilMs: null, budget: 40 },
  pausedUntilMs: null,
  limit: 64,
  calls: { ok: 0, refused: 0, failed: 0, no_session: 0, void: 0 },
};

describe('metrics of the engine', () => {
  test('have no sample where none runs', async () => {
    const { linesOf } = metrics();
    expect(await linesOf('fraud_connector_records_total')).toEqual([]);
    expect(await linesOf('messaging_client_consumed')).toEqual([]);
  });

  test('show its counts as they are, also asked twice', async () => {
    const { lines, linesOf, becomes } = metrics({
      engine: engineStatus({ flow: { outcomes: { delivered: 7, 'skip:tombstone': 2, 'dead_letter:status_400': 1 } } }),
    });
    const expected = [
      'fraud_connector_records_total{flow="scoring",outcome="delivered",reason=""} 7',
      'fraud_connector_records_total{flow="scoring",outcome="skipped",reason="tombstone"} 2',
      'fraud_connector_records_total{flow="scoring",outcome="dlq",reason="status_400"} 1',
    ];
    expect(await lines()).toEqual(expect.arrayContaining(expected));
    expect(await lines()).toEqual(expect.arrayContaining(expected));
    becomes(engineStatus({ flow: { outcomes: { delivered: 8 } } }));
    expect(await linesOf('fraud_connector_records_total')).toEqual([
      'fraud_connector_records_total{flow="scoring",outcome="delivered",reason=""} 8',
    ]);
  });

  test('reckon lag, span and age of a partition, never below zero', async () => {
    const { lines, becomes } = metrics({
      engine: engineStatus({
        partition: {
          next: 90n,
          committable: 60n,
          committed: 50n,
          highWatermark: 100n,
          oldestUnfinishedMs: NOW_MS - 10_000,
        },
      }),
    });
    const labels = '{topic="payments.created",partition="0"}';
    expect(await lines()).toEqual(
      expect.arrayContaining([
        `fraud_connector_consumer_lag_records${labels} 50`,
        `fraud_connector_uncommitted_span_records${labels} 30`,
        `fraud_connector_oldest_uncommitted_age_seconds${labels} 10`,
        `fraud_connector_watermark_lag_seconds${labels} 10`,
      ]),
    );
    becomes(engineStatus({ partition: { committed: 5n, highWatermark: 4n, oldestUnfinishedMs: 1_800_000_000_000 } }));
    expect(await lines()).toEqual(
      expect.arrayContaining([
        `fraud_connector_consumer_lag_records${labels} 0`,
        `fraud_connector_oldest_uncommitted_age_seconds${labels} 0`,
        `fraud_connector_watermark_lag_seconds${labels} 0`,
      ]),
    );
  });

  test.each([
    ['nothing is left', { next: 9n, highWatermark: 9n, lastReadMs: 1 }, [' 0']],
    ['unread records are left', { next: 5n, highWatermark: 9n, lastReadMs: NOW_MS - 4000 }, [' 4']],
    ['nothing was read yet of what there is', { next: 0n, highWatermark: 9n }, []],
  ])('tell how far behind the clock a partition is where %s', async (_, partition, ends) => {
    const { linesOf } = metrics({ engine: engineStatus({ partition }) });
    const found = await linesOf('fraud_connector_watermark_lag_seconds');
    expect(found).toHaveLength(ends.length);
    for (const end of ends) expect(found[0]?.endsWith(end)).toBe(true);
  });

  test('forget a partition that is given away', async () => {
    const { lines, becomes } = metrics({ engine: engineStatus() });
    await lines();
    becomes({ ...engineStatus(), partitions: [] });
    expect((await lines()).filter((line) => line.includes('partition="'))).toEqual([]);
  });

  test('tell how long commits are overdue, and how they ended', async () => {
    const ok = new BucketCounts([1]);
    ok.add(0.5);
    const { clock, linesOf, becomes } = metrics();
    clock.advance(5000);
    const unsavedSinceMs = clock.monotonicMs() - 3000;
    becomes({ ...engineStatus({ flow: { unsavedSinceMs } }), commits: { ok, failed: new BucketCounts([1]) } });
    expect(await linesOf('fraud_connector_commit')).toEqual([
      'fraud_connector_commits_total{result="ok"} 1',
      'fraud_connector_commits_total{result="failed"} 0',
      'fraud_connector_commit_age_seconds{flow="scoring"} 3',
      'fraud_connector_commit_failures_total 0',
    ]);
  });
});

describe('metrics of what the flows call', () => {
  test.each([
    ['closed', 0],
    ['half_open', 1],
    ['open', 2],
  ] as const)('say that the breaker is %s by %d', async (state, value) => {
    const { linesOf } = metrics({ gates: [{ ...gate, breaker: { ...gate.breaker, state } }] });
    expect(await linesOf('fraud_connector_breaker_state')).toEqual([
      `fraud_connector_breaker_state{flow="scoring"} ${String(value)}`,
    ]);
  });

  test('show a pause only while it lasts', async () => {
    const { clock, linesOf } = metrics({ gates: [{ ...gate, pausedUntilMs: 4000 }] });
    const before = clock.monotonicMs();
    expect(await linesOf('fraud_connector_service_pause')).toEqual([
      `fraud_connector_service_pause_seconds{flow="scoring"} ${String(Math.max(0, 4000 - before) / 1000)}`,
    ]);
    clock.advance(10_000);
    expect(await linesOf('fraud_connector_service_pause')).toEqual([
      'fraud_connector_service_pause_seconds{flow="scoring"} 0',
    ]);
  });

  test('have requests by how they ended, an answer that is an error as such, and none of the user info of a URL', async () => {
    const counts = new ExchangeCounts({
      method: 'POST',
      template: '/api/v2/transaction',
      origin: 'https://user:secret@screening.example:8443',
    });
    for (const end of [200, 503, 'timeout']) counts.ended(end, 80);
    const { linesOf, made } = metrics({ service: [counts.report()] });
    const server =
      'http_request_method="POST",url_template="/api/v2/transaction",server_address="screening.example",server_port="8443"';
    expect(await linesOf('http_client_request_duration_seconds_count')).toEqual([
      `http_client_request_duration_seconds_count{${server},http_response_status_code="200",error_type=""} 1`,
      `http_client_request_duration_seconds_count{${server},http_response_status_code="503",error_type="503"} 1`,
      `http_client_request_duration_seconds_count{${server},http_response_status_code="",error_type="timeout"} 1`,
    ]);
    expect(await made.text()).not.toContain('secret@');
  });

  test('sort requests to the registry into few results', async () => {
    const counts = new ExchangeCounts({ method: 'GET', template: '/schemas/ids/{id}', origin: 'http://registry' });
    for (const end of [200, 404, 401, 500, 429, 'ECONNREFUSED']) counts.ended(end, 1);
    const { linesOf } = metrics({ registry: [counts.report()] });
    expect(await linesOf('fraud_connector_schema_registry_requests_total')).toEqual([
      'fraud_connector_schema_registry_requests_total{result="ok"} 1',
      'fraud_connector_schema_registry_requests_total{result="not_found"} 1',
      'fraud_connector_schema_registry_requests_total{result="refused"} 1',
      'fraud_connector_schema_registry_requests_total{result="failed"} 3',
    ]);
  });

  test('have no age of a token where there is none', async () => {
    const { linesOf } = metrics({ session: { sinceMs: null, expiresAtMs: null, youngRefused: 2 } });
    expect(await linesOf('fraud_connector_session')).toEqual(['fraud_connector_session_young_tokens_refused 2']);
  });

  test('tell the age of a token and when it ends', async () => {
    const { clock, linesOf } = metrics({ session: { sinceMs: 0, expiresAtMs: 60_000, youngRefused: 0 } });
    clock.advance(10_000 - clock.monotonicMs());
    expect(await linesOf('fraud_connector_session_token')).toEqual([
      'fraud_connector_session_token_age_seconds 10',
      'fraud_connector_session_token_expires_in_seconds 50',
    ]);
  });
});

describe('metrics of events', () => {
  test('count them under their labels and keep distributions', async () => {
    const { made, lines } = metrics();
    const batch = { closedBy: 'age', records: 40, bytes: 9000, status: 200, fill: 0.4, lingerMs: 500 } as const;
    made.emit('batch_sent', batch);
    made.emit('batch_sent', batch);
    made.emit('hold_ended', { cause: 'kafka', scope: 'sync', afterMs: 1500 });
    expect(await lines()).toEqual(
      expect.arrayContaining([
        'fraud_connector_batches_total{closed_by="age",status="200"} 2',
        'fraud_connector_batch_size_bucket{closed_by="age",le="20"} 0',
        'fraud_connector_batch_size_bucket{closed_by="age",le="50"} 2',
        'fraud_connector_batch_linger_seconds_sum{closed_by="age"} 1',
        'fraud_connector_hold_seconds_sum{cause="kafka"} 1.5',
      ]),
    );
  });

  test('are 0 before the first event, where there are no labels', async () => {
    expect(await metrics().linesOf('fraud_connector_rebalances_total')).toEqual(['fraud_connector_rebalances_total 0']);
  });

  test('add up what an event carries, as a number or as digits', async () => {
    const { made, linesOf } = metrics();
    const gap = { topic: 'payments.created', partition: 3, why: 'expired', from: '5', to: '12', missing: '7' } as const;
    made.emit('offset_gap', gap);
    made.emit('offset_gap', { ...gap, partition: 4, missing: '1' });
    expect(await linesOf('fraud_connector_offset_gap')).toEqual([
      'fraud_connector_offset_gaps_total{topic="payments.created",why="expired"} 2',
      'fraud_connector_offset_gap_records_total{topic="payments.created",why="expired"} 8',
    ]);
  });

  test('show a hold while it lasts', async () => {
    const { made, lines } = metrics();
    made.emit('hold_started', { cause: 'service_down', scope: 'scoring', error: '' });
    expect(await lines()).toContain('fraud_connector_hold{cause="service_down",scope="scoring"} 1');
    made.emit('hold_ended', { cause: 'service_down', scope: 'scoring', afterMs: 5 });
    expect(await lines()).toContain('fraud_connector_hold{cause="service_down",scope="scoring"} 0');
  });

  test('have webhooks by status, and those that are worked on', async () => {
    const { made, linesOf } = metrics();
    const { promise, resolve } = Promise.withResolvers<number>();
    const served = made.serving(promise);
    made.emit('webhook', { result: 'published', status: 200, afterMs: 4 });
    const route = 'http_route="/webhooks/fraud",http_request_method="POST"';
    expect(await linesOf('http_server_active_requests')).toEqual([`http_server_active_requests{${route}} 1`]);
    resolve(5);
    expect(await served).toBe(5);
    expect(await linesOf('http_server_active_requests')).toEqual([`http_server_active_requests{${route}} 0`]);
    expect(await linesOf('http_server_request_duration_seconds_sum')).toEqual([
      `http_server_request_duration_seconds_sum{${route},http_response_status_code="200"} 0.004`,
    ]);
  });

  test('end the count of a webhook whose answer fails', async () => {
    const { made, linesOf } = metrics();
    await expect(made.serving(Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect((await linesOf('http_server_active_requests'))[0]?.endsWith(' 0')).toBe(true);
  });
});

test('the version, the configuration and what the process needs are told', async () => {
  const text = (await metrics({}, true).lines()).join('\n');
  expect(text).toContain('fraud_connector_build_info{version="1.2.3",config_hash="0123456789ab"} 1');
  expect(text).toContain('process_cpu_seconds_total');
});

test('two processes in one test do not share a registry', () => {
  expect(() => [metrics({}, true), metrics({}, true)]).not.toThrow();
});

test('what may have been done twice is told for each flow that runs', async () => {
  const scores = { decisions: {}, validations: {}, repeated: 3 };
  expect(await metrics({ scores, updatesMaybeSent: 5 }).linesOf('fraud_connector_duplicates_suspected')).toEqual([
    'fraud_connector_duplicates_suspected_total{flow="scoring"} 3',
    'fraud_connector_duplicates_suspected_total{flow="sync"} 5',
  ]);
  expect(await metrics({ scores }).linesOf('fraud_connector_duplicates_suspected')).toHaveLength(1);
});
