import { type Moment } from './moment.ts';

/** Counts of one moment whose growth is shown. */
export interface Point {
  readonly atMs: number;
  readonly created: number;
  readonly scored: number;
  readonly scores: number;
  readonly authorized: number;
  readonly batches: number;
  readonly linked: number;
  readonly reviews: number;
  readonly webhooks: number;
  readonly published: number;
}

export type Counted = Exclude<keyof Point, 'atMs'>;

/** One more than the seconds shown: a rate needs two points. */
const MOST_POINTS = 61;
const SECOND_MS = 1000;
/** Batches leave about twice a second: over a single second the rate would jump. */
const RATE_POINTS = 4;

/** The last minute, one point a second. */
export class History {
  readonly #points: Point[] = [];

  /** Keeps a moment when a second has passed since the last one kept; `atMs`: monotonic. */
  add({ created, authorized, scores, published, ledger }: Moment, atMs: number): void {
    const last = this.#points.at(-1);
    // A little early is in time: looks come every half a second, and never to the millisecond.
    if (last !== undefined && atMs - last.atMs < SECOND_MS - 100) return;
    const { scorings: scored, batches, linked, reviews, webhooksDelivered: webhooks } = ledger;
    this.#points.push({ atMs, created, scored, scores, authorized, batches, linked, reviews, webhooks, published });
    if (this.#points.length > MOST_POINTS) this.#points.shift();
  }

  /** How many a second, over the last three seconds; 0 before there are two points. */
  rate(of: Counted): number {
    const recent = this.#points.slice(-RATE_POINTS);
    return rateBetween(recent[0], recent.at(-1), of);
  }

  /** How many a second in each second of the last minute, oldest first. */
  series(of: Counted): readonly number[] {
    return this.#points.slice(1).map((point, index) => rateBetween(this.#points[index], point, of));
  }
}

/** Never below zero: a reader that starts over counts anew. */
function rateBetween(from: Point | undefined, to: Point | undefined, of: Counted): number {
  if (from === undefined || to === undefined || to.atMs <= from.atMs) return 0;
  return Math.max(0, ((to[of] - from[of]) / (to.atMs - from.atMs)) * SECOND_MS);
}
