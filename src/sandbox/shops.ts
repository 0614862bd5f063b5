import { type Draw } from '../kernel/clock.ts';
import { seededDraw } from './service/chance.ts';
import { EURO_RATES } from './service/code-sets.ts';
import { formatSeconds } from './service/timestamp.ts';

/** One made-up payment: what its shop writes when it is created, and later when the bank has answered. */
export interface ShopPayment {
  /** The key of both records: the customer. */
  readonly key: string;
  readonly transId: string;
  /** The value of the created record: datapoints by the spec's names. */
  readonly created: Readonly<Record<string, unknown>>;
  /** How long the bank takes. */
  readonly authorizedAfterMs: number;
  /** The value of the authorized record: a status update with its trans_id and the local `pmt_method`. `tsMs`: when it happened. */
  readonly authorized: (tsMs: number) => Readonly<Record<string, unknown>>;
}

export interface Shops {
  /** The next payment, made at `nowMs` (milliseconds since 1970). */
  payment(nowMs: number): ShopPayment;
}

export interface ShopsOptions {
  /** The same seed gives the same payments, trans_ids included. */
  readonly seed: number;
  /** How many customers there are; default 1000. */
  readonly customers?: number;
}

/**
 * The most payments one customer makes. A customer's payments are scored one after the other, so one who made more
 * than this share would slow the whole down, which no real customer does.
 */
const MAX_SHARE = 0.03;
/** 1: the tenth customer makes a tenth of what the first one does. */
const UNEVENNESS = 0.9;

interface Country {
  readonly code: string;
  readonly currency: string;
  readonly city: string;
  readonly street: string;
}

const COUNTRIES: readonly Country[] = [
  { code: 'DE', currency: 'EUR', city: 'Leipzig', street: 'Lindenweg' },
  { code: 'FR', currency: 'EUR', city: 'Nantes', street: 'Rue des Tilleuls' },
  { code: 'GB', currency: 'GBP', city: 'Leeds', street: 'Mill Lane' },
  { code: 'US', currency: 'USD', city: 'Dayton', street: 'Maple Avenue' },
  { code: 'SE', currency: 'SEK', city: 'Uppsala', street: 'Bjorkgatan' },
  { code: 'PL', currency: 'PLN', city: 'Lublin', street: 'Lipowa' },
  { code: 'CH', currency: 'CHF', city: 'Bern', street: 'Ahornweg' },
  { code: 'JP', currency: 'JPY', city: 'Sendai', street: 'Aoba' },
];
const FIRST_NAMES = [
  'Ada',
  'Bruno',
  'Chiara',
  'Deniz',
  'Elif',
  'Finn',
  'Greta',
  'Hugo',
  'Ines',
  'Jonas',
  'Kaya',
  'Lena',
];
const LAST_NAMES = ['Adler', 'Bianchi', 'Costa', 'Dubois', 'Eriksen', 'Fischer', 'Garcia', 'Horvat', 'Ito', 'Jansen'];
const GOODS = ['Trail shoes', 'Desk lamp', 'Coffee grinder', 'Rain jacket', 'Headphones', 'Board game', 'Backpack'];
const BRANDS = [
  { brand: 'visa', bin: '400000' },
  { brand: 'mastercard', bin: '510000' },
  { brand: 'amex', bin: '340000' },
];

interface Customer {
  readonly id: string;
  readonly datapoints: Readonly<Record<string, unknown>>;
  readonly country: Country;
  readonly method: string;
  payments: number;
}

/** What kind of payment it is to be; the sandbox's rules answer each as named. */
type Scenario = 'ordinary' | 'review' | 'decline' | 'custom';

/** Shares of 1; about one in twelve payments is for manual review. */
const SCENARIOS: readonly (readonly [Scenario, number])[] = [
  ['review', 1 / 12],
  ['decline', 0.04],
  ['custom', 0.003],
  ['ordinary', 1],
];

/** What the bank says of a payment that was sent to it; shares of 1. The seventh status is for what the service declined. */
const STATUSES: readonly (readonly [string, number])[] = [
  ['approved', 0.78],
  ['approved_recurring', 0.07],
  ['declined', 0.09],
  ['declined_fraudscreening', 0.02],
  ['error', 0.02],
  ['payment_pending', 0.02],
];

