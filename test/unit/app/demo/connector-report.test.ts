import { describe, expect, test } from 'vitest';
import { CountsOverRestarts, lagByTopic, parseSamples } from '../../../../src/app/demo/connector-report.ts';

const METRICS = `# HELP fraud_connector_batches_total A batch.
# TYPE fraud_connector_batches_total counter
fraud_connector_batches_total{closed_by="age",status="200"} 7
fraud_connector_batches_total{closed_by="age",status="503"} 1
fraud_connector_batches_total{closed_by="records",status="200"} 2
fraud_connector_webhook_requests_total{result="published"} 5
fraud_connector_webhook_requests_total{result="duplicate"} 1
fraud_connector_webhook_requests_total{result="unavailable"} 3
process_cpu_seconds_total 0.5
not a sample at all
odd_total{text="a \\"quoted\\" } word"} NaN
`;

const at = (topic: string, lag: string) =>
  ({ topic, lag }) as NonNullable<Parameters<typeof lagByTopic>[0]>['partitions'][number];

describe('the text of /metrics', () => {
  test('becomes samples; what is none is passed over', () => {
    const samples = parseSamples(METRICS);
    expect(samples).toHaveLength(7);
    expect(samples[0]).toEqual({
      name: 'fraud_connector_batches_total',
      labels: { closed_by: 'age', status: '200' },
      value: 7,
    });
    expect(samples[6]).toEqual({ name: 'process_cpu_seconds_total', labels: {}, value: 0.5 });
  });
});

describe('counts over restarts', () => {
  test('are those of the one process, whatever the statuses', () => {
    const counts = new CountsOverRestarts();
    counts.read(0, parseSamples(METRICS));
    counts.read(0, parseSamples(METRICS));
    expect(counts.counts).toEqual({
      batchesClosedBy: { records: 2, bytes: 0, age: 8, stop: 0 },
      webhooksTaken: 6,
      webhooksRefused: 3,
    });
  });

  test('go on from where a killed process was', () => {
    const counts = new CountsOverRestarts();
    counts.read(0, parseSamples(METRICS));
    counts.read(1, []);
    expect(counts.counts.batchesClosedBy.age).toBe(8);
    counts.read(1, parseSamples(METRICS));
    counts.read(2, parseSamples(METRICS));
    expect(counts.counts.batchesClosedBy.age).toBe(24);
  });
});

describe('lag by topic', () => {
  test('is not known while the connector does not answer or owns nothing', () => {
    expect(lagByTopic(null)).toBeNull();
    expect(lagByTopic({ phase: 'running', holds: [], gates: [], partitions: [] })).toBeNull();
  });

  test('is the sum over partitions', () => {
    const partitions = [at('a', '1'), at('a', '20'), at('b', '3')];
    expect(lagByTopic({ phase: 'running', holds: [], gates: [], partitions })).toEqual({ a: 21, b: 3 });
  });
});
