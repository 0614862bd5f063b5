import { type Draw } from '../../src/kernel/clock.ts';
import { type ShopPayment, type Shops } from '../../src/sandbox/shops.ts';
import { oddPrefix } from '../support/odd-answers.ts';
import { deckOf } from './makers.ts';
import { ODD_ANSWERS, ODD_TIMEOUTS } from './odd-kinds.ts';

export interface OddShopsOptions {
  readonly draw: Draw;
  /** Of all payments. */
  readonly share: number;
  /** Of the odd ones: those whose calls end by a timeout. */
  readonly timeouts: number;
  /** Whether odd payments have ended. Absent: they never do. */
  readonly isOver?: () => boolean;
}

/** Of the odd payments, those that a payment of the same customer follows, with a good answer of its own. */
const FOLLOWED = 0.25;

/** A customer pays again after so many others: keys are mostly distinct, and no key is hot. */
const CUSTOMERS = 20_000;

/**
 * Shops among whose payments some are odd, each of them of a customer of its own. The others are of customers who pay in
 * turn, and are the same whatever share is odd.
 */
export function oddShops(given: Shops, { draw, share, timeouts, isOver }: OddShopsOptions): Shops {
  const shops = inTurn(given);
  const answer = deckOf(draw, Object.keys(ODD_ANSWERS));
  const timeout = deckOf(draw, Object.keys(ODD_TIMEOUTS));
  let odd = 0;
  let follower: string | null = null;
  return {
    payment: (nowMs) => {
      if (follower !== null) {
        const key = follower;
        follower = null;
        return changed(shops.payment(nowMs), key, `${oddPrefix('after')}${key}`);
      }
      if (draw() >= share || isOver?.() === true) return shops.payment(nowMs);
      odd += 1;
      const key = `odd-key-${String(odd)}`;
      if (draw() < FOLLOWED) follower = key;
      const kind = draw() < timeouts ? timeout() : answer();
      return changed(shops.payment(nowMs), key, `${oddPrefix(kind)}${String(odd)}`);
    },
  };
}

function inTurn(shops: Shops): Shops {
  let made = 0;
  return {
    payment: (nowMs) => {
      const payment = shops.payment(nowMs);
      made += 1;
      return changed(payment, `c${String(made % CUSTOMERS).padStart(5, '0')}`, payment.transId);
    },
  };
}

function changed(payment: ShopPayment, key: string, transId: string): ShopPayment {
  return {
    ...payment,
    key,
    transId,
    created: { ...payment.created, cust_id: key, trans_id: transId },
    authorized: (tsMs) => ({ ...payment.authorized(tsMs), trans_id: transId }),
  };
}
