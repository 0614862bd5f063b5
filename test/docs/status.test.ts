import { expect, test } from 'vitest';
import { Gate } from '../../src/resilience/gate.ts';
import { Health } from '../../src/telemetry/health.ts';
import { type HealthReport } from '../../src/telemetry/ports.ts';
import { buildAttribution } from '../support/attribution-builder.ts';
import { engineStatus } from '../support/engine-status.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { documentedFields, placesIn } from './status-fields.ts';

const emit = (): void => undefined;

/** A report in which every list has something. */
function wholeReport(): HealthReport {
  const waits = [{ cause: 'registry', records: 4, sinceMs: 0, error: 'timeout', position: null }] as const;
  const clock = new ManualClock();
  const gate = new Gate({ scope: 'scoring', attribution: buildAttribution(), bucket: null, clock, emit });
  const health = new Health({
    version: '1.2.3',
    account: 'shop',
    flows: new Set(['scoring', 'reviews']),
    clock,
    status: () => engineStatus({ flow: { waits, outcomes: { delivered: 1 } }, partition: { pauses: ['map_full'] } }),
    gates: () => [gate.report()],
  });
  health.emit('hold_started', { cause: 'kafka', scope: 'group', error: '' });
  health.emit('webhook', { result: 'bad_signature', status: 401, afterMs: 1 });
  return JSON.parse(JSON.stringify(health.status())) as HealthReport;
}

test('docs/status.md explains every field of a report, in its order, and no other', () => {
  const report = wholeReport();
  expect(report.holds).toHaveLength(1);
  expect(documentedFields()).toEqual(placesIn(report));
});

test('places are told whatever is in the lists', () => {
  expect(placesIn({ a: [{ b: 1 }, { b: null, c: { d: 'x' } }], flows: [{ outcomes: { delivered: 1 } }] })).toEqual([
    'a[].b',
    'a[].c.d',
    'flows[].outcomes.*',
  ]);
});
