import { describe, expect, test } from 'vitest';
import { statusPage } from '../../../../src/edges/http-server/status-page.ts';
import { type HealthReport, type HoldReport } from '../../../../src/telemetry/ports.ts';
import { healthReport } from '../../../support/health-report.ts';

const hold: HoldReport = {
  scope: 'scoring',
  cause: 'service_down',
  records: null,
  ageMs: 61_000,
  error: null,
  position: null,
  partial: false,
  means: 'It does not answer.',
  mend: 'Look at it.',
};

const EVIL = '"&\'</td><script>';
const partitions = (count: number, topic = 'payments.created'): HealthReport['partitions'] =>
  healthReport().partitions.flatMap((one) =>
    Array.from({ length: count }, (_, partition) => Object.assign({}, one, { partition, topic })),
  );

test('lets no text become markup', () => {
  const page = statusPage(
    healthReport({
      account: EVIL,
      version: EVIL,
      holds: [{ ...hold, scope: EVIL, error: EVIL, means: EVIL, mend: EVIL }],
      partitions: partitions(1, EVIL),
    }),
  );
  expect(page).not.toContain('<script');
  expect(page).toContain('&quot;&amp;&#39;&lt;/td&gt;&lt;script&gt;');
});

test('loads nothing and runs nothing', () => {
  const page = statusPage(healthReport({ holds: [hold], partitions: partitions(100) }), { everySeconds: 5 });
  expect(page).not.toMatch(/<script|<link|<img|<form|url\(|@import|https?:|\son\w+=/);
});

test('asks for itself again only when it is asked to', () => {
  expect(statusPage(healthReport())).not.toContain('http-equiv="refresh"');
  expect(statusPage(healthReport(), { everySeconds: 5 })).toContain('<meta http-equiv="refresh" content="5">');
});

describe('shows', () => {
  test('what waits, how many, for how long and what to do before all tables', () => {
    const [flow] = healthReport().flows;
    const flows = flow === undefined ? [] : [{ ...flow, waits: [{ ...hold, records: 40 }] }];
    const page = statusPage(healthReport({ holds: [hold], flows }));
    expect(page).toContain('scoring for 61.0 s (40 records)<');
    expect(page.indexOf('Look at it.')).toBeLessThan(page.indexOf('<table'));
  });

  test('what went wrong, where it has a name', () => {
    const error = 'KafkaJSConnectionError ECONNREFUSED';
    expect(statusPage(healthReport({ holds: [{ ...hold, error }] }))).toContain(`scoring for 61.0 s: ${error}<`);
  });

  test('at which position a record failed last', () => {
    const position = 'payments.created:3:41';
    const page = statusPage(healthReport({ holds: [{ ...hold, position, error: 'status_403' }] }));
    expect(page).toContain(`scoring for 61.0 s: status_403 at ${position}<`);
  });

  test('what a kill would do a second time', () => {
    expect(statusPage(healthReport())).toMatch(
      /killed now.*<td>scoring<\/td><td>7<\/td><td>3<\/td><td>0<\/td><td>4<\/td>/s,
    );
  });

  test('webhooks that were taken, and those that were not with their reasons, where webhooks come', () => {
    const reviews = {
      ready: false,
      accepted: 9,
      published: 6,
      duplicate: 2,
      parked: 1,
      unavailable: 4,
      refused: { bad_signature: 3, too_slow: 1200 },
    };
    const page = statusPage(healthReport({ reviews }));
    expect(page).toContain('Webhooks since the start');
    expect(page).toMatch(
      /reviews<\/td><td class="tone ill">no<\/td><td>9<\/td><td>6<\/td><td>2<\/td><td>1<\/td><td class="tone wait">4<\/td>/,
    );
    expect(page).toMatch(/bad_signature 3, too_slow 1.200/);
    expect(statusPage(healthReport())).not.toContain('Webhooks since');
  });

  test('letters with their reasons', () => {
    const flows = healthReport().flows.map((flow) => Object.assign(flow, { outcomes: { 'dead_letter:card_data': 2 } }));
    expect(statusPage(healthReport({ flows }))).toContain('2 (card_data 2)');
  });

  test('a breaker that is open, and when it is tried', () => {
    const breaker = { state: 'half_open', why: 'service_down', forMs: 5000, probeInMs: 1500 } as const;
    const gates = healthReport().gates.map((gate) => Object.assign(gate, { breaker }));
    expect(statusPage(healthReport({ gates }))).toMatch(
      /ill">half open<\/td><td>service_down<\/td><td>5\.0 s<\/td><td>1\.5 s/,
    );
  });

  test('a few partitions openly, many folded, and the sum of each topic always', () => {
    expect(statusPage(healthReport({ partitions: partitions(24) }))).not.toContain('<details');
    const many = statusPage(healthReport({ partitions: partitions(25) }));
    expect(many).toContain('<summary>25 partitions</summary>');
    expect(many).toContain('<td>payments.created</td><td>25</td><td>200</td>');
  });

  test('why a partition is not read', () => {
    const [one] = partitions(1);
    const paused = Object.assign({}, one, { paused: true, pauses: ['dead_letters', 'span_full'] });
    expect(statusPage(healthReport({ partitions: [paused] }))).toContain('>no: dead_letters, span_full</td>');
  });

  test('a process without flows, partitions and gates as a whole page', () => {
    const page = statusPage(healthReport({ engine: null, flows: [], gates: [], partitions: [], duplicateBound: [] }));
    expect(page).not.toContain('<table');
    expect(page).toMatch(/<\/main><\/body>\n<\/html>\n$/);
  });
});
