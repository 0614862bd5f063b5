import { expect, test } from 'vitest';
import { readTransId, toTransactionJson } from '../../../src/screening/transaction.ts';

test.each([undefined, null, '', true, {}, ['T1'], 1.5, Number.NaN, Number.MAX_SAFE_INTEGER + 1])(
  'refuses %j as a trans_id',
  (value) => {
    expect(readTransId(value)).toBeNull();
  },
);

test.each([
  ['T-1', 'T-1'],
  [' t-1 ', ' t-1 '],
  ['00123', '00123'],
  [' ', ' '],
  ['__proto__', '__proto__'],
  [123, '123'],
  [0, '0'],
  [Number.MAX_SAFE_INTEGER, '9007199254740991'],
])('takes %j as it is', (value, transId) => {
  expect(readTransId(value)).toBe(transId);
});

test('leaves out what has no value, nested too, and keeps numbers numbers', () => {
  const json = toTransactionJson({
    trans_id: 'T1',
    ip: null,
    trans_amt: 12.5,
    score: Number.NaN,
    items: [{ item_id: 7, item_desc: null }],
    platform_id: 'null',
  });
  expect(json).toBe('{"trans_id":"T1","trans_amt":12.5,"items":[{"item_id":7}],"platform_id":"null"}');
});
