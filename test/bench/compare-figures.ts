import { type Added, type Figures } from './compare-run.ts';
import { type BenchResult } from './result.ts';
import { NOTES, type Rival } from './rivals/roster.ts';
import { median } from './statistics.ts';

/** All rounds of one contestant at one latency of the service. */
export interface Row {
  readonly rival: Rival;
  /** Of the service, in milliseconds. */
  readonly latencyMs: number;
  /** What is possible in order at this latency; null: nothing limits but the machine. */
  readonly ceiling: number | null;
  readonly rounds: readonly Figures[];
}

/** All rounds of one contestant below saturation. */
export interface AddedRow {
  readonly rival: Rival;
  readonly rounds: readonly Added[];
}

export interface Comparison {
  readonly rows: readonly Row[];
  readonly added: readonly AddedRow[];
}

/** The middle of all rounds, figure by figure. */
export function middleOf<T extends object>(rounds: readonly T[]): T {
  const [first] = rounds;
  if (first === undefined) throw new RangeError('there is no round');
  const names = Object.keys(first) as (keyof T)[];
  return Object.fromEntries(names.map((name) => [name, median(rounds.map((each) => Number(each[name])))])) as T;
}

/** Requests a second that are possible in order: requests at once ÷ latency, or the hottest key alone. */
export function orderedCeiling(
  servedMs: number,
  {
    concurrency,
    hottest,
    networkMs,
  }: { readonly concurrency: number; readonly hottest: number; readonly networkMs: number },
): number {
  const latencyMs = servedMs + networkMs;
  return Math.min((1000 * concurrency) / latencyMs, 1000 / (hottest * latencyMs));
}

/** A bar: what a figure of the connector is divided by, and how large or small it may become. */
interface Bar {
  readonly latencyMs: number;
  readonly of: 'rate' | 'cpu';
  readonly by: Rival;
  readonly least?: number;
  readonly most?: number;
}

/** With 64 at once, 12 partitions, even keys and records of 704 bytes. */
const BARS: readonly Bar[] = [
  { latencyMs: 50, of: 'rate', by: 'parallel-consumer', least: 1 },
  { latencyMs: 50, of: 'rate', by: 'each-message', least: 1 },
  { latencyMs: 5, of: 'rate', by: 'parallel-consumer', least: 2.2 },
  { latencyMs: 5, of: 'rate', by: 'each-batch', least: 1 },
  { latencyMs: 5, of: 'rate', by: 'bare-loop', least: 0.85 },
  { latencyMs: 0, of: 'rate', by: 'bare-loop', least: 0.65 },
  { latencyMs: 0, of: 'rate', by: 'parallel-consumer', least: 6 },
  { latencyMs: 0, of: 'cpu', by: 'bare-loop', most: 1.5 },
  { latencyMs: 0, of: 'cpu', by: 'parallel-consumer', most: 0.17 },
];
const CEILING_SHARE = 0.97;
const SCORES_CPU_MOST = 1.5;
const ADDED_MOST = { p50Ms: 3, p99Ms: 10 };

/** A sentence for each bar that the connector misses beside those of the same run. */
export function missedBars(comparison: Comparison): readonly string[] {
  return [...missedAlone(comparison), ...missedBeside(comparison), ...missedBelow(comparison)];
}

/** At one latency; null: it was not measured. */
function figuresOf({ rows }: Comparison, rival: Rival, latencyMs: number): Figures | null {
  const row = rows.find((each) => each.rival === rival && each.latencyMs === latencyMs);
  return row === undefined ? null : middleOf(row.rounds);
}

function missedAlone(comparison: Comparison): readonly string[] {
  return comparison.rows.filter(({ rival }) => NOTES[rival].ours).flatMap((row) => missedBy(row, comparison));
}

function missedBy({ rival, latencyMs, ceiling, rounds }: Row, comparison: Comparison): readonly string[] {
  const missed: string[] = [];
  const { rate, cpu, disorders, overlaps, doubled } = middleOf(rounds);
  const where = `${rival} at ${String(latencyMs)} ms`;
  if (disorders + overlaps + doubled > 0) missed.push(`${where}: order, overlaps and doubled must be 0`);
  if (rival === 'connector' && latencyMs === 50 && ceiling !== null && rate < CEILING_SHARE * ceiling)
    missed.push(`${where}: ${(rate / ceiling).toFixed(3)} of the ceiling, at least ${String(CEILING_SHARE)}`);
  const without = rival === 'connector-scores' ? figuresOf(comparison, 'connector', latencyMs) : null;
  if (without !== null && cpu > SCORES_CPU_MOST * without.cpu)
    missed.push(
      `${where}: ${(cpu / without.cpu).toFixed(2)} times the CPU without, at most ${String(SCORES_CPU_MOST)}`,
    );
  return missed;
}

function missedBeside(comparison: Comparison): readonly string[] {
  return BARS.flatMap(({ latencyMs, of, by, least = 0, most = Infinity }) => {
    const [ours, theirs] = [figuresOf(comparison, 'connector', latencyMs), figuresOf(comparison, by, latencyMs)];
    if (ours === null || theirs === null) return [];
    const ratio = ours[of] / theirs[of];
    if (ratio >= least && ratio <= most) return [];
    const bar = least > 0 ? `at least ${String(least)}` : `at most ${String(most)}`;
    return [`${of} at ${String(latencyMs)} ms: ${ratio.toFixed(2)} times that of ${by}, ${bar}`];
  });
}

function missedBelow({ added }: Comparison): readonly string[] {
  const rounds = added.find(({ rival }) => rival === 'connector')?.rounds ?? [];
  if (rounds.length === 0) return [];
  const figures = middleOf(rounds);
  return (['p50Ms', 'p99Ms'] as const)
    .filter((name) => figures[name] > ADDED_MOST[name])
    .map((name) => `latency added, ${name}: ${figures[name].toFixed(1)}, at most ${String(ADDED_MOST[name])}`);
}

/** One table of all: a row for each contestant at each latency, then those below saturation. */
export function comparisonTable({ rows, added }: Comparison): Pick<BenchResult, 'columns' | 'rows'> {
  const ofLatency = new Map(added.map(({ rival, rounds }) => [rival, middleOf(rounds)]));
  return {
    columns: ['', 'ms', 'rate/s', 'of ceiling', 'CPU s/1000', 'RSS MB', 'order', 'overlap', 'added p50', 'p99 ms'],
    rows: rows.map(({ rival, latencyMs, ceiling, rounds }) => {
      const { rate, cpu, rssMb, disorders, overlaps } = middleOf(rounds);
      const live = ofLatency.get(rival);
      return [
        NOTES[rival].title,
        String(latencyMs),
        rate.toFixed(0),
        ceiling === null ? '' : (rate / ceiling).toFixed(2),
        cpu.toFixed(3),
        rssMb.toFixed(0),
        disorders.toFixed(0),
        overlaps.toFixed(0),
        live?.p50Ms.toFixed(1) ?? '',
        live?.p99Ms.toFixed(1) ?? '',
      ];
    }),
  };
}
