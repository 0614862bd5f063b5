import { describe, expect, test } from 'vitest';
import { type EventName } from '../../../src/kernel/emit.ts';
import { LETTERS, SKIPS } from '../../../src/kernel/outcome.ts';
import { METRICS } from '../../../src/telemetry/catalogue.ts';
import { EVENT_METRICS } from '../../../src/telemetry/event-metrics.ts';
import { EVENTS } from '../../../src/telemetry/events.ts';
import { isAllowed, LABEL_VALUES, valuesOf } from '../../../src/telemetry/label-values.ts';
import { METRIC_PREFIX } from '../../../src/telemetry/metrics.ts';

const each = METRICS.map((metric) => [metric.name, metric] as const);
const bare = (name: string): string => (name.startsWith(METRIC_PREFIX) ? name.slice(METRIC_PREFIX.length) : name);

test('no two metrics have one name', () => {
  expect(METRICS.length).toBeGreaterThan(80);
  expect(new Set(METRICS.map(({ name }) => name)).size).toBe(METRICS.length);
});

describe.each(each)('%s', (name, { type, labels, means, rise }) => {
  test('has a name that Prometheus takes, ours or of a known kind', () => {
    expect(name).toMatch(/^(fraud_connector|messaging|http|nodejs|process)_[a-z0-9_]+$/);
    expect(name).not.toMatch(/_(bucket|sum|count)$/);
  });

  test('is a counter if and only if it ends in total', () => {
    expect(name.endsWith('_total')).toBe(type === 'counter');
  });

  test('says what it means, and what a rise means', () => {
    for (const text of [means, rise]) {
      expect(text.length).toBeGreaterThan(15);
      expect(text).toMatch(/[.:]$/);
    }
  });

  test('has labels of which it is said what they hold', () => {
    expect(labels.filter((label) => valuesOf(bare(name), label) === undefined)).toEqual([]);
  });
});

test('every event with a counter says what its rise means, and no other does', () => {
  const odd = (Object.keys(EVENTS) as EventName[]).filter(
    (name) => (EVENTS[name].counter === null) !== (EVENT_METRICS[name]?.rise === undefined),
  );
  expect(odd).toEqual([]);
});

test('what a rise means names only metrics that exist', () => {
  const names = new Set(METRICS.flatMap(({ name }) => [name, bare(name)]));
  const labels = new Set(METRICS.flatMap((metric) => metric.labels));
  const listed = Object.values(LABEL_VALUES).flatMap((values) => ('like' in values ? [] : values));
  const codes = new Set([...listed, ...Object.keys(LETTERS), ...Object.keys(SKIPS)]);
  /** Fields of score records and log lines, and settings of topics. */
  const others = new Set(['validation_errors', 'possibly_scored_before', 'error_msg', ...Object.keys(EVENTS)]);
  const unknown = METRICS.flatMap(({ name, means, rise }) =>
    [...`${means} ${rise}`.matchAll(/`([a-z]+(?:_[a-z0-9]+)+)(?:\{[^`]*)?`/g)]
      .map(([, word = '']) => word)
      .filter((word) => ![names, labels, codes, others].some((known) => known.has(word)))
      .map((word) => `${name}: ${word}`),
  );
  expect(unknown).toEqual([]);
});

test('no free text and no identifier is a label of an event', () => {
  const free = new Set<string>(['error', 'message', 'from', 'to', 'signal', 'version', 'id', 'who', 'range']);
  for (const name of Object.keys(EVENTS) as EventName[]) {
    const { sum, histograms = [] } = EVENT_METRICS[name] ?? {};
    const labels = [EVENTS[name].counter, sum, ...histograms].flatMap((row) => row?.labels ?? []);
    expect(labels.filter((label) => free.has(label))).toEqual([]);
  }
});

describe('isAllowed', () => {
  test('refuses a value that nobody has named, and a label that nobody knows', () => {
    for (const reason of ['cust-4711', 'status_4000', 'status_<code>', 'status_400 '])
      expect(isAllowed('records_total', 'reason', reason)).toBe(false);
    expect(isAllowed('records_total', 'trans_id', '1')).toBe(false);
    expect(isAllowed('http_client_request_duration_seconds', 'server_address', 'user:secret@host/')).toBe(false);
    expect(isAllowed('http_client_request_duration_seconds', 'url_template', '/x?token=1')).toBe(false);
  });

  test('takes what the tables hold, by the metric where it matters', () => {
    for (const reason of ['', 'status_400', 'status_599', 'error_msg', 'already_scored'])
      expect(isAllowed('records_total', 'reason', reason)).toBe(true);
    expect(isAllowed('login_total', 'result', 'refused')).toBe(true);
    expect(isAllowed('login_total', 'result', 'published')).toBe(false);
    expect(isAllowed('webhook_seconds', 'result', 'published')).toBe(true);
  });
});
