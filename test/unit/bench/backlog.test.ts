import { describe, expect, test } from 'vitest';
import { drawnKeyPlan, hottestShare, keyPlan, recordOf, valueOf } from '../../bench/backlog.ts';

describe('the backlog', () => {
  test.each([false, true])('is of JSON with the number of the record in one place (small: %s)', (small) => {
    const value = valueOf(12_345, 678, small);
    expect(JSON.parse(value)).toMatchObject({ trans_id: 'b00012345', cust_id: 'c000678' });
    expect(recordOf(Buffer.from(`before${value}`), 6)).toBe(12_345);
    expect(value.length).toBe(small ? 84 : 704);
  });

  test('has even keys in turn', () => {
    const { keyOf, keys } = keyPlan('even');
    expect([keyOf(0), keyOf(9_999), keyOf(10_000)]).toEqual([0, 9_999, 0]);
    expect(
      hottestShare(
        Uint32Array.from({ length: 20_000 }, (_, record) => keyOf(record)),
        keys,
      ),
    ).toBe(0.0001);
  });

  test('has a key with nearly a fifth of all records, the same in each run', () => {
    const [first, second] = [keyPlan('zipf'), keyPlan('zipf')].map(({ keyOf }) =>
      Uint32Array.from({ length: 50_000 }, (_, record) => keyOf(record)),
    );
    expect(hottestShare(first ?? new Uint32Array(1), 1000)).toBeCloseTo(0.18, 1);
    expect(second).toEqual(first);
  });
});

function draws(): readonly number[] {
  const { keyOf } = drawnKeyPlan(500);
  return Array.from({ length: 50_000 }, (_, record) => keyOf(record));
}

test('has keys that are drawn evenly, the same in each run', () => {
  const drawn = draws();
  expect(new Set(drawn).size).toBe(500);
  expect(hottestShare(Uint32Array.from(drawn), 500)).toBeLessThan(0.003);
  expect(draws()).toEqual(drawn);
});
