import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Moment } from '../../../../src/app/demo/moment.ts';
import { view } from '../../../../src/app/demo/view.ts';
import { HOLDS } from '../../../../src/kernel/outcome.ts';
import { emptyMoment, sceneOf } from './scenes.ts';

const SIZE = { columns: 80, rows: 24 };
const textOf = (moment: Partial<Moment>, change = {}, size = SIZE): string =>
  view(sceneOf(emptyMoment(moment), change), size, false).join('\n');
// oxlint-disable-next-line no-control-regex
const bare = (line: string): string => line.replaceAll(/\u001B\[[\d;]*m/g, '');

const hold = (scope: string, ageMs: number): Moment['holds'][number] => ({
  scope,
  cause: 'service_down',
  records: 3,
  error: null,
  position: null,
  partial: false,
  ageMs,
  ...HOLDS.service_down,
});

describe('the picture of a demo', () => {
  test('shows dashes, not zeros or NaN, for what is not known', () => {
    const text = textOf({ connector: { pid: null, kills: 2, phase: null } });
    expect(text).not.toMatch(/NaN|undefined|null|Infinity/);
    expect(text).toContain('not running, killed 2 times');
    expect(text).toContain('lag -');
    expect(text).toContain('latency   -');
    expect(text).toContain('the connector does not answer');
  });

  test('fits 80 columns and 24 rows with everything in it', () => {
    const lines = view(sceneOf(emptyMoment(), { news: ['one', 'two'] }), SIZE, false);
    expect(lines).toHaveLength(24);
    const text = lines.join('\n');
    for (const part of [
      'payments.created',
      'fraud.reviews',
      'latency',
      'batches',
      'holds',
      '/status',
      'connector.log',
      'poison record',
      '▶ two',
    ])
      expect(text).toContain(part);
  });

  test('names each cause of a hold once, with the longest age and who waits, and the state of breakers', () => {
    const text = textOf(
      {
        holds: [hold('sync', 2_000), hold('scoring', 61_000)],
        gates: [
          {
            flow: 'scoring',
            breaker: { state: 'half_open', why: 'service_down', forMs: 1, probeInMs: 2_000 },
            deadLetterGuard: { state: 'blocking', forMs: 1, permitsInMs: 299_999, budget: 0 },
            pausedForMs: null,
            concurrencyLimit: null,
          },
        ],
      },
      { illForMs: 4_000 },
      { columns: 110, rows: 30 },
    );
    expect(text).toContain('service_down for 1 min 1 s (scoring, sync)');
    expect(text).toContain('breaker half open, probe in 2 s, dead letters blocked');
    expect(text).toContain('answers 503 for 4 s more');
  });

  test('shows all counts of decisions next to their bar', () => {
    const decisions = { approve: 1_420, manual_review: 120, decline: 56, custom: 4 };
    for (const columns of [80, 96, 100, 110, 200]) {
      const line =
        textOf({ decisions }, {}, { columns, rows: 30 })
          .split('\n')
          .find((each) => each.includes('decisions')) ?? '';
      expect(line).toMatch(/ ██+▓+▒+░ █ approve 1,420 ▓ review 120 ▒ decline 56 ░ custom 4$/);
    }
  });

  test('leaves out what matters least where there are few rows, never the flow or the keys', () => {
    const text = textOf({}, {}, { columns: 80, rows: 8 });
    expect(text.split('\n')).toHaveLength(8);
    expect(text).toContain('payments.authorized');
    expect(text).toContain('poison record');
    expect(text).not.toContain('connector.log');
  });

  test('shows topics without the prefix that they have on somebody’s own Kafka, and the prefix once', () => {
    const topics = {
      prefix: 'fraud-demo-x.',
      created: 'fraud-demo-x.payments.created',
      authorized: 'fraud-demo-x.payments.authorized',
      reviews: 'fraud-demo-x.fraud.reviews',
      scores: null,
    };
    const text = textOf(
      { lagByTopic: { 'fraud-demo-x.payments.created': 7 } },
      { places: { ...sceneOf(emptyMoment()).places, topics } },
      { columns: 110, rows: 30 },
    );
    expect(text.split('fraud-demo-x.')).toHaveLength(2);
    expect(text).toMatch(/ payments\.created .*lag 7/);
  });

  test('writes no colour where none is wanted', () => {
    expect(view(sceneOf(emptyMoment()), SIZE, false).join('')).not.toContain('\u001B');
    expect(view(sceneOf(emptyMoment()), SIZE, true).join('')).toContain('\u001B[32m');
  });

  test('the last picture has no keys', () => {
    expect(textOf({}, { last: true })).not.toContain('kill -9');
  });

  const count = fc.oneof(fc.nat(), fc.constantFrom(0, 1e6, 1e9, 1e15, Number.MAX_SAFE_INTEGER));
  test('no line is wider than the screen and none holds a control or a wide character', () => {
    const given = fc.record({
      columns: fc.nat(140),
      rows: fc.nat(40),
      many: count,
      colour: fc.boolean(),
      news: fc.array(fc.string({ unit: 'grapheme' })),
      numbers: fc.array(fc.double()),
      rate: fc.double(),
    });
    fc.assert(
      fc.property(given, ({ columns, rows, many, colour, news, numbers, rate }) => {
        const moment = emptyMoment({
          created: many,
          doubled: many,
          letters: many,
          lagByTopic: { 'payments.created': many },
          latencyMs: { p50: many, p99: many, count: 1 },
          decisions: { approve: many, decline: 1, manual_review: 0, custom: many },
          connector: { pid: many, kills: many, phase: 'running' },
        });
        const scene = sceneOf(moment, { news, series: () => numbers, rate: () => rate, forMs: many });
        const lines = view(scene, { columns, rows }, colour);
        expect(lines.length).toBeLessThanOrEqual(Math.max(1, rows));
        for (const line of lines.map(bare)) {
          expect(line.length).toBeLessThanOrEqual(Math.min(columns, 110));
          expect(line).not.toMatch(/[\p{Cc}\p{Cs}\p{Mn}\p{Emoji_Presentation}\p{Script=Han}]/u);
        }
      }),
    );
  });
});
