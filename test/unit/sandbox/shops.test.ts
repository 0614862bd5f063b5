import { describe, expect, test } from 'vitest';
import { judge } from '../../../src/sandbox/service/rules.ts';
import { checkUpdate, STATUSES } from '../../../src/sandbox/service/update-rules.ts';
import { validate } from '../../../src/sandbox/service/validation.ts';
import { createShops, type ShopPayment } from '../../../src/sandbox/shops.ts';

const NOW_MS = Date.UTC(2026, 2, 1, 9, 30);
const PAYMENTS = 20_000;

const make = (seed: number, count: number, customers = 1_000): ShopPayment[] => {
  const shops = createShops({ seed, customers });
  return Array.from({ length: count }, (_, index) => shops.payment(NOW_MS + index));
};
const many = make(1, PAYMENTS);
const shareOf = (accepts: (payment: ShopPayment) => boolean): number => many.filter(accepts).length / PAYMENTS;
const decisionOf = ({ created, transId }: ShopPayment): number => judge(created, transId).decision;
const outcomeOf = ({ authorized }: ShopPayment) => authorized(NOW_MS);

const plain = (seed: number): unknown =>
  make(seed, 50).map((payment) => [payment.key, payment.created, payment.authorizedAfterMs, outcomeOf(payment)]);
const countsOf = (payments: readonly ShopPayment[]): number[] => {
  const counts = new Map<string, number>();
  for (const { key } of payments) counts.set(key, (counts.get(key) ?? 0) + 1);
  return [...counts.values()].sort((one, other) => other - one);
};

test('the same seed makes the same payments, another seed others', () => {
  expect(plain(7)).toEqual(plain(7));
  expect(plain(7)).not.toEqual(plain(8));
});

test('every trans_id is new', () => {
  expect(new Set(many.map(({ transId }) => transId)).size).toBe(PAYMENTS);
  expect(many.every(({ transId, created }) => created['trans_id'] === transId)).toBe(true);
});

test('the key is the customer, and the order id counts the payments of each', () => {
  const next = new Map<string, number>();
  for (const { key, created } of many) {
    const number = (next.get(key) ?? 0) + 1;
    next.set(key, number);
    expect(created).toMatchObject({ cust_id: key, order_id: `${key}-${number}` });
  }
});

describe('activity of customers', () => {
  test('is uneven, and nobody makes much more than three of a hundred payments', () => {
    const counts = countsOf(many);
    expect(counts[0]).toBeLessThan(PAYMENTS * 0.035);
    expect(counts[0]).toBeGreaterThan(20 * (counts[500] ?? 0));
  });

  test('is even where there are too few for that', () => {
    const counts = countsOf(make(1, 5_000, 10));
    expect(counts).toHaveLength(10);
    expect(counts[0]).toBeLessThan(5_000 * 0.13);
  });
});

describe('what the service says of them', () => {
  test('about one in twelve is for manual review', () => {
    expect(shareOf((payment) => decisionOf(payment) === 2)).toBeGreaterThan(0.075);
    expect(shareOf((payment) => decisionOf(payment) === 2)).toBeLessThan(0.092);
  });

  test('every decision occurs, and most are approved', () => {
    expect(new Set(many.map(decisionOf))).toEqual(new Set([0, 1, 2, 3]));
    expect(shareOf((payment) => decisionOf(payment) === 1)).toBeGreaterThan(0.8);
  });

  test('a few have datapoints that fail validation', () => {
    const share = shareOf(({ created }) => validate(created).length > 0);
    expect(share).toBeGreaterThan(0.01);
    expect(share).toBeLessThan(0.04);
  });
});

describe('outcomes', () => {
  test('keep the rules of status updates, but for the field that stays at home', () => {
    for (const payment of many) {
      const { trans_id: transId, pmt_method: method, ...update } = outcomeOf(payment);
      expect(transId).toBe(payment.transId);
      expect(method).toBeTypeOf('string');
      expect(checkUpdate(update)).toBeTypeOf('object');
    }
  });

  test('cover all seven statuses, approved most of all and always with its reference', () => {
    expect(new Set(many.map((payment) => outcomeOf(payment)['status']))).toEqual(new Set(STATUSES));
    expect(shareOf((payment) => outcomeOf(payment)['status'] === 'approved')).toBeGreaterThan(0.7);
    expect(
      shareOf(
        (payment) => outcomeOf(payment)['status'] === 'approved' && outcomeOf(payment)['acq_ref_id'] === undefined,
      ),
    ).toBe(0);
  });

  test('what the service declined is not sent to the bank', () => {
    for (const payment of many) {
      expect(outcomeOf(payment)['status'] === 'frg_declined').toBe(decisionOf(payment) === 0);
    }
  });

  test('carry the time of the event, to the second', () => {
    expect(many[0]?.authorized(NOW_MS + 1_999)).toMatchObject({ ts: '2026-03-01T09:30:01Z' });
    expect(many.every(({ authorizedAfterMs }) => authorizedAfterMs >= 150 && authorizedAfterMs <= 1_350)).toBe(true);
  });
});

test('no text holds what could be a card number', () => {
  for (const { created } of many.slice(0, 5_000)) {
    expect(JSON.stringify(created)).not.toMatch(/\d(?:[ -]?\d){12,}/u);
  }
});
