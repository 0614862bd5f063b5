import { type BenchResult } from './result.ts';

/** One run: so many of all payments are of ids that always get one odd answer to one operation. */
export interface OddRun {
  readonly operation: 'POST' | 'PATCH';
  /** `none` where the share is 0. */
  readonly kind: string;
  /** 0 to 1. */
  readonly share: number;
}

export interface OddFigures extends OddRun {
  /** Good records that the service accepted in each second that was measured. */
  readonly goodPerSecond: number;
  /** Good records that were written and not accepted at the end. */
  readonly waiting: number;
  /** Requests of that operation in each second. */
  readonly requestsPerSecond: number;
  /** Odd records written, and dead letters by the end. */
  readonly odd: number;
  readonly deadLetters: number;
  readonly mostRssMb: number;
}

/** With up to 4 % of them the others keep their rate. */
const LARGEST_SHARE = 0.04;
const LEAST_OF_NONE = 0.95;

/** The runs as a table, and a sentence for each whose good records were slower than without odd ones. */
export function resultOf(runs: readonly OddFigures[]): BenchResult {
  const noneOf = ({ operation }: OddRun): number =>
    runs.find((run) => run.operation === operation && run.share === 0)?.goodPerSecond ?? Number.NaN;
  return {
    columns: ['to', 'odd', '%', 'good/s', 'of none', 'waiting', 'requests/s', 'odd records', 'dead letters', 'RSS MB'],
    rows: runs.map((run) => [
      run.operation,
      run.kind,
      String(Math.round(run.share * 1000) / 10),
      run.goodPerSecond.toFixed(0),
      `${(100 * (run.goodPerSecond / noneOf(run))).toFixed(0)} %`,
      String(run.waiting),
      run.requestsPerSecond.toFixed(1),
      String(run.odd),
      String(run.deadLetters),
      run.mostRssMb.toFixed(0),
    ]),
    figures: { runs },
    missed: runs
      .filter((run) => run.share <= LARGEST_SHARE && !(run.goodPerSecond >= LEAST_OF_NONE * noneOf(run)))
      .map(
        (run) =>
          `${run.operation}, ${String(100 * run.share)} % ${run.kind}: ${run.goodPerSecond.toFixed(0)} good records a second, at least ${(LEAST_OF_NONE * noneOf(run)).toFixed(0)}`,
      ),
  };
}
