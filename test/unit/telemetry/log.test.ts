import { describe, expect, test } from 'vitest';
import { createLog, type LogOptions } from '../../../src/telemetry/log.ts';
import { ManualClock } from '../../support/manual-clock.ts';

function logged(over: Partial<LogOptions> = {}) {
  const lines: string[] = [];
  const clock = new ManualClock(1_700_000_000_000);
  const emit = createLog({
    level: 'info',
    clock,
    base: { account: 'shop' },
    write: (line) => lines.push(line),
    ...over,
  });
  return { emit, clock, lines, read: () => lines.map((line) => JSON.parse(line) as Record<string, unknown>) };
}

const failed = { topic: 'fraud.scores', error: 'KafkaJSError' };

describe('createLog', () => {
  test('writes no field that the row of the event does not name', () => {
    const { emit, lines, read } = logged();
    const more = { ...failed, password: 'hunter2', value: { cc_bin: '411111' } };
    emit('writer_retry', more);
    expect(lines.join('')).not.toMatch(/hunter2|411111/);
    expect(read()).toEqual([
      { level: 'warn', time: 1_700_000_000_000, account: 'shop', event: 'writer_retry', ...failed },
    ]);
  });

  test('writes one line of JSON an event, whatever its texts hold', () => {
    const { emit, lines, read } = logged();
    emit('fatal', { code: 'CONFIG_INVALID', message: 'one\ntwo\u001B[2J"' });
    expect(lines).toHaveLength(1);
    expect(lines[0]?.indexOf('\n')).toBe(lines[0]!.length - 1);
    expect(lines[0]).not.toContain('\u001B');
    expect(read()[0]).toMatchObject({ level: 'fatal', message: 'one\ntwo\u001B[2J"' });
  });

  test('writes nothing below its level', () => {
    const { emit, lines } = logged({ level: 'warn' });
    emit('login', { result: 'ok' });
    emit('webhook', { result: 'published', status: 200, afterMs: 3 });
    expect(lines).toEqual([]);
  });

  test('thins out repeated warnings to one a second and counts the rest', () => {
    const { emit, clock, read } = logged();
    for (let each = 0; each < 5; each += 1) emit('writer_retry', failed);
    clock.advance(999);
    emit('writer_retry', failed);
    clock.advance(1);
    emit('writer_retry', failed);
    clock.advance(1000);
    emit('writer_retry', failed);
    expect(read().map((line) => line['repeats'])).toEqual([undefined, 5, undefined]);
  });

  test('keeps warnings that are not counted apart by their texts', () => {
    const { emit, read } = logged();
    emit('webhooks_failed', { result: 'bad_signature', webhooks: 3 });
    emit('webhooks_failed', { result: 'too_slow', webhooks: 1 });
    emit('webhooks_failed', { result: 'too_slow', webhooks: 2 });
    expect(read().map(({ result, webhooks }) => [result, webhooks])).toEqual([
      ['bad_signature', 3],
      ['too_slow', 1],
    ]);
  });

  test('keeps warnings with other labels, and everything that is no warning', () => {
    const { emit, lines } = logged();
    emit('writer_retry', failed);
    emit('writer_retry', { ...failed, topic: 'fraud.reviews' });
    emit('secret_reload_failed', { option: 'WEBHOOK_SECRETS', why: 'empty' });
    emit('secret_reload_failed', { option: 'WEBHOOK_SECRETS', why: 'empty' });
    emit('login', { result: 'ok' });
    emit('login', { result: 'ok' });
    expect(lines).toHaveLength(6);
  });
});

describe('levels by consequence', () => {
  test.each([
    ['login', { result: 'ok' }, 'info'],
    ['login', { result: 'failed' }, 'warn'],
    ['login', { result: 'refused' }, 'error'],
    ['hold_started', { cause: 'service_down', scope: 'scoring', error: '' }, 'warn'],
    ['hold_started', { cause: 'credentials_refused', scope: 'scoring breaker', error: '' }, 'error'],
    ['letter_written', { topic: 't.dlq', reason: 'status_400' }, 'warn'],
    ['letter_written', { topic: 't.dlq', reason: 'card_data' }, 'error'],
    ['kafka_log', { severity: 'error', message: 'Crash:' }, 'warn'],
  ] as const)('%s %j is %s', (event, fields, level) => {
    const { emit, read } = logged();
    emit(event, fields);
    expect(read()).toMatchObject([{ event, level }]);
  });

  test('a value with a higher level is written where the event itself is not', () => {
    const { emit, read } = logged({ level: 'error' });
    emit('login', { result: 'ok' });
    emit('login', { result: 'refused' });
    expect(read()).toMatchObject([{ level: 'error', result: 'refused' }]);
  });

  test('a defect on every record is one line a second; what was lost is told each time', () => {
    const { emit, clock, read } = logged();
    for (let each = 0; each < 5; each += 1) emit('flow_broken', { flow: 'sync', error: 'TypeError' });
    clock.advance(1000);
    emit('flow_broken', { flow: 'sync', error: 'TypeError' });
    const gap = { topic: 't', why: 'expired', from: '1', to: '2', missing: '1' } as const;
    for (const partition of [0, 1]) emit('offset_gap', { ...gap, partition });
    expect(read().map(({ event, repeats }) => [event, repeats])).toEqual([
      ['flow_broken', undefined],
      ['flow_broken', 4],
      ['offset_gap', undefined],
      ['offset_gap', undefined],
    ]);
  });
});
