import { describe, expect, test } from 'vitest';
import { toPointerRecord } from '../../../src/dead-letters/letter.ts';
import { showLetter, showLines, type ShownValue } from '../../../src/dead-letters/show.ts';
import { letterOf, sourceRecord } from './builders.ts';

const CANARY = 'Quastenflosser';
const json = (value: object): ShownValue => ({ do: 'object', from: 'JSON', value });
const lines = (...args: Parameters<typeof showLetter>): string => showLines(showLetter(...args)).join('\n');

describe('a letter that is shown', () => {
  test('says where it is, why, what to do, where it came from, and what its value holds', () => {
    const text = lines(letterOf(), json({ trans_id: 't-1', cust_last_name: CANARY }), 't-1');
    expect(text).toContain('letter         payments.created.dlq 0:7, written 2026-01-02T00:00:00.000Z');
    expect(text).toContain('reason         status_400');
    expect(text).toContain('means          The service answered this record with this status');
    expect(text).toContain('source         payments.created 3:42 of 2026-01-01T00:00:00.000Z');
    expect(text).toContain('trans_id       t-1');
    expect(text).toContain('headers        traceparent: 00-1-2-03');
    expect(text).toContain('value          JSON, 18 bytes');
    expect(text).toContain('/trans_id: "t-1"');
    expect(text).toContain('/cust_last_name: text of 14 characters');
    expect(text).not.toContain(CANARY);
  });

  test('has nothing of a person from headers, key or the words of the service', () => {
    const record = sourceRecord({
      key: Buffer.from(`${CANARY}@example.test`),
      headers: { name: CANARY, twice: [CANARY, CANARY], 'ada@example.test': 'x', traceparent: 'a@b.test' },
    });
    const letter = letterOf(record, {
      reason: 'status_400',
      stage: 'score',
      serviceError: 'no such user: ada@example.test of 192.0.2.1',
    });
    const text = lines(letter, { do: 'unreadable', why: 'neither JSON in UTF-8 nor Avro' }, `${CANARY} id`);
    expect(text).not.toMatch(/Quasten|ada@|192\.0|a@b/);
    expect(text).toContain('no such user: [e-mail] of [address]');
    expect(text).toContain('twice: 14 bytes, not shown; 14 bytes, not shown');
    expect(text).toContain('18 bytes, not shown: neither JSON in UTF-8 nor Avro');
  });

  test('says of a header without a value that it has none', () => {
    const record = letterOf(sourceRecord({ headers: { one: null, two: [null, 'x'] } }));
    const text = lines(record, json({}), null);
    expect(text).toContain('one: none');
    expect(text).toContain('two: none; 1 bytes, not shown');
  });

  test('writes out what a terminal would obey', () => {
    const record = letterOf(sourceRecord({ headers: { 'a\u001B[2J': 'x', traceparent: '\u0007' } }));
    const text = lines({ ...record, headers: { ...record.headers, 'dlq.account': 'x\r\ny' } }, json({}), null);
    expect(text).not.toMatch(/[^\P{Cc}\n]/u);
    expect(text).toContain('account x\\u{d}\\u{a}y');
  });

  test('that is a pointer says where the record is', () => {
    const letter = letterOf();
    const pointer = { ...letter, ...toPointerRecord(letter) };
    const shown = showLetter(pointer, json({ status: 'x' }), null);
    expect(shown.value).toMatchObject({ bytes: 0, fields: [] });
    expect(shown.value.is).toContain('withheld: the letter is a pointer');
    expect(shown.letter).toMatchObject({ withheld: true, source: expect.stringContaining('3:42') as string });
  });

  test('of a webhook says so; a record that is no letter as well', () => {
    const { headers } = letterOf();
    expect(lines({ ...letterOf(), headers: { ...headers, 'dlq.source.topic': 'webhook' } }, json({}), null)).toContain(
      'source         a webhook',
    );
    expect(lines({ ...letterOf(), headers: {}, value: null, timestampMs: -1, key: null }, json({}), null)).toBe(
      [
        'letter         payments.created.dlq 0:7',
        '               no letter: the headers dlq.reason and dlq.source.… are not there',
        'key            none',
        'value          none',
      ].join('\n'),
    );
  });

  test('of a reason that this version does not know says so', () => {
    const letter = letterOf();
    expect(lines({ ...letter, headers: { ...letter.headers, 'dlq.reason': 'from_later' } }, json({}), null)).toContain(
      'This version does not know the reason.',
    );
  });
});
