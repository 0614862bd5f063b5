import { describe, expect, test } from 'vitest';
import { readAnswer, type BatchAnswer } from '../../../../src/flows/sync/answer.ts';
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

function later(exchange: Exchange): BatchAnswer {
  return readAnswer(exchange, IDS);
}

describe('an answer that refuses', () => {
  test.each([400, 413, 422])('the batch: %i', (status) => {
    expect(readAnswer(answer(status, { error_msg: 'bad' }), IDS)).toEqual({
      do: 'refused',
      status,
      reason: `status_${String(status)}`,
      serviceError: 'bad',
    });
  });

  test('the batch, without words', () => {
    expect(readAnswer(answer(400, '<html>'), IDS)).toMatchObject({ do: 'refused', serviceError: null });
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
  test.each([408, 425, 429, 500, 502, 503, 504, 599])('%i is tried again', (status) => {
    expect(later(answer(status))).toMatchObject({ do: 'later', status, why: 'service_down', fixed: false });
  });

  test.each([301, 401, 403, 404, 405, 409])('%i says nothing of an update', (status) => {
    expect(later(answer(status))).toMatchObject({ do: 'later', status, why: 'service_refuses' });
  });

  test('a success with error_msg is none', () => {
    expect(later(answer(200, { error_msg: 'try later' }))).toMatchObject({ do: 'later', why: 'service_down' });
  });

  test('the wait that the service asks for is kept', () => {
    expect(later({ ...(answer(503) as Extract<Exchange, { do: 'answer' }>), retryAfterMs: 9000 })).toMatchObject({
      afterMs: 9000,
      fixed: false,
    });
  });

  test.each<[Exchange, object]>([
    [{ do: 'fenced' }, { why: 'kafka', fixed: true }],
    [
      { do: 'no_session', why: 'credentials_refused', retryMs: 30_000 },
      { why: 'credentials_refused', afterMs: 30_000, fixed: true },
    ],
    [
      { do: 'failed', why: 'timeout', ambiguous: true },
      { why: 'service_down', afterMs: null, fixed: false },
    ],
    [{ do: 'failed', why: 'connect', ambiguous: false }, { why: 'service_down' }],
    [{ do: 'failed', why: 'oversized', ambiguous: true }, { why: 'service_refuses' }],
  ])('%j is no answer', (exchange, expected) => {
    expect(later(exchange)).toMatchObject({ do: 'later', status: 0, ...expected });
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
