import { Buffer } from 'node:buffer';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type CardFinding, createCardGuard, toCardDataLetter } from '../../../src/screening/card-guard.ts';
import { cardNumbers, TEST_CARDS } from '../../support/card-numbers.ts';

const PAN = '4111111111111111';
const guard = createCardGuard([]);
const found = (value: unknown): CardFinding | null => guard.inspect(Buffer.from(JSON.stringify(value)));
const foundIn = (json: string): CardFinding | null => guard.inspect(Buffer.from(json));

describe('card numbers are found', () => {
  test.each(TEST_CARDS)('of %s: %s, as text and as a number', (_brand, number) => {
    expect(found({ note: number })).toEqual({ field: '/note', what: 'pan' });
    expect(foundIn(`{"note":${number}}`)).toEqual({ field: '/note', what: 'pan' });
  });

  test.each([
    ['in text', { note: `paid with ${PAN}, thank you` }, '/note'],
    [
      'in the free text of a status update',
      { trans_id: 'a', issuer_decline_reason: `stolen: ${PAN}` },
      '/issuer_decline_reason',
    ],
    ['in an item', { items: [{ item_desc: 'x' }, { item_desc: PAN }] }, '/items/1/item_desc'],
    ['in an array', { notes: ['a', [PAN]] }, '/notes/1/0'],
    ['where a hash belongs', { cc_num_hash: PAN }, '/cc_num_hash'],
    ['where the last four digits belong', { cc_last_4_dig: PAN }, '/cc_last_4_dig'],
    ['as the name of a field', { cards: { [PAN]: 1 } }, '/cards/?'],
    ['under a name that is none', { 'card number': PAN }, '/?'],
    ['under a name that holds an id', { customer_123456: PAN }, '/?'],
    ['in an object under an exempt name', { trans_id: { id: 'a', card: PAN } }, '/trans_id/card'],
  ])('%s', (_is, value, field) => {
    expect(found(value)).toEqual({ field, what: 'pan' });
  });

  test.each([
    ['whose digits are escaped', String.raw`{"a":"\u0034111111111111111"}`],
    ['with an escaped no-break space', String.raw`{"a":"4111\u00a01111\u00a01111\u00a01111"}`],
    ['of a field that a later one of its name hides', `{"a":"${PAN}","a":"x"}`],
    ['as a number with an exponent', '{"a":4.111111111111111E15}'],
    ['as a number with a fraction of nothing', `{"a":${PAN}.0}`],
    ['as a number that is not exact in JavaScript', '{"a":4000000000000000006}'],
    ['between white space', `{ "b" : [ ] ,\n "a" :\t${PAN} }`],
    ['behind an escaped quote', String.raw`{"b":"\"","a":"${PAN}"}`],
  ])('%s', (_is, json) => {
    expect(foundIn(json)).toEqual({ field: '/a', what: 'pan' });
  });

  test('at any depth, without exhausting the stack, and told in few words', () => {
    const deep = `${'{"a":['.repeat(20_000)}"${PAN}"${']}'.repeat(20_000)}`;
    expect(foundIn(deep)?.field).toHaveLength(32);
  });

  test('wherever they stand in any record', () => {
    const name = fc.string({ unit: 'grapheme' }).filter((each) => !EXEMPT.includes(each));
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), name, cardNumbers, (one, other, field, number) => {
        const value = { one: { deeper: [one] }, [field]: [[other], { [field]: ` ${number}` }] };
        const text = JSON.stringify(value);
        const escaped = text.replaceAll(
          /[\u0080-\uffff]/g,
          (each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}`,
        );
        expect(foundIn(text)).not.toBeNull();
        expect(foundIn(escaped)).toEqual(foundIn(text));
      }),
    );
  });
});

const EXEMPT = ['trans_id', 'order_id', 'cust_id', 'item_id', 'unique_item_id', 'acq_ref_id'];

describe('nothing is found', () => {
  test.each(EXEMPT)('in %s, whatever it looks like', (name) => {
    expect(found({ [name]: PAN, items: [{ [name]: Number(PAN) }], list: { [name]: [PAN] } })).toBeNull();
  });

  test('in the datapoints that are named to be exempt, and only in those', () => {
    const lenient = createCardGuard(['loyalty_no', 'cid']);
    const inspect = (value: unknown): CardFinding | null => lenient.inspect(Buffer.from(JSON.stringify(value)));
    expect(inspect({ loyalty_no: PAN, cid: '1234', trans_id: PAN })).toBeNull();
    expect(inspect({ loyalty_no: 'x', note: PAN })).toEqual({ field: '/note', what: 'pan' });
    expect(inspect({ Loyalty_no: PAN })).not.toBeNull();
  });

  test.each([
    ['what an ordinary payment has', { cc_bin: '411111', cc_last_4_dig: '1111', cc_exp_dt: '1229', ip: '192.0.2.200' }],
    [
      'times and amounts',
      { trans_ts: '2026-03-01T09:30:00.123456789Z', at: 1772357400123456, trans_amt: 0.4111111111111111 },
    ],
    ['a telephone number', { phone: '+4915123456789' }],
    ['results of a check', { cvv: 'M', cvc: true, cvv2: null, cid: '', cvv_result: '100' }],
    ['a mask', { cvv: '***' }],
    ['an empty track', { track1: '', track2: null }],
    ['digits spread over fields', { a: ['4111', '1111', '1111', '1111'] }],
  ])('in %s', (_is, value) => {
    expect(found(value)).toBeNull();
  });

  test('in a record without 13 digits and without such names', () => {
    const strings = fc.string().filter((text) => (text.match(/\d/g) ?? []).length < 13);
    const values = fc.dictionary(
      fc.string({ unit: fc.constantFrom('x', 'y', '"', '\\', 'é') }),
      fc.oneof(strings, fc.integer()),
    );
    fc.assert(
      fc.property(values, (value) => {
        expect(found(value)).toBeNull();
      }),
    );
  });
});

describe('verification values and tracks are found', () => {
  test.each([
    ['cvv', '123', 'verification_value'],
    ['cvc2', 1234, 'verification_value'],
    ['Card-Verification-Value', ' 123 ', 'verification_value'],
    ['cid', '0007', 'verification_value'],
    ['track2', 'anything', 'track_data'],
    ['magstripe', 'AAAA', 'track_data'],
    ['note', '%B4111111111111112^DOE/JANE^25121010000?', 'track_data'],
    ['note', ';4111111111111112=25121010000?', 'track_data'],
  ] as const)('%s: %s', (name, value, what) => {
    expect(found({ payment: [{ [name]: value }] })?.what).toBe(what);
  });

  test('under an escaped name, and where a later field of the name hides it', () => {
    expect(foundIn(String.raw`{"c\u0076v":"123"}`)).toEqual({ field: '/cvv', what: 'verification_value' });
    expect(foundIn('{"cvv":"123","cvv":null}')).toEqual({ field: '/cvv', what: 'verification_value' });
  });
});

test('the letter says what and where, and nothing else', () => {
  expect(toCardDataLetter({ field: '/items/0/item_desc', what: 'pan' })).toEqual({
    reason: 'card_data',
    stage: 'read',
    detail: 'pan /items/0/item_desc',
  });
});

describe('bytes of any kind', () => {
  test.each([
    ['broken JSON', `{"a":"${PAN}`],
    ['a JSON string', `"${PAN}"`],
    ['bytes that are no UTF-8', Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(PAN)])],
    ['an Avro frame', Buffer.concat([Buffer.from([0, 0, 0, 0, 1, 32]), Buffer.from(PAN), Buffer.from([0])])],
    ['an object', JSON.stringify({ cvv: '123' })],
  ])('hold card data: %s', (_is, bytes) => {
    expect(guard.isIn(Buffer.from(bytes))).toBe(true);
  });

  test.each([
    ['nothing', ''],
    ['an object with ids', JSON.stringify({ trans_id: PAN })],
    ['other text', `{"a":"${PAN}1`],
  ])('hold none: %s', (_is, bytes) => {
    expect(guard.isIn(Buffer.from(bytes))).toBe(false);
  });
});

test('time is linear in the length of a record made to be slow', () => {
  const worst = [
    '4 '.repeat(100_000),
    '4111 1111 1111 111 '.repeat(12_000),
    `;${'1'.repeat(19)}`.repeat(10_000),
    '%B4'.repeat(212_000),
  ];
  for (const text of worst)
    expect(foundIn(JSON.stringify({ a: text, [text.slice(0, 100_000)]: '"-_'.repeat(50_000) }))).not.toBe(undefined);
});
