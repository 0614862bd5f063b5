import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { redact, SHOWN, shownId, withoutAddresses, withoutQuotes } from '../../../src/dead-letters/redact.ts';

const PAN = '4111111111111111';
const shown = (value: unknown): string =>
  redact(value)
    .map(({ name, is }) => `${name}: ${is}`)
    .join('\n');

describe('is never shown', () => {
  test('any value of a field that is not on the list, whatever its type', () => {
    const value = {
      cust_first_name: 'Ada',
      cust_email: 'ada@example.test',
      ip: '192.0.2.1',
      trans_amt: 12.5,
      items: [{ item_desc: 'socks' }],
      nothing: '',
      none: [],
    };
    expect(shown(value)).toBe(
      [
        '/cust_first_name: text of 3 characters',
        '/cust_email: text of 16 characters',
        '/ip: text of 9 characters',
        '/trans_amt: number',
        '/items/0/item_desc: text of 5 characters',
        '/nothing: empty text',
        '/none: empty list',
      ].join('\n'),
    );
  });

  test('a value under a name of the list that does not look like an id, a state, a time or a code', () => {
    for (const value of ['Ada Lovelace', 'ada@example.test', PAN, Number(PAN), 'x'.repeat(65), { a: 'Ada' }])
      expect(shown({ status: value })).not.toMatch(/Ada|ada@|4111|xxx/);
  });

  test('a name that could hold data', () => {
    expect(shown({ 'ada@example.test': 1, [PAN]: 2, '\u001B[2J': 3 })).toBe(
      ['/(name of 16 characters): number', '/(name of 16 characters): number', '/(name of 4 characters): number']
        .toSorted()
        .join('\n'),
    );
  });

  test('whatever else is in it', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.string({ minLength: 8 }), (value, name) => {
        fc.pre(!SHOWN.has(name));
        expect(shown({ [name]: 'Quastenflosser', more: [value, { deep: 'Quastenflosser' }] })).not.toContain('Quasten');
      }),
    );
  });
});

describe('is shown', () => {
  test('an id, a state, a time, a code; that something is true, false or null', () => {
    const value = { trans_id: 't-1', status: 'paid', ts: '2026-01-01T00:00:00Z', latency: 12, odd: true, not: null };
    expect(shown(value)).toBe(
      '/trans_id: "t-1"\n/status: "paid"\n/ts: "2026-01-01T00:00:00Z"\n/latency: 12\n/odd: true\n/not: null',
    );
  });

  test('how large things are, not all of them', () => {
    const deep = JSON.parse(`${'['.repeat(50)}${']'.repeat(50)}`) as unknown;
    expect(shown({ deep })).toContain('list of 1');
    expect(redact(Array.from({ length: 5000 }, (_, index) => index)).length).toBeLessThan(310);
    expect(shown({ bytes: Buffer.alloc(3) })).toBe('/bytes: 3 bytes');
  });
});

test('ids are shown where they look like ids', () => {
  expect([shownId('t-1'), shownId('Ada Lovelace'), shownId(PAN)]).toEqual([
    't-1',
    'not shown (text of 12 characters)',
    'not shown (text of 16 characters)',
  ]);
});

test("somebody else's words lose addresses and long numbers", () => {
  expect(
    withoutAddresses(
      `ada@example.test at 192.0.2.1, 2001:db8::1 paid with 4111 1111 1111 1111 at 10:00:00 (Invalid IP)\u001B[2J`,
    ),
  ).toBe('[e-mail] at [address], [address] paid with [digits] at 10:00:00 (Invalid IP)\\u{1b}[2J');
});

test('what the service quotes is left out, unless it is the name of a field', () => {
  expect(withoutQuotes(`'cust_email' is "Ada Lovelace", \u201CAda\u201D, 'ip' is bad`)).toBe(
    `'cust_email' is [quoted], [quoted], 'ip' is bad`,
  );
});
