import { describe, expect, test } from 'vitest';
import { escaped, timelineSvg, type TimelineParts } from '../../chaos/timeline.ts';

const ORIGIN_MS = 1_000_000;

const parts = (changes: Partial<TimelineParts> = {}): TimelineParts => ({
  span: { startedMs: 1000, calmMs: 41_000, endMs: 61_000 },
  strokes: [{ target: 'connector 2', what: 'kill', fromMs: 5000, toMs: 9000 }],
  log: [],
  samples: [
    { atMs: 2000, lag: 10 },
    { atMs: 3000, lag: null },
    { atMs: 4000, lag: 30 },
  ],
  sightings: [
    { kind: 'score', owner: '1.1', transId: 'a', key: 'k', startedMs: 1100, endedMs: 1150, status: 200 },
    { kind: 'score', owner: '1.1', transId: 'b', key: 'k', startedMs: 1200, endedMs: 1250, status: 503 },
  ],
  ends: [],
  originMs: ORIGIN_MS,
  ...changes,
});

const line = (owner: string, event: string, atMs: number): TimelineParts['log'][number] => ({
  owner,
  event,
  time: ORIGIN_MS + atMs,
  fields: { cause: 'kafka' },
});

describe('the timeline', () => {
  test('has a bar for what was done, with who, what and how long', () => {
    expect(timelineSvg(parts())).toContain('<title>connector 2: kill, 4.0 s</title>');
  });

  test('draws what lasts to the end', () => {
    const strokes = [{ target: 'service', what: 'unavailable', fromMs: 51_000, toMs: null }];
    expect(timelineSvg(parts({ strokes }))).toContain('<title>service: unavailable, 10.0 s</title>');
  });

  test('has a bar for each hold of each connector, which ends with its life', () => {
    const log = [
      line('1.1', 'hold_started', 5000),
      line('1.1', 'hold_ended', 7500),
      line('2.1', 'hold_started', 6000),
      line('2.2', 'starting', 9000),
      line('3.1', 'hold_started', 51_000),
    ];
    const svg = timelineSvg(parts({ log }));
    for (const title of ['hold kafka: 1.1, 2.5 s', 'hold kafka: 2.1, 3.0 s', 'hold kafka: 3.1, 10.0 s'])
      expect(svg).toContain(`<title>${title}</title>`);
  });

  test('says where a connector ended by itself', () => {
    const ends = [{ owner: '3.2', how: 'crash', atMs: 8000, code: 1 }] as const;
    expect(timelineSvg(parts({ ends }))).toContain('connector 3: ended by itself');
  });

  test('counts what was answered with 200, and leaves out what Kafka did not say', () => {
    const svg = timelineSvg(parts());
    expect(svg).toContain('at most 1<');
    expect(svg).toContain('at most 30<');
    expect(svg.match(/class="line lag"/g)).toHaveLength(1);
  });
});

test('texts are escaped', () => {
  expect(escaped('<a & "b">')).toBe('&lt;a &amp; &quot;b&quot;&gt;');
});