const REASON_CODES = ['05', '51', '54', '57', '61'];
const DECLINE_REASONS = ['insufficient funds', 'do not honor', 'expired card', 'limit exceeded'];
const AUTHENTICATION = ['fully_authenticated', 'partially_authenticated', 'not_authenticated', 'unable'];

/** One payment in forty has one of these: datapoints that the service scores and complains about. */
const ODDITIES: readonly Readonly<Record<string, unknown>>[] = [
  { bill_ad_ctry: 'UK' },
  { ip: '10.20.30.40' },
  { ip: 'unknown' },
  { trans_ts: '01/03/2026 09:30' },
  { cust_name_title: 'null' },
  { ship_ad_zip: 4711 },
  { loyalty_tier: 'gold' },
];
const ODDITY_SHARE = 1 / 40;

/** Made-up shops whose customers pay; pure: the seed and `nowMs` decide everything. */
export function createShops({ seed, customers = 1_000 }: ShopsOptions): Shops {
  const draw = seededDraw(seed);
  const people = Array.from({ length: customers }, (_, index) => makeCustomer(index, draw));
  const upTo = runningShares(customers);
  const prefix = `t${(seed >>> 0).toString(36)}-`;
  let made = 0;
  return {
    payment(nowMs) {
      const customer = people[search(upTo, draw())];
      if (customer === undefined) throw new RangeError('there must be at least one customer');
      customer.payments += 1;
      made += 1;
      const transId = prefix + made.toString(36).padStart(6, '0');
      const scenario = choose(SCENARIOS, draw);
      const created = makeCreated({ customer, transId, scenario, nowMs }, draw);
      const outcome = makeOutcome(scenario, transId, draw);
      return {
        key: customer.id,
        transId,
        created,
        authorizedAfterMs: Math.round(150 + 1_200 * draw() ** 3),
        authorized: (tsMs) => ({ trans_id: transId, pmt_method: customer.method, ts: formatSeconds(tsMs), ...outcome }),
      };
    },
  };
}

function makeCustomer(index: number, draw: Draw): Customer {
  const country = pick(COUNTRIES, draw);
  const [first, last] = [pick(FIRST_NAMES, draw), pick(LAST_NAMES, draw)];
  const id = `c${index.toString().padStart(5, '0')}`;
  const zip = digits(5, draw);
  const line1 = `${country.street} ${1 + whole(80, draw)}`;
  const method = draw() < 0.85 ? 'credit_card' : pick(['paypal', 'sepa', 'invoice'], draw);
  const datapoints = {
    platform_id: 'demo',
    cust_id: id,
    cust_first_name: first,
    cust_last_name: last,
    cust_email: `${first}.${last}.${index}@example.com`.toLowerCase(),
    pmt_method: method,
    ...(method === 'credit_card' ? makeCard(draw) : {}),
    bill_ad_ctry: country.code,
    bill_ad_city: country.city,
    bill_ad_line1: line1,
    bill_ad_zip: zip,
    ship_ad_first_name: first,
    ship_ad_last_name: last,
    ship_ad_ctry: country.code,
    ship_ad_city: country.city,
    ship_ad_line1: line1,
    ship_ad_zip: zip,
    // Addresses for documentation (RFC 5737): they belong to nobody.
    ip: `${pick(['198.51.100', '203.0.113'], draw)}.${1 + whole(254, draw)}`,
  };
  return { id, datapoints, country, method, payments: 0 };
}

/** Never a card number, not even a false one. */
function makeCard(draw: Draw): Readonly<Record<string, unknown>> {
  const { brand, bin } = pick(BRANDS, draw);
  const hash = Array.from({ length: 40 }, () => String.fromCharCode(97 + whole(26, draw))).join('');
  return {
    cc_num_hash: hash,
    cc_bin: bin,
    cc_last_4_dig: digits(4, draw),
    bin_brand: brand,
    cc_exp_dt: `0${1 + whole(9, draw)}29`,
  };
}

interface Order {
  readonly customer: Customer;
  readonly transId: string;
  readonly scenario: Scenario;
  readonly nowMs: number;
}

