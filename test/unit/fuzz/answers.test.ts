import { describe, expect, test } from 'vitest';
import { AnswerReader, DOCUMENTED } from '../../fuzz/answers.ts';

function answer(status: number, change: Readonly<Record<string, string>> = {}, body?: string): string {
  const expected = DOCUMENTED.get(status) ?? { headers: {}, body: '' };
  const headers = { ...expected.headers, 'content-length': String(expected.body.length), ...change };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${String(status)} X\r\n${lines.join('')}\r\n${body ?? expected.body}`;
}

function read(...pieces: readonly string[]): AnswerReader {
  const reader = new AnswerReader();
  for (const piece of pieces) reader.push(Buffer.from(piece, 'latin1'));
  reader.end();
  return reader;
}

describe('tells as not documented', () => {
  test.each([
    ['another status', answer(500)],
    ['another status that means received', answer(202)],
    ['another body', answer(401, {}, '{"error":"bad signature"}').replace('24', '25')],
    ['a body of the same length', answer(401, {}, '{"error":"unauthorised"}')],
    ['a header more', answer(200, { server: 'x' })],
    ['a header less', answer(503).replace('retry-after: 5\r\n', '')],
    ['a header twice', answer(200).replace('\r\n\r\n', '\r\ncontent-length: 2\r\n\r\n')],
    ['another type', answer(200, { 'content-type': 'text/html' })],
    ['a wrong length', answer(200, { 'content-length': '3' })],
    ['half an answer', answer(200).slice(0, -1)],
    ['noise', 'noise\r\n\r\n'],
    ['what follows an answer', `${answer(200)}x`],
  ])('%s', (_name, text) => {
    expect(read(text).wrong).not.toBeNull();
  });
});

test('reads answers in any pieces, one after the other', () => {
  const text = `HTTP/1.1 100 Continue\r\n\r\n${[...DOCUMENTED.keys()].map((status) => answer(status)).join('')}`;
  for (const pieces of [[text], text.split('')]) {
    const reader = read(...pieces);
    expect(reader.wrong).toBeNull();
    expect(reader.statuses).toEqual([...DOCUMENTED.keys()]);
  }
});

test('knows the answer to HEAD, which has no body', () => {
  const reader = read(answer(405, {}, ''));
  expect([reader.wrong, reader.statuses]).toEqual([null, [405]]);
});
