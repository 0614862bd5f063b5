import { type Moment } from './moment.ts';
import { type Reckoning } from './reckoning.ts';

/** One second as a line for people; `before`: the moment before, for rates. */
export function momentLine(now: Moment, before: Moment | null): string {
  const rate = (of: (moment: Moment) => number): string => `${String(of(now) - (before === null ? 0 : of(before)))}/s`;
  const { ledger, decisions } = now;
  const perBatch = ledger.batches === 0 ? '-' : (ledger.updates / ledger.batches).toFixed(1);
  return [
    `${String(now.second).padStart(4)} s`,
    `payments ${rate((of) => of.created)}, scored ${rate((of) => of.ledger.scorings)}, lag ${now.lag === null ? '-' : String(now.lag)}`,
    `approve ${String(decisions.approve)} decline ${String(decisions.decline)} review ${String(decisions.manual_review)} custom ${String(decisions.custom)}`,
    `statuses ${String(ledger.linked)} in ${String(ledger.batches)} batches (${perBatch} each)`,
    `reviews ${String(now.published)} of ${String(ledger.reviews)}`,
  ].join(' | ');
}

function row(what: string, done: number, of: number, verb: string, fine = done === of): string {
  return `  ${fine ? '✓' : '✗'} ${String(of).padStart(7)} ${what.padEnd(18)} ${String(done).padStart(7)} ${verb}`;
}

function count(what: string, number: number, fine: boolean): string {
  return `  ${fine ? '✓' : '✗'} ${String(number).padStart(7)} ${what}`;
}

/** How the demo went. */
export interface Ending {
  readonly end: Reckoning;
  /** How often the connector was killed. */
  readonly kills: number;
  /** Records written that are no payments, and records found in dead-letter topics. */
  readonly poison: number;
  readonly letters: number;
  readonly kept: boolean;
}

/** The end as lines for people. */
export function summaryLines({ end, kills, poison, letters, kept }: Ending): readonly string[] {
  const doubled = kills === 0 ? 'doubled' : `doubled (the connector was killed ${String(kills)} time(s))`;
  return [
    '',
    'What the screening service saw, against what the shops wrote:',
    row('payments', end.scored, end.payments, 'scored'),
    row('statuses', end.linked, end.statuses, 'linked to their payment'),
    row('reviews decided', end.reviewsPublished, end.reviewsDecided, 'published'),
    ...(poison + letters === 0
      ? []
      : [row('poison records', letters, poison, 'in a dead-letter topic', letters >= poison)]),
    count('lost', end.lost, end.lost === 0),
    count(doubled, end.doubled, end.doubled === 0 || kills > 0),
    count('out of order', end.outOfOrder, end.outOfOrder === 0),
    '',
    kept ? 'Everything is as promised.' : 'Something is not as promised.',
  ];
}
