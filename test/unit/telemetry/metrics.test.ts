import { describe, expect, test } from 'vitest';
import { type EngineStatus } from '../../../src/engine/ports.ts';
import { type EventName } from '../../../src/kernel/emit.ts';
import { EVENTS } from '../../../src/telemetry/events.ts';
import { Metrics } from '../../../src/telemetry/metrics.ts';
import { engineStatus } from '../../support/engine-status.ts';
import { ManualClock } from '../../support/manual-clock.ts';

function metrics(status: EngineStatus | null = null, ofProcess = false) {
  const clock = new ManualClock(1_700_000_000_000);
  let current = status;
  const made = new Metrics({ version: '1.2.3', clock, status: () => current, ofProcess });
  const lines = async (): Promise<string[]> => (await made.text()).split('\n').filter((line) => !line.startsWith('#'));
  return { made, clock, lines, becomes: (next: EngineStatus) => (current = next) };
}

describe('Metrics', () => {
  test('shows no sample of the engine where none runs', async () => {
    const { lines } = metrics();
    expect((await lines()).filter((line) => line.includes('records_total'))).toEqual([]);
  });

  test("shows the engine's counts as they are, also asked twice", async () => {
    const { lines, becomes } = metrics(
      engineStatus({ flow: { outcomes: { delivered: 7, 'skip:tombstone': 2, 'dead_letter:status_400': 1 } } }),
    );
    const expected = [
      'fraud_connector_records_total{flow="scoring",outcome="delivered",reason=""} 7',
      'fraud_connector_records_total{flow="scoring",outcome="skipped",reason="tombstone"} 2',
      'fraud_connector_records_total{flow="scoring",outcome="dlq",reason="status_400"} 1',
    ];
    expect(await lines()).toEqual(expect.arrayContaining(expected));
    expect(await lines()).toEqual(expect.arrayContaining(expected));
    becomes(engineStatus({ flow: { outcomes: { delivered: 8 } } }));
    expect((await lines()).filter((line) => line.includes('records_total'))).toEqual([
      'fraud_connector_records_total{flow="scoring",outcome="delivered",reason=""} 8',
    ]);
  });

  test('reckons lag, span and age of a partition, never below zero', async () => {
    const { lines, becomes } = metrics(
      engineStatus({
        partition: {
          next: 90n,
          committable: 60n,
          committed: 50n,
          highWatermark: 100n,
          oldestUnfinishedMs: 1_699_999_990_000,
        },
      }),
    );
    const labels = '{topic="payments.created",partition="0"}';
    expect(await lines()).toEqual(
      expect.arrayContaining([
        `fraud_connector_consumer_lag_records${labels} 50`,
        `fraud_connector_uncommitted_span_records${labels} 30`,
        `fraud_connector_oldest_uncommitted_age_seconds${labels} 10`,
      ]),
    );
    becomes(engineStatus({ partition: { committed: 5n, highWatermark: 4n, oldestUnfinishedMs: 1_800_000_000_000 } }));
    expect(await lines()).toEqual(
      expect.arrayContaining([
        `fraud_connector_consumer_lag_records${labels} 0`,
        `fraud_connector_oldest_uncommitted_age_seconds${labels} 0`,
      ]),
    );
  });

  test('forgets a partition that is given away', async () => {
    const { lines, becomes } = metrics(engineStatus());
    await lines();
    becomes({ ...engineStatus(), partitions: [] });
    expect((await lines()).filter((line) => line.includes('payments.created'))).toEqual([]);
  });

  test('counts events under their labels and keeps distributions', async () => {
    const { made, lines } = metrics();
    made.emit('batch_sent', { closedBy: 'age', records: 40, bytes: 9000, status: 200 });
    made.emit('batch_sent', { closedBy: 'age', records: 40, bytes: 9000, status: 200 });
    made.emit('hold_ended', { cause: 'kafka', scope: 'sync', afterMs: 1500 });
    expect(await lines()).toEqual(
      expect.arrayContaining([
        'fraud_connector_batches_total{closed_by="age",status="200"} 2',
        'fraud_connector_batch_size_bucket{le="20",closed_by="age"} 0',
        'fraud_connector_batch_size_bucket{le="50",closed_by="age"} 2',
        'fraud_connector_hold_seconds_sum{cause="kafka"} 1.5',
      ]),
    );
  });

  test('shows a hold while it lasts', async () => {
    const { made, lines } = metrics();
    made.emit('hold_started', { cause: 'service_down', scope: 'scoring', error: '' });
    expect(await lines()).toContain('fraud_connector_hold{cause="service_down",scope="scoring"} 1');
    made.emit('hold_ended', { cause: 'service_down', scope: 'scoring', afterMs: 5 });
    expect(await lines()).toContain('fraud_connector_hold{cause="service_down",scope="scoring"} 0');
  });

  test('tells the version and what the process needs', async () => {
    const { lines } = metrics(null, true);
    const text = (await lines()).join('\n');
    expect(text).toContain('fraud_connector_build_info{version="1.2.3"} 1');
    expect(text).toContain('process_cpu_seconds_total');
  });

  test('two processes in one test do not share a registry', () => {
    expect(() => [metrics(), metrics()]).not.toThrow();
  });
});

test('no free text and no identifier is a label', () => {
  const free = ['error', 'message', 'from', 'to', 'signal', 'version'];
  for (const name of Object.keys(EVENTS) as EventName[]) {
    const { counter, histogram } = EVENTS[name];
    for (const label of [...(counter?.labels ?? []), ...(histogram?.labels ?? [])]) expect(free).not.toContain(label);
  }
});
