import { describe, expect, test } from 'vitest';
import { seededDraw } from '../../../src/sandbox/service/chance.ts';
import { readFaults } from '../../../src/sandbox/service/faults.ts';
import { createShops, type ShopPayment } from '../../../src/sandbox/shops.ts';
import { isOdd, isRefusedWith200, ODD_ANSWERS, ODD_TIMEOUTS, oddKindRules } from '../../chaos/odd-kinds.ts';
import { oddShops } from '../../chaos/odd-shops.ts';

const MADE = 20_000;

const made = (share: number): readonly ShopPayment[] => {
  const shops = oddShops(createShops({ seed: 7 }), { draw: seededDraw(8), share, timeouts: 0.1 });
  return Array.from({ length: MADE }, () => shops.payment(0));
};

describe('shops with odd payments', () => {
  const payments = made(0.01);
  const odd = payments.filter(({ transId }) => isOdd(transId));

  test('have the share of them that is asked for, and with each fourth a payment of the same customer', () => {
    const followers = odd.filter(({ transId }) => transId.startsWith('odd-after-'));
    expect((odd.length - followers.length) / MADE).toBeCloseTo(0.01, 2);
    expect(followers.length / odd.length).toBeGreaterThan(0.15);
    expect(followers.length / odd.length).toBeLessThan(0.25);
  });

  test('have every kind of them, a tenth of them of those that time out', () => {
    const kinds = (of: object): number => odd.filter(({ transId }) => Object.keys(of).includes(kindOf(transId))).length;
    expect(new Set(odd.map(({ transId }) => kindOf(transId)))).toEqual(
      new Set(['after', ...Object.keys(ODD_ANSWERS), ...Object.keys(ODD_TIMEOUTS)]),
    );
    expect(kinds(ODD_TIMEOUTS) / (kinds(ODD_ANSWERS) + kinds(ODD_TIMEOUTS))).toBeCloseTo(0.1, 1);
  });

  test('give each odd payment a customer of its own, in the payment and in its status', () => {
    const keys = new Set(payments.filter(({ transId }) => !isOdd(transId)).map(({ key }) => key));
    for (const { key, transId, created, authorized } of odd) {
      expect(keys.has(key)).toBe(false);
      expect(created).toMatchObject({ trans_id: transId, cust_id: key });
      expect(authorized(0)).toMatchObject({ trans_id: transId });
    }
  });

  test('make the same good payments as without the odd ones', () => {
    const good = payments.filter(({ transId }) => !isOdd(transId)).map(({ transId, key }) => [transId, key]);
    const all = new Map(made(0).map(({ transId, key }) => [transId, key]));
    for (const [transId, key] of good) expect(all.get(transId ?? '')).toBe(key);
  });
});

describe('the kinds of odd answers', () => {
  test('are faults that the sandbox understands', () => {
    expect(readFaults({ rules: oddKindRules(50) })).toBeTypeOf('object');
  });

  test('have none that never ends a record', () => {
    expect(Object.keys(ODD_ANSWERS).filter((kind) => kind.startsWith('429'))).toEqual([]);
  });

  test('know which answers with 200 accept nothing', () => {
    expect(isRefusedWith200(['good', 'odd-200.error_msg-1'])).toBe(true);
    expect(isRefusedWith200(['good', 'odd-200.bom-1', 'odd-403-1'])).toBe(false);
  });
});

function kindOf(transId: string): string {
  return transId.split('-')[1] ?? '';
}
