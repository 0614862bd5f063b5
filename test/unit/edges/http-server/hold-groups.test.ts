import { expect, test } from 'vitest';
import { holdGroups } from '../../../../src/edges/http-server/hold-groups.ts';
import { type FlowReport, type HoldReport } from '../../../../src/telemetry/ports.ts';
import { healthReport } from '../../../support/health-report.ts';

const hold = (
  scope: string,
  cause: HoldReport['cause'],
  ageMs: number,
  { records = null, error = null, position = null, partial = false }: Partial<HoldReport> = {},
): HoldReport => ({
  scope,
  cause,
  records,
  ageMs,
  error,
  position,
  partial,
  means: `${cause} means`,
  mend: `mend ${cause}`,
});
const flow = (name: string, waits: readonly HoldReport[] = []): FlowReport => ({
  name,
  ready: false,
  outcomes: {},
  inFlight: 0,
  buffered: 0,
  bufferedBytes: 0,
  heldKeys: 0,
  waits,
});

test('is nothing where nothing holds', () => {
  expect(holdGroups(healthReport())).toEqual([]);
});

test('names a flow and its gate once, with the longer wait and its records', () => {
  const flows = [
    flow('scoring', [
      hold('scoring', 'service_down', 61_000, { records: 635, error: 'timeout', position: 'payments.created:1:7' }),
    ]),
    flow('sync'),
  ];
  const holds = [
    hold('scoring breaker', 'service_down', 57_000, { error: 'status_503', position: 'payments.created:1:2' }),
    hold('sync', 'service_down', 58_000),
    hold('sync breaker', 'service_down', 57_500, { error: 'connect', position: 'payments.authorized:0:9' }),
    hold('scoring', 'service_down', 59_000),
  ];
  expect(holdGroups(healthReport({ flows, holds }))).toEqual([
    {
      cause: 'service_down',
      means: 'service_down means',
      mend: 'mend service_down',
      ageMs: 59_000,
      partial: false,
      waiting: [
        { scope: 'scoring', ageMs: 59_000, records: 635, error: 'timeout', position: 'payments.created:1:7' },
        { scope: 'sync', ageMs: 58_000, records: null, error: 'connect', position: 'payments.authorized:0:9' },
      ],
    },
  ]);
});

test('keeps causes apart, the oldest first, and scopes that are no flows', () => {
  const holds = [hold('start', 'registry', 1000), hold('brokers', 'kafka', 9000)];
  expect(
    holdGroups(healthReport({ flows: [], holds })).map(({ cause, waiting }) => [cause, waiting[0]?.scope]),
  ).toEqual([
    ['kafka', 'brokers'],
    ['registry', 'start'],
  ]);
});
