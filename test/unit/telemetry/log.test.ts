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

  test('keeps warnings with other labels, and everything that is no warning', () => {
    const { emit, lines } = logged();
    emit('writer_retry', failed);
    emit('writer_retry', { ...failed, topic: 'fraud.reviews' });
    emit('flow_broken', { flow: 'sync', error: 'TypeError' });
    emit('flow_broken', { flow: 'sync', error: 'TypeError' });
    emit('login', { result: 'ok' });
    emit('login', { result: 'ok' });
    expect(lines).toHaveLength(6);
  });
});
