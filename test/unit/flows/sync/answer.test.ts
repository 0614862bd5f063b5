import { describe, expect, test } from 'vitest';
import { readAnswer } from '../../../../src/flows/sync/answer.ts';
import { type Exchange } from '../../../../src/resilience/ports.ts';
import { answer } from './builders.ts';

const IDS = new Set(['a', 'b']);

function unknown(body: unknown, ids = IDS): string[] {
  const read = readAnswer(answer(200, body), ids);
  return read.do === 'accepted' ? [...read.unknown] : [read.do];
}

function rejected(body: unknown, ids = IDS): [string, string | null][] {
  const read = readAnswer(answer(200, body), ids);
  return read.do === 'accepted' ? [...read.rejected] : [];
}

describe('an answer that refuses', () => {
  test.each([400, 409, 413, 422])('what was sent: %i', (status) => {
    expect(readAnswer(answer(status, { error_msg: 'bad' }), IDS)).toEqual({
      do: 'failed',
      status,
      verdict: 'refused',
      reason: `status_${String(status)}`,
      cause: 'service_refuses',
      wasSent: true,
      afterMs: null,
      serviceError: 'bad',
    });
  });

  test('what was sent, without words', () => {
    expect(readAnswer(answer(400, '<html>'), IDS)).toMatchObject({ verdict: 'refused', serviceError: null });
  });

  test.each<[string, unknown, string | null]>([
    ['error_msg', { error_msg: 'no such field' }, 'no such field'],
    ['an error_msg that is no text', { error_msg: { a: 1 } }, '(not a text)'],
    ['ok: false', { ok: false }, null],
    ['errors', { errors: [{ datapoint: 'ts' }] }, null],
    ['errors by name', { errors: { ts: 'bad' } }, null],
    ['errors in words', { errors: 'bad ts' }, null],
    ['both', { ok: false, error_msg: 'x' }, 'x'],
  ])('one update by %s', (_, under, text) => {
    expect(rejected({ a: under, b: {} })).toEqual([['a', text]]);
  });

  test('an update whose id is a name of the prototype', () => {
    expect(rejected('{"__proto__":{"ok":false}}', new Set(['__proto__']))).toEqual([['__proto__', null]]);
  });
});

describe('an answer that decides nothing', () => {
  test.each([408, 425, 500, 502, 503, 504, 599])('%i may be the health of the service', (status) => {
    const reason = `status_${String(status)}`;
    expect(readAnswer(answer(status), IDS)).toMatchObject({ verdict: 'open', reason, cause: 'service_down' });
  });

  test.each([301, 401, 403, 404, 405, 410])('%i may be our access to it', (status) => {
    const reason = `status_${String(status)}`;
    expect(readAnswer(answer(status), IDS)).toMatchObject({ verdict: 'open', reason, cause: 'service_refuses' });
  });

  test('429 is its rate, and the wait that it asks for is kept', () => {
    const limited: Exchange = { do: 'answer', status: 429, retryAfterMs: 9000, body: Buffer.alloc(0), latencyMs: 1 };
    expect(readAnswer(limited, IDS)).toMatchObject({ verdict: 'rate_limited', cause: 'service_down', afterMs: 9000 });
  });

  test('a success with error_msg is none', () => {
    const read = readAnswer(answer(200, { error_msg: 'try later' }), IDS);
    expect(read).toMatchObject({ verdict: 'open', reason: 'error_msg', cause: 'service_down', status: 200 });
  });

  test.each<[Exchange, object]>([
    [
      { do: 'failed', why: 'timeout', ambiguous: true },
      { reason: 'timed_out', wasSent: true },
    ],
    [
      { do: 'failed', why: 'timeout', ambiguous: false },
      { reason: 'timed_out', wasSent: false },
    ],
    [
      { do: 'failed', why: 'connect', ambiguous: false },
      { reason: 'connection_failed', wasSent: false },
    ],
    [
      { do: 'failed', why: 'reset', ambiguous: true },
      { reason: 'connection_failed', wasSent: true },
    ],
    [
      { do: 'failed', why: 'protocol', ambiguous: true },
      { reason: 'connection_failed', wasSent: true },
    ],
    [
      { do: 'failed', why: 'oversized', ambiguous: true },
      { reason: 'unusable_answer', wasSent: true, cause: 'service_refuses' },
    ],
  ])('%j is no answer', (exchange, expected) => {
    const base = { do: 'failed', status: null, verdict: 'open', cause: 'service_down' };
    expect(readAnswer(exchange, IDS)).toMatchObject({ ...base, ...expected });
  });

  test.each<[Exchange, object]>([
    [{ do: 'fenced' }, { why: 'kafka', forMs: 500, end: { do: 'void' } }],
    [
      { do: 'no_session', why: 'credentials_refused', retryMs: 30_000 },
      { why: 'credentials_refused', forMs: 2_000, end: { do: 'no_session', cause: 'credentials_refused' } },
    ],
    [
      { do: 'no_session', why: 'service_down', retryMs: 100 },
      { why: 'service_down', forMs: 100, end: { do: 'failed', cause: 'service_down' } },
    ],
  ])('%j sent nothing', (exchange, expected) => {
    expect(readAnswer(exchange, IDS)).toEqual({ do: 'unsent', ...expected });
  });
});

describe('an answer that accepts', () => {
  test.each<[unknown]>([
    [''],
    ['{}'],
    [{ error_msg: '' }],
    [{ error_msg: null }],
    [{ a: {}, b: { ok: true, errors: [], error_msg: '' } }],
  ])('by %j, as expected', (body) => {
    expect(unknown(body)).toEqual([]);
    expect(rejected(body)).toEqual([]);
  });

  test.each<[unknown, string[]]>([
    ['not json', ['body']],
    ['[]', ['body']],
    ['"ok"', ['body']],
    [{ status: 'ok' }, ['top_level']],
    [{ c: { ok: false } }, ['top_level']],
    [{ a: 'accepted' }, ['update']],
    [{ a: null, x: 1 }, ['update', 'top_level']],
  ])('by %j, in a shape that nobody described', (body, where) => {
    expect(unknown(body)).toEqual(where);
    expect(rejected(body)).toEqual([]);
  });

  test('never by the status under an id, which may be the one that was sent', () => {
    expect(rejected({ a: { status: 'error' } })).toEqual([]);
  });

  test('an update with the id error_msg', () => {
    const ids = new Set(['error_msg']);
    expect(rejected({ error_msg: { error_msg: 'bad' } }, ids)).toEqual([['error_msg', 'bad']]);
    expect(unknown({ error_msg: 'bad' }, ids)).toEqual(['update']);
  });

  test.each([200, 201, 202, 204])('by %i', (status) => {
    expect(readAnswer(answer(status, ''), IDS)).toMatchObject({ do: 'accepted', status });
  });
});
