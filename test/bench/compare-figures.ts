import { usualName } from './compare-jobs.ts';
import { type Added, type Figures } from './compare-run.ts';
import { type BenchResult } from './result.ts';
import { NOTES, type Rival } from './rivals/roster.ts';
import { median } from './statistics.ts';

/** All rounds of one contestant at one kind of work. */
export interface Row {
  readonly rival: Rival;
  /** The work, by its name. */
  readonly job: string;
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
  /** The connector below saturation with Zipf(1.1) keys; empty: it was not measured. */
  readonly hot: readonly Added[];
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

/** At the usual work: 64 at once, 12 partitions, even keys and records of 704 bytes. */
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
const SYNC_CEILING_SHARE = 0.95;
const SYNC_CPU_MOST = 1.5;
const BESIDE_HOT_MOST = 1.2;

/** A sentence for each bar that the connector misses beside those of the same run. */
export function missedBars(comparison: Comparison): readonly string[] {
  return [
    ...missedAlone(comparison),
    ...missedBeside(comparison),
    ...missedBelow(comparison),
    ...missedBesideHotKey(comparison),
  ];
}

/** Null: it was not measured. */
function figuresOf({ rows }: Comparison, rival: Rival, job: string): Figures | null {
  const row = rows.find((each) => each.rival === rival && each.job === job);
  return row === undefined ? null : middleOf(row.rounds);
}

function missedAlone(comparison: Comparison): readonly string[] {
  return comparison.rows.filter(({ rival }) => NOTES[rival].ours).flatMap((row) => missedBy(row, comparison));
}

function missedBy({ rival, job, ceiling, rounds }: Row, comparison: Comparison): readonly string[] {
  const missed: string[] = [];
  const { rate, cpu, disorders, overlaps, doubled } = middleOf(rounds);
  const where = `${rival} at ${job}`;
  if (disorders + overlaps + doubled > 0) missed.push(`${where}: order, overlaps and doubled must be 0`);
  const share = shareWanted(rival, job);
  if (ceiling !== null && rate < share * ceiling)
    missed.push(`${where}: ${(rate / ceiling).toFixed(3)} of the ceiling, at least ${String(share)}`);
  const { other, most } = CPU_BESIDE[rival] ?? { other: rival, most: 1 };
  const beside = figuresOf(comparison, other, job);
  if (beside !== null && cpu > most * beside.cpu)
    missed.push(`${where}: ${(cpu / beside.cpu).toFixed(2)} times the CPU of ${other}, at most ${String(most)}`);
  return missed;
}

/** What the CPU of one of ours is compared with. */
const CPU_BESIDE: Partial<Record<Rival, { readonly other: Rival; readonly most: number }>> = {
  'connector-scores': { other: 'connector', most: SCORES_CPU_MOST },
  'connector-sync': { other: 'joined-bytes', most: SYNC_CPU_MOST },
};

/** Of the ceiling; 0: there is no bar. */
function shareWanted(rival: Rival, job: string): number {
  if (rival === 'connector-sync') return SYNC_CEILING_SHARE;
  return rival === 'connector' && job === usualName(50) ? CEILING_SHARE : 0;
}

function missedBeside(comparison: Comparison): readonly string[] {
  return BARS.flatMap(({ latencyMs, of, by, least = 0, most = Infinity }) => {
    const job = usualName(latencyMs);
    const [ours, theirs] = [figuresOf(comparison, 'connector', job), figuresOf(comparison, by, job)];
    if (ours === null || theirs === null) return [];
    const ratio = ours[of] / theirs[of];
    if (ratio >= least && ratio <= most) return [];
    const bar = least > 0 ? `at least ${String(least)}` : `at most ${String(most)}`;
    return [`${of} at ${job}: ${ratio.toFixed(2)} times that of ${by}, ${bar}`];
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

/** p99 of the keys that are not hot, with Zipf keys and with even ones; null: it was not measured. */
export function besideHotKey({ added, hot }: Comparison): { readonly zipfMs: number; readonly evenMs: number } | null {
  const even = added.find(({ rival }) => rival === 'connector')?.rounds ?? [];
  if (hot.length === 0 || even.length === 0) return null;
  return { zipfMs: middleOf(hot).othersP99Ms, evenMs: middleOf(even).othersP99Ms };
}

function missedBesideHotKey(comparison: Comparison): readonly string[] {
  const found = besideHotKey(comparison);
  if (found === null || found.zipfMs <= BESIDE_HOT_MOST * found.evenMs) return [];
  const times = (found.zipfMs / found.evenMs).toFixed(2);
  return [
    `p99 of the other keys beside a hot one: ${times} times that of even keys, at most ${String(BESIDE_HOT_MOST)}`,
  ];
}

/** One table of all: a row for each contestant at each kind of work, with its latency below saturation at the first of them. */
export function comparisonTable({ rows, added }: Comparison): Pick<BenchResult, 'columns' | 'rows'> {
  const ofLatency = new Map(added.map(({ rival, rounds }) => [rival, middleOf(rounds)]));
  return {
    columns: ['', 'work', 'rate/s', 'of ceiling', 'CPU s/1000', 'RSS MB', 'order', 'overlap', 'added p50', 'p99 ms'],
    rows: rows.map(({ rival, job, ceiling, rounds }, index) => {
      const { rate, cpu, rssMb, disorders, overlaps } = middleOf(rounds);
      const isFirst = rows.findIndex((each) => each.rival === rival) === index;
      const live = isFirst ? ofLatency.get(rival) : undefined;
      return [
        NOTES[rival].title,
        job,
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
