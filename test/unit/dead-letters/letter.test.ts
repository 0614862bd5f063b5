import { Buffer } from 'node:buffer';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { toLetterRecord, toParkedRecord, toPointerRecord } from '../../../src/dead-letters/letter.ts';
import { type SourceRecord } from '../../../src/engine/ports.ts';
import { type Letter } from '../../../src/kernel/outcome.ts';

const options = {
  suffix: '.dlq',
  account: 'default',
  connector: 'fraud-screening-connector/0.1.0',
  attempts: 2,
  failedAtMs: 1_772_357_400_123,
};

const letter: Letter = { reason: 'status_400', stage: 'score', httpStatus: 400 };

function record(change: Partial<SourceRecord> = {}): SourceRecord {
  return {
    topic: 'payments.created',
    partition: 3,
    offset: 9_007_199_254_740_993n,
    timestampMs: 1_772_357_000_000,
    key: Buffer.from([0xff, 0]),
    value: Buffer.from([0, 1, 0xff]),
    headers: { traceparent: 'x', twice: [Buffer.from('a'), 'b'], empty: undefined },
    ...change,
  };
}

const errorOf = (serviceError: string): string =>
  String(toLetterRecord(record(), { ...letter, serviceError }, options).headers['dlq.service_error']);

describe('a letter', () => {
  test('holds the bytes and headers of its source as they were, then why it was written', () => {
    const source = record();
    const written = toLetterRecord(source, { ...letter, detail: '/ip', serviceError: 'Invalid IP' }, options);
    expect(written.topic).toBe('payments.created.dlq');
    expect(written.key).toBe(source.key);
    expect(written.value).toBe(source.value);
    expect(written.headers).toEqual({
      ...source.headers,
      'dlq.reason': 'status_400',
      'dlq.detail': '/ip',
      'dlq.stage': 'score',
      'dlq.attempts': '2',
      'dlq.http_status': '400',
      'dlq.service_error': 'Invalid IP',
      'dlq.source.topic': 'payments.created',
      'dlq.source.partition': '3',
      'dlq.source.offset': '9007199254740993',
      'dlq.source.timestamp': '2026-03-01T09:23:20.000Z',
      'dlq.failed_at': '2026-03-01T09:30:00.123Z',
      'dlq.connector': 'fraud-screening-connector/0.1.0',
      'dlq.account': 'default',
    });
  });

  test('leaves out what is not known', () => {
    const written = toLetterRecord(record({ timestampMs: -1 }), { reason: 'bad_framing', stage: 'read' }, options);
    for (const name of ['detail', 'http_status', 'service_error', 'source.timestamp']) {
      expect(written.headers).not.toHaveProperty([`dlq.${name}`]);
    }
  });

  test('replaces an earlier letter of the record and adds its attempts', () => {
    const headers = { 'dlq.attempts': Buffer.from('8'), 'dlq.reason': 'status_422', 'dlq.value': 'withheld', own: 'x' };
    const written = toLetterRecord(record({ headers }), letter, options);
    expect(written.headers).toMatchObject({ 'dlq.attempts': '10', 'dlq.reason': 'status_400', own: 'x' });
    expect(written.headers).not.toHaveProperty(['dlq.value']);
  });

  test.each(['', 'many', '-1', '1e9', ['1', '2'], undefined])(
    'counts from nothing where %o is no number',
    (earlier) => {
      const written = toLetterRecord(record({ headers: { 'dlq.attempts': earlier } }), letter, options);
      expect(written.headers['dlq.attempts']).toBe('2');
    },
  );

  test('keeps a header that is named like a trap of plain objects', () => {
    const headers = JSON.parse('{"__proto__":"x","constructor":"y"}') as Record<string, string>;
    const written = toLetterRecord(record({ headers }), letter, options);
    expect(Object.entries(written.headers).slice(0, 2)).toEqual([
      ['__proto__', 'x'],
      ['constructor', 'y'],
    ]);
  });
});

describe("the service's words", () => {
  test.each([
    ['card 4111111111111111 refused', 'card [digits] refused'],
    ['4111 1111-1111 1111', '[digits]'],
    ['no digits to hide: 123456789012', 'no digits to hide: 123456789012'],
    ['13: 1234567890123', '13: [digits]'],
    ['41111111\u0000\t', '41111111  '],
    ['4111\r1111\u200b1111\u00ad1111', '[digits]'],
    ['a line\nand\u2028another', 'a line and another'],
    ['no customer <jo.do+1@mail.example.com>, nor "ä@ö.de"', 'no customer <[e-mail]>, nor "[e-mail]"'],
    ['4111111111111111@example.com', '[e-mail]'],
    ['bad SessionToken eyJhbGciOiJIUzI1NiJ9.eyJleHAiOjF9.s_-x!', 'bad SessionToken [token]!'],
    ['@ and a@ and @b', '@ and a@ and @b'],
    ['４１１１１１１１１１１１１１１１', '[digits]'],
  ])('%s', (text, shown) => {
    expect(errorOf(text)).toBe(shown);
  });

  test('are masked before they are cut, so that no cut leaves the head of a number', () => {
    expect(errorOf(`${'x'.repeat(505)}4111111111111111`)).toBe(`${'x'.repeat(505)}[digits`);
  });

  test('are cut at 512 bytes, between two characters', () => {
    const texts = fc.string({ unit: 'grapheme', maxLength: 2000 });
    fc.assert(
      fc.property(texts, (text) => {
        const shown = errorOf(text);
        expect(Buffer.byteLength(shown)).toBeLessThanOrEqual(512);
        expect(shown.includes('\uFFFD') && !text.includes('\uFFFD')).toBe(false);
        expect(shown).not.toMatch(/\d{13}|\p{Cc}/u);
      }),
    );
  });

  test('of four-byte characters lose the one that does not fit whole', () => {
    expect(errorOf(`x${'\u{1F600}'.repeat(200)}`)).toBe(`x${'\u{1F600}'.repeat(127)}`);
  });
});

describe('a pointer', () => {
  test('says where the record is and holds nothing of it', () => {
    const pointer = toPointerRecord(toLetterRecord(record(), letter, options));
    expect(pointer).toMatchObject({ topic: 'payments.created.dlq', key: null, value: null });
    expect(pointer.headers).toMatchObject({ 'dlq.value': 'withheld', 'dlq.source.offset': '9007199254740993' });
    expect(Object.keys(pointer.headers).filter((name) => !name.startsWith('dlq.'))).toEqual([]);
  });
});

describe('a parked webhook', () => {
  test('holds its body and what it was signed with, and no place in a topic', () => {
    const webhook = {
      topic: 'fraud.reviews.dlq',
      body: Buffer.from('{"type":"new"}'),
      signature: 'abc',
      timestamp: '2026-03-01T09:30:00Z',
      signatureHeader: 'x-signature',
      timestampHeader: 'x-timestamp',
      detail: 'type',
    };
    expect(toParkedRecord(webhook, options)).toEqual({
      topic: 'fraud.reviews.dlq',
      key: null,
      value: webhook.body,
      headers: {
        'x-signature': 'abc',
        'x-timestamp': '2026-03-01T09:30:00Z',
        'dlq.reason': 'webhook_unrecognised',
        'dlq.detail': 'type',
        'dlq.stage': 'webhook',
        'dlq.attempts': '1',
        'dlq.source.topic': 'webhook',
        'dlq.failed_at': '2026-03-01T09:30:00.123Z',
        'dlq.connector': 'fraud-screening-connector/0.1.0',
        'dlq.account': 'default',
      },
    });
  });
});