function makeCreated({ customer, transId, scenario, nowMs }: Order, draw: Draw): Readonly<Record<string, unknown>> {
  const { country } = customer;
  const amount = makeAmount(scenario, country.currency, draw);
  const quantity = 1 + whole(3, draw);
  const item = {
    item_id: 1 + whole(9_999, draw),
    unique_item_id: `sku-${digits(4, draw)}`,
    item_desc: pick(GOODS, draw),
    item_amt: amount,
    quantity,
  };
  const elsewhere = pick(
    COUNTRIES.filter(({ code }) => code !== country.code),
    draw,
  );
  return {
    trans_id: transId,
    order_id: `${customer.id}-${customer.payments}`,
    ...customer.datapoints,
    sub_seller: `shop-${1 + whole(12, draw)}`,
    // Both forms occur in the service's own examples.
    trans_amt: draw() < 0.05 ? String(amount) : amount,
    trans_currency: country.currency,
    trans_ts: formatSeconds(nowMs),
    items: [item],
    ...(scenario === 'review' ? { ship_ad_ctry: elsewhere.code, ship_ad_city: elsewhere.city } : {}),
    ...(scenario === 'decline' ? { cust_email: `${customer.id}@throwaway.example.com` } : {}),
    ...(scenario === 'custom' ? { cust_email: `custom.${customer.id}@example.com` } : {}),
    // A payment that is to be reviewed or declined keeps the datapoints that lead to it.
    ...(scenario === 'ordinary' && draw() < ODDITY_SHARE ? pick(ODDITIES, draw) : {}),
  };
}

function makeAmount(scenario: Scenario, currency: string, draw: Draw): number {
  const euros =
    scenario === 'review'
      ? 1_100 + 3_000 * draw()
      : scenario === 'decline'
        ? 11_000 + 9_000 * draw()
        : 5 + 700 * draw() ** 3;
  return Math.round((euros / (EURO_RATES.get(currency) ?? 1)) * 100) / 100;
}

/** The status and the fields that it needs (spec: Sync status update). */
function makeOutcome(scenario: Scenario, transId: string, draw: Draw): Readonly<Record<string, unknown>> {
  if (scenario === 'decline') return { status: 'frg_declined' };
  const status = choose(STATUSES, draw);
  if (status === 'declined') {
    const reason =
      draw() < 0.5
        ? { issuer_reason_code: pick(REASON_CODES, draw) }
        : { issuer_decline_reason: pick(DECLINE_REASONS, draw) };
    return { status, ...reason, authentication_status: pick(AUTHENTICATION, draw) };
  }
  if (status !== 'approved') return { status };
  return {
    status,
    acq_ref_id: `arn-${transId}`,
    authentication_status: pick(AUTHENTICATION, draw),
    ...(draw() < 0.1 ? { exemption_type_raised: pick(['low_value', 'low_risk'], draw) } : {}),
  };
}

/** Running sums of the customers' shares: uneven, none above the cap (where the number of customers allows it). */
function runningShares(customers: number): readonly number[] {
  const weights = Array.from({ length: customers }, (_, index) => 1 / (index + 1) ** UNEVENNESS);
  const cap = Math.max(MAX_SHARE, 1 / customers);
  // The weights fall, so the capped ones are the first; each one capped leaves more to the others.
  let capped = 0;
  let rest = weights.reduce((sum, weight) => sum + weight, 0);
  let scale = 1 / rest;
  while (capped < customers && (weights[capped] ?? 0) * scale > cap) {
    rest -= weights[capped] ?? 0;
    capped += 1;
    scale = (1 - capped * cap) / rest;
  }
  let sum = 0;
  return weights.map((weight, index) => (sum += index < capped ? cap : weight * scale));
}

/** The first place whose running sum is above the number drawn. */
function search(upTo: readonly number[], drawn: number): number {
  let [low, high] = [0, upTo.length - 1];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((upTo[middle] ?? 1) > drawn) high = middle;
    else low = middle + 1;
  }
  return low;
}

function choose<T>(shares: readonly (readonly [T, number])[], draw: Draw): T {
  let left = draw();
  for (const [value, share] of shares) {
    if (left < share) return value;
    left -= share;
  }
  return pick(shares, () => 0)[0];
}

function whole(below: number, draw: Draw): number {
  return Math.floor(draw() * below);
}

function pick<T>(values: readonly T[], draw: Draw): T {
  return values[whole(values.length, draw)] as T;
}

function digits(length: number, draw: Draw): string {
  return whole(10 ** length, draw)
    .toString()
    .padStart(length, '0');
}
