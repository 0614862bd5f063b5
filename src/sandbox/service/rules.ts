import { addressDefect } from './addresses.ts';
import { shareOf } from './chance.ts';
import { EURO_RATES } from './code-sets.ts';
import { isJsonObject, type JsonObject } from './json.ts';

/** `fraugster_approved` of the spec: 0 decline, 1 approve, 2 manual review, 3 custom action. */
export type DecisionCode = 0 | 1 | 2 | 3;

/** One of `evidence.signals` (spec: Transaction response). */
export interface Signal {
  readonly category: 'seller' | 'user';
  readonly id: string;
  readonly related_to: readonly string[];
  readonly type: 'technical' | 'bad';
}

/** Why there is no liability; empty: there is, or the decision is still open. */
export type LiabilityReason = '' | 'declined' | 'high_amount' | 'not_ffp' | 'unknown_amount' | 'approve_list';

export interface Judgement {
  readonly decision: DecisionCode;
  /** 0.00 to 1.00, two decimals. */
  readonly score: number;
  readonly isLiable: boolean;
  readonly liabilityReason: LiabilityReason;
  readonly signals: readonly Signal[];
  /** The amount, reckoned in euros; null: there is no readable one. */
  readonly euros: number | null;
}

interface Rule extends Signal {
  /** Added to the score when the rule hits. */
  readonly points: number;
  readonly hits: (transaction: JsonObject, euros: number | null) => boolean;
}

/** From these scores on a transaction is reviewed, or declined. */
const REVIEW_FROM = 0.5;
const DECLINE_FROM = 0.8;
/** Above this amount the provider takes no liability (spec: high_amount). */
const LIABLE_TO_EUROS = 5_000;

/** The rules, one a row; docs/sandbox.md shows them. */
export const RULES: readonly Rule[] = [
  {
    id: 'amount_large',
    category: 'user',
    type: 'bad',
    related_to: ['trans_amt', 'trans_currency'],
    points: 0.3,
    hits: (_, euros) => euros !== null && euros >= 1_000,
  },
  {
    id: 'amount_extreme',
    category: 'user',
    type: 'bad',
    related_to: ['trans_amt', 'trans_currency'],
    points: 0.3,
    hits: (_, euros) => euros !== null && euros >= 10_000,
  },
  {
    id: 'countries_differ',
    category: 'user',
    type: 'bad',
    related_to: ['bill_ad_ctry', 'ship_ad_ctry'],
    points: 0.25,
    hits: (of) => differ(of, 'bill_ad_ctry', 'ship_ad_ctry'),
  },
  {
    id: 'email_throwaway',
    category: 'user',
    type: 'bad',
    related_to: ['cust_email'],
    points: 0.3,
    hits: (of) => textOf(of, 'cust_email')?.endsWith('@throwaway.example.com') === true,
  },
  {
    id: 'email_missing',
    category: 'user',
    type: 'technical',
    related_to: ['cust_email'],
    points: 0.1,
    hits: (of) => textOf(of, 'cust_email') === null,
  },
  {
    id: 'ip_reserved',
    category: 'user',
    type: 'technical',
    related_to: ['ip'],
    points: 0.1,
    hits: (of) => {
      const ip = textOf(of, 'ip');
      return ip !== null && addressDefect(ip) === 'reserved';
    },
  },
  {
    id: 'many_pieces',
    category: 'user',
    type: 'bad',
    related_to: ['items'],
    points: 0.2,
    hits: (of) => piecesOf(of) > 50,
  },
  {
    id: 'seller_currency_differs',
    category: 'seller',
    type: 'technical',
    related_to: ['slr_crncy', 'trans_currency'],
    points: 0.05,
    hits: (of) => differ(of, 'slr_crncy', 'trans_currency'),
  },
  {
    id: 'seller_country_differs',
    category: 'seller',
    type: 'bad',
    related_to: ['slr_ctry', 'bill_ad_ctry'],
    points: 0.1,
    hits: (of) => differ(of, 'slr_ctry', 'bill_ad_ctry'),
  },
];

/** An e-mail address that asks for its answer by name, such as `review+7@example.com`, whatever the rules say. */
const WISH = /^(approve|decline|review|custom)[.+@-]/u;
const WISHES: Readonly<Record<string, { readonly decision: DecisionCode; readonly score: number }>> = {
  approve: { decision: 1, score: 0.01 },
  decline: { decision: 0, score: 0.95 },
  review: { decision: 2, score: 0.6 },
  custom: { decision: 3, score: 0.4 },
};

/** Judges a transaction by its datapoints alone: the same ones always get the same answer. */
export function judge(transaction: JsonObject, transId: string): Judgement {
  const euros = eurosOf(transaction);
  const signals: Signal[] = [];
  let points = 0.02 + 0.07 * shareOf(transId, 0);
  for (const { points: more, hits, ...signal } of RULES) {
    if (!hits(transaction, euros)) continue;
    points += more;
    signals.push(signal);
  }
  const wish = WISH.exec(textOf(transaction, 'cust_email') ?? '')?.[1];
  const wished = wish === undefined ? undefined : WISHES[wish];
  const score = wished?.score ?? Math.round(Math.min(points, 0.99) * 100) / 100;
  const decision = wished?.decision ?? (score >= DECLINE_FROM ? 0 : score >= REVIEW_FROM ? 2 : 1);
  const liabilityReason = liabilityOf(transaction, decision, euros, wish === 'approve');
  return { decision, score, isLiable: decision === 1 && liabilityReason === '', liabilityReason, signals, euros };
}

function liabilityOf(
  transaction: JsonObject,
  decision: DecisionCode,
  euros: number | null,
  approveList: boolean,
): LiabilityReason {
  if (decision === 0) return 'declined';
  if (approveList) return 'approve_list';
  if (textOf(transaction, 'platform_id') === 'not-ffp') return 'not_ffp';
  if (euros === null) return 'unknown_amount';
  return euros > LIABLE_TO_EUROS ? 'high_amount' : '';
}

/** The amount in euros; a currency that is missing or unknown counts as euro. Null: there is no readable amount. */
function eurosOf(transaction: JsonObject): number | null {
  const amount = transaction['trans_amt'];
  if (typeof amount !== 'number' && (typeof amount !== 'string' || amount === '')) return null;
  const value = Number(amount);
  if (!Number.isFinite(value)) return null;
  return value * (EURO_RATES.get(textOf(transaction, 'trans_currency') ?? 'EUR') ?? 1);
}

function piecesOf(transaction: JsonObject): number {
  const items = transaction['items'];
  if (!Array.isArray(items)) return 0;
  let pieces = 0;
  for (const item of items) {
    const quantity = isJsonObject(item) ? item['quantity'] : 0;
    if (typeof quantity === 'number') pieces += quantity;
  }
  return pieces;
}

function differ(transaction: JsonObject, one: string, other: string): boolean {
  const first = textOf(transaction, one);
  const second = textOf(transaction, other);
  return first !== null && second !== null && first !== second;
}

function textOf(transaction: JsonObject, name: string): string | null {
  const value = transaction[name];
  return typeof value === 'string' && value !== '' ? value : null;
}
