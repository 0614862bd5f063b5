import { expect, test } from 'vitest';
import { headlineOf } from '../../../../src/edges/http-server/headline.ts';
import { type HealthReport, type HoldReport } from '../../../../src/telemetry/ports.ts';
import { healthReport } from '../../../support/health-report.ts';

const hold = (cause: HoldReport['cause'], ageMs: number): HoldReport => ({
  scope: 'scoring',
  cause,
  records: null,
  ageMs,
  error: null,
  position: null,
  partial: false,
  means: '',
  mend: '',
});
const holds = [hold('start_position', 2000), hold('kafka', 90_000)];
const partial: HoldReport = { ...hold('record_failing', 61_000), partial: true };
const [gate] = healthReport().gates;
const [partition] = healthReport().partitions;
const paused = gate === undefined ? [] : [{ ...gate, pausedForMs: 500 }];
const old = partition === undefined ? [] : [{ ...partition, oldestUnfinishedAgeMs: 10_000, lag: '123456' }];

test.each<[string, Partial<HealthReport>, string, string]>([
  ['failed, whatever else', { live: false, phase: 'failed', holds }, 'ill', 'failed'],
  ['stopping, before what it holds', { phase: 'stopping', holds }, 'wait', 'stopping'],
  ['held, also while it starts', { phase: 'starting', ready: false, holds }, 'ill', 'held'],
  ['held by more than a single record', { holds: [partial, ...holds] }, 'ill', 'held'],
  ['held for single records alone', { holds: [partial] }, 'wait', 'some wait'],
  ['starting, though a record fails', { phase: 'starting', ready: false, holds: [partial] }, 'wait', 'starting'],
  ['kept back, though a record fails', { gates: paused, holds: [partial] }, 'wait', 'kept back'],
  ['starting', { phase: 'starting', ready: false }, 'wait', 'starting'],
  ['joining', { engine: 'joining' }, 'wait', 'joining'],
  ['not joined yet', { ready: false }, 'wait', 'joining'],
  ['kept back by the service', { gates: paused }, 'wait', 'kept back'],
  ['behind', { partitions: old }, 'wait', 'behind'],
  ['well', {}, 'well', 'well'],
  ['well without an engine', { engine: null, flows: [], partitions: [], gates: [] }, 'well', 'well'],
])('says that it is %s', (_name, over, tone, word) => {
  expect(headlineOf(healthReport(over))).toMatchObject({ tone, word });
});

test('names the oldest hold, and how many others there are', () => {
  expect(headlineOf(healthReport({ holds })).says).toBe(
    'kafka for 90.0 s: scoring, and 1 other cause. Nothing is lost meanwhile.',
  );
});

test('says of single records that wait that all others go on', () => {
  expect(headlineOf(healthReport({ holds: [partial] })).says).toBe(
    'record_failing for 61.0 s: scoring. Other records go on; nothing is lost meanwhile.',
  );
});

test('tells how far it is behind', () => {
  expect(headlineOf(healthReport({ partitions: old })).says).toContain('10.0 s old, 123,456 are not committed');
});
