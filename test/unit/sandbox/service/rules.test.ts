import { describe, expect, test } from 'vitest';
import { judge, RULES } from '../../../../src/sandbox/service/rules.ts';

const plain = (): Record<string, unknown> => ({
  trans_id: 't-1',
  trans_amt: 40,
  trans_currency: 'EUR',
  cust_email: 'ada@example.com',
  bill_ad_ctry: 'DE',
  ship_ad_ctry: 'DE',
  ip: '198.51.100.7',
});
const judged = (change: Record<string, unknown>) => judge({ ...plain(), ...change }, 't-1');
const signalsOf = (change: Record<string, unknown>): string[] => judged(change).signals.map(({ id }) => id);

describe('the rules of the decision', () => {
  test('a plain payment is approved, with liability and without signals', () => {
    const { score, ...rest } = judged({});
    expect(rest).toEqual({ decision: 1, isLiable: true, liabilityReason: '', signals: [], euros: 40 });
    expect(score).toBeLessThan(0.1);
  });

  test.each([
    ['amount_large', { trans_amt: 1_000 }],
    ['countries_differ', { ship_ad_ctry: 'FR' }],
    ['email_throwaway', { cust_email: 'x@throwaway.example.com' }],
    ['email_missing', { cust_email: null }],
    ['ip_reserved', { ip: '10.0.0.1' }],
    ['many_pieces', { items: [{ quantity: 30 }, { quantity: 21 }] }],
    ['seller_currency_differs', { slr_crncy: 'USD' }],
    ['seller_country_differs', { slr_ctry: 'FR' }],
  ])('%s is a signal of its own', (id, change) => {
    expect(signalsOf(change)).toEqual([id]);
  });

  test('every rule has a signal test', () => {
    expect(RULES.map(({ id }) => id)).toHaveLength(9);
    expect(signalsOf({ trans_amt: 10_000 })).toEqual(['amount_large', 'amount_extreme']);
  });

  test('two strong signals lead to manual review, three to a decline', () => {
    expect(judged({ trans_amt: 1_000, ship_ad_ctry: 'FR' }).decision).toBe(2);
    const declined = judged({ trans_amt: 1_000, ship_ad_ctry: 'FR', cust_email: 'x@throwaway.example.com' });
    expect(declined).toMatchObject({ decision: 0, isLiable: false, liabilityReason: 'declined' });
  });

  test('reckons amounts in euros', () => {
    expect(signalsOf({ trans_amt: 20_000, trans_currency: 'JPY' })).toEqual([]);
    expect(signalsOf({ trans_amt: '900', trans_currency: 'GBP' })).toEqual(['amount_large']);
    expect(signalsOf({ trans_amt: 900, trans_currency: 'constructor' })).toEqual([]);
  });

  test.each([
    ['not_ffp', { platform_id: 'not-ffp' }],
    ['unknown_amount', { trans_amt: undefined }],
    ['unknown_amount', { trans_amt: 'many' }],
    ['high_amount', { trans_amt: 5_001 }],
    ['approve_list', { cust_email: 'approve+1@example.com' }],
  ])('takes no liability: %s', (liabilityReason, change) => {
    expect(judged(change)).toMatchObject({ isLiable: false, liabilityReason });
  });

  test.each([
    ['approve', 1],
    ['decline', 0],
    ['review', 2],
    ['custom', 3],
  ])('an address that begins with %s gets decision %i', (wish, decision) => {
    expect(judged({ cust_email: `${wish}@example.com` }).decision).toBe(decision);
    expect(judged({ cust_email: `${wish}ed@example.com` }).decision).toBe(1);
  });

  test('the score has two decimals and stays within 0 and 1', () => {
    const everything = {
      trans_amt: 1e9,
      ship_ad_ctry: 'FR',
      cust_email: 'x@throwaway.example.com',
      items: [{ quantity: 99 }],
      slr_crncy: 'USD',
      slr_ctry: 'US',
      ip: '10.0.0.1',
    };
    expect(judged(everything).score).toBe(0.99);
    expect(judged({}).score * 100).toBeCloseTo(Math.round(judged({}).score * 100), 9);
  });
});
