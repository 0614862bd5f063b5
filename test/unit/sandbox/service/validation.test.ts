import { describe, expect, test } from 'vitest';
import { VALIDATION_MESSAGES, validate, type ValidationCode } from '../../../../src/sandbox/service/validation.ts';

const valid = (): Record<string, unknown> => ({
  trans_id: 't-1',
  trans_amt: 12.5,
  trans_currency: 'EUR',
  trans_ts: '2026-03-01T09:30:00+02:00',
  bill_ad_ctry: 'DE',
  ip: '198.51.100.7',
  cust_email: 'ada@example.com',
  items: [{ item_id: 1, item_desc: 'Desk lamp', item_amt: 12.5, quantity: 1 }],
});

const codesOf = (transaction: Record<string, unknown>): string[] =>
  validate(transaction).map(({ datapoint, msg }) => `${datapoint}: ${msg}`);

const line = (datapoint: string, code: ValidationCode): string => `${datapoint}: ${VALIDATION_MESSAGES[code]}`;

describe('validation of datapoints', () => {
  const rows: readonly (readonly [string, unknown, ValidationCode])[] = [
    ['cust_email', 7, 'invalid_data_type'],
    ['trans_amt', 'twelve', 'invalid_data_type'],
    ['trans_amt', true, 'invalid_data_type'],
    ['items', {}, 'invalid_data_type'],
    ['items', ['lamp'], 'invalid_data_type'],
    ['bill_ad_ctry', 'UK', 'invalid_country'],
    ['ship_ad_ctry', 'DEU', 'invalid_country'],
    ['acct_ad_ctry', 'de', 'invalid_country'],
    ['trans_ts', '01/03/2026', 'invalid_timestamp'],
    ['trans_ts', '2026-02-30T09:30:00Z', 'invalid_timestamp'],
    ['trans_ts', '2026-03-01T24:30:00Z', 'invalid_timestamp'],
    ['trans_ts', '2026-03-01T09:30:00', 'missing_timezone'],
    ['ip', 'unknown', 'invalid_ip'],
    ['ip', '300.1.1.1', 'invalid_ip'],
    ['ip', '198.51.100.7:443', 'excess_ip_info'],
    ['ip', ' 198.51.100.7', 'excess_ip_info'],
    ['ip', '198.51.100.7, 203.0.113.9', 'excess_ip_info'],
    ['ip', '[2001:db8::1]:443', 'excess_ip_info'],
    ['ip', 'fe80::1%eth0', 'excess_ip_info'],
    ['ip', '10.1.2.3', 'reserved_ip'],
    ['ip', '::1', 'reserved_ip'],
    ['ip', '', 'invalid_ip'],
    ['bill_ad_ctry', '', 'invalid_country'],
    ['trans_ts', '', 'invalid_timestamp'],
    ['cc_exp_dt', '1329', 'unknown_value'],
    ['cc_exp_dt', '0029', 'unknown_value'],
    ['cc_exp_dt', '12/29', 'unknown_value'],
    ['cc_exp_dt', '129', 'unknown_value'],
    ['cc_exp_dt', '121929', 'unknown_value'],
    ['cc_exp_dt', '', 'unknown_value'],
    ['cc_exp_dt', 1229, 'invalid_data_type'],
    ['cust_last_name', 'NULL', 'null_string'],
    ['bill_ad_ctry', 'null', 'null_string'],
    ['shoe_size', 43, 'unknown_datapoint'],
    ['__proto__', 'x', 'unknown_datapoint'],
    ['trans_currency', 'EURO', 'unknown_value'],
    ['trans_currency', 'constructor', 'unknown_value'],
  ];
  test.each(rows)('%s = %j is answered with %s', (datapoint, value, code) => {
    const transaction = JSON.parse(
      JSON.stringify(valid()).replace(/\}$/u, `,${JSON.stringify(datapoint)}:${JSON.stringify(value)}}`),
    ) as Record<string, unknown>;
    expect(codesOf(transaction)).toEqual([line(datapoint, code)]);
  });

  test('has no datapoint of the interface for Invalid date; one that is told has all three answers', () => {
    const more = new Map([['cust_since', 'date' as const]]);
    const of = (value: unknown) => validate({ cust_since: value }, more).map(({ msg }) => msg);
    expect(of('yesterday')).toEqual([VALIDATION_MESSAGES.invalid_date]);
    expect(of('2026-02-30Z')).toEqual([VALIDATION_MESSAGES.invalid_date]);
    expect(of('2026-03-01')).toEqual([VALIDATION_MESSAGES.missing_timezone]);
    expect([of('2026-03-01Z'), of('2026-03-01-07:30'), of(null)]).toEqual([[], [], []]);
    expect(validate({ cust_since: '2026-03-01Z' })).toMatchObject([{ msg: VALIDATION_MESSAGES.unknown_datapoint }]);
  });

  test('a closed set that is told refuses other values', () => {
    const more = new Map([['pmt_method', ['card', 'invoice']]]);
    expect(validate({ pmt_method: 'card' }, more)).toEqual([]);
    expect(validate({ pmt_method: 'cash' }, more)).toMatchObject([{ msg: VALIDATION_MESSAGES.unknown_value }]);
  });

  test('has a message for each of the eleven errors of the interface', () => {
    const names = Object.values(VALIDATION_MESSAGES).map((message) => message.split(':')[0]);
    expect(names).toHaveLength(11);
    expect(new Set(names)).toEqual(
      new Set([
        'Invalid data type',
        'Invalid country',
        'Invalid timestamp',
        'Invalid date',
        'Invalid IP',
        'Reserved IP',
        'Excess IP info',
        'Missing timezone',
        'Null string',
        'Unknown datapoint',
        'Unknown value',
      ]),
    );
  });

  test('names the field of an item', () => {
    expect(codesOf({ ...valid(), items: [{ item_id: '1', colour: 'red' }] })).toEqual([
      line('items.item_id', 'invalid_data_type'),
      line('items.colour', 'unknown_datapoint'),
    ]);
  });

  test('never repeats a value in a message', () => {
    const errors = validate({ ip: 'secret-value', trans_ts: 'secret-value', bill_ad_ctry: 'secret-value' });
    expect(JSON.stringify(errors)).not.toContain('secret-value');
  });

  test('stops at a hundred errors', () => {
    const unknown = Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`field_${index}`, 1]));
    expect(validate(unknown)).toHaveLength(100);
  });

  test.each([
    ['a valid transaction', {}],
    ['an amount as a decimal in a string', { trans_amt: '12.50' }],
    ['a null literal anywhere', { ip: null, bill_ad_ctry: null, items: null }],
    ['IPv6', { ip: '2001:db8::7' }],
    ['a timestamp with fractions', { trans_ts: '2026-03-01T09:30:00.123Z' }],
    ['an expiry date', { cc_exp_dt: '1229' }],
    ['an expiry date with four digits of the year', { cc_exp_dt: '012029' }],
    ['a timestamp with a leap second', { trans_ts: '2016-12-31T23:59:60Z' }],
    ['an empty text where any text may stand', { bill_ad_city: '' }],
    ['a leap day', { trans_ts: '2028-02-29T09:30:00Z' }],
  ])('has nothing to say of %s', (_, change) => {
    expect(validate({ ...valid(), ...change })).toEqual([]);
  });
});
