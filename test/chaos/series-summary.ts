import { type Report } from './report.ts';

/** What is summed up of one campaign: what its report says, as it was written to its file. */
export type RunReport = Pick<Report, 'scenario' | 'broken' | 'figures' | 'kills' | 'stuckRounds' | 'slopes'>;

/** One campaign of a series, in the figures of its table. */
export interface RunRow {
  readonly name: string;
  readonly minutes: number;
  /** kill -9, SIGTERM and SIGSTOP of connectors that really happened. */
  readonly processRounds: number;
  /** Nodes that were killed. */
  readonly brokerRounds: number;
  /** Wires, ills, clocks, floods and the like that befell somebody. */
  readonly otherRounds: number;
  readonly payments: number;
  readonly statuses: number;
  readonly webhooks: number;
  readonly lost: number;
  readonly reordered: number;
  readonly unauthenticated: number;
  readonly early: number;
  readonly afterStops: number;
  readonly afterKills: number;
  readonly elsewhere: number;
  readonly worstStallMs: number;
  readonly throughMs: number;
  readonly peakMegabytes: number;
  /** Names of the promises that it found broken. */
  readonly broken: readonly string[];
}

/** Of all kills of a series: how many requests each repeated, and which share of its bound that was. */
export interface Distribution {
  readonly kills: number;
  /** Kills whose bound is what their last commit interval finished: nothing else kept commits back. */
  readonly exact: number;
  readonly overBound: number;
  /** Requests repeated: half of the kills at most, nine of ten at most, the most. */
  readonly median: number;
  readonly ninth: number;
  readonly most: number;
  /** Of the exact ones: repeats by the bound, 0 to 1. */
  readonly medianShare: number;
  readonly mostShare: number;
}

export interface SeriesSummary {
  readonly rows: readonly RunRow[];
  readonly total: Omit<RunRow, 'name' | 'broken'> & { readonly red: number };
  readonly doubledByKills: Distribution;
  /** Of the statuses and payments above one that stuck. */
  readonly stuckRounds: number;
  readonly rising: readonly string[];
}

const LOST = ['lostByKafka', 'notScored', 'notReported', 'notPublished', 'notKept', 'notDelivered'];
const REORDERED = ['overlaps', 'twoOwners', 'disorders', 'late'];
const PROCESS_ROUNDS = ['kills', 'cleanStops', 'uncleanStops', 'freezes'];
const BROKER_ROUNDS = ['nodeKills', 'coordinatorKills'];
const OTHER_ROUNDS =
  /^(?:wire to |ill |cramped by )|^(?:registryAway|clockJumps|floods|replays|growths|erasures|mirroredMaps)$/u;

/** All runs of a series in one table, its sums, and what kills repeated. */
export function summaryOf(reports: ReadonlyMap<string, RunReport>): SeriesSummary {
  const rows = [...reports].map(([name, report]) => rowOf(name, report));
  const all = [...reports.values()];
  const { name: _, broken: __, ...zero } = rowOf('', EMPTY);
  const sum = rows.reduce((total, row) => added(total, row), zero);
  return {
    rows,
    total: {
      ...sum,
      worstStallMs: Math.max(0, ...rows.map(({ worstStallMs }) => worstStallMs)),
      throughMs: Math.max(0, ...rows.map(({ throughMs }) => throughMs)),
      peakMegabytes: Math.max(0, ...rows.map(({ peakMegabytes }) => peakMegabytes)),
      red: rows.filter(({ broken }) => broken.length > 0).length,
    },
    doubledByKills: distributionOf(all.flatMap(({ kills }) => kills)),
    stuckRounds: all.reduce((count, { stuckRounds }) => count + stuckRounds.length, 0),
    rising: [...reports].flatMap(([name, { slopes }]) =>
      slopes.filter(({ isRising }) => isRising).map(({ owner }) => `${name} ${owner}`),
    ),
  };
}

/** The summary as a table of Markdown, with its sums and the distribution below. */
export function summaryLines({ rows, total, doubledByKills, rising }: SeriesSummary): readonly string[] {
  const cells = (name: string, row: Omit<RunRow, 'name' | 'broken'>, verdict: string): string =>
    tableLine([
      name,
      row.minutes.toFixed(1),
      row.processRounds,
      row.brokerRounds,
      row.otherRounds,
      `${String(row.payments)} + ${String(row.statuses)} + ${String(row.webhooks)}`,
      row.lost,
      row.reordered,
      row.unauthenticated,
      row.early,
      `${String(row.afterStops)}, ${String(row.afterKills)}, ${String(row.elsewhere)}`,
      `${(row.worstStallMs / 1000).toFixed(1)} s`,
      `${(row.throughMs / 1000).toFixed(1)} s`,
      row.peakMegabytes,
      verdict,
    ]);
  const head = [
    'run',
    'minutes',
    'process faults',
    'broker faults',
    'others',
    'payments + statuses + webhooks',
    'lost',
    'reordered',
    'unauthenticated',
    'early',
    'doubled after stops, kills, elsewhere',
    'longest stall',
    'through after',
    'MB',
    'broken',
  ];
  const { kills, exact, overBound, median, ninth, most, medianShare, mostShare } = doubledByKills;
  return [
    tableLine(head),
    tableLine(head.map(() => '---')),
    ...rows.map((row) => cells(row.name, row, row.broken.join(', ') || 'nothing')),
    cells('all', total, `${String(total.red)} of ${String(rows.length)} runs`),
    '',
    `${String(kills)} kills repeated ${String(median)} requests at the median, ${String(ninth)} at nine of ten, ${String(most)} at most; ${String(overBound)} above their bound. Of the ${String(exact)} whose commits nothing kept back: ${percent(medianShare)} of the bound at the median, ${percent(mostShare)} at most.`,
    rising.length === 0 ? 'No process opened more and more.' : `Handles rose: ${rising.join(', ')}.`,
  ];
}

function tableLine(cells: readonly (string | number)[]): string {
  return `| ${cells.map(String).join(' | ')} |`;
}

function percent(share: number): string {
  return `${String(Math.round(100 * share))} %`;
}

const EMPTY: RunReport = { scenario: 'mixed', broken: {}, figures: {}, kills: [], stuckRounds: [], slopes: [] };

function rowOf(name: string, { figures, broken }: RunReport): RunRow {
  const of = (names: readonly string[]): number => names.reduce((sum, each) => sum + (figures[each] ?? 0), 0);
  return {
    name,
    minutes: of(['seconds']) / 60,
    processRounds: of(PROCESS_ROUNDS),
    brokerRounds: of(BROKER_ROUNDS),
    otherRounds: of(Object.keys(figures).filter((each) => OTHER_ROUNDS.test(each))),
    payments: of(['payments']),
    statuses: of(['statuses']),
    webhooks: of(['webhooks']),
    lost: of(LOST),
    reordered: of(REORDERED),
    unauthenticated: of(['unauthenticated']),
    early: of(['early']),
    afterStops: of(['afterStops']),
    afterKills: of(['afterKills']),
    elsewhere: of(['elsewhere']),
    worstStallMs: of(['longestStallMs']),
    throughMs: of(['settledMs']),
    peakMegabytes: of(['peakMegabytes']),
    broken: Object.keys(broken),
  };
}

type Sums = Omit<RunRow, 'name' | 'broken'>;

function added(total: Sums, row: Sums): Sums {
  const names = Object.keys(total) as (keyof Sums)[];
  return Object.fromEntries(names.map((name) => [name, total[name] + row[name]])) as unknown as Sums;
}

function distributionOf(kills: RunReport['kills']): Distribution {
  const repeated = kills.map(({ scorings, updates }) => scorings + updates).toSorted((a, b) => a - b);
  const exact = kills.filter(({ isExact }) => isExact);
  const shares = exact
    .map(({ scorings, updates, bound }) => (scorings + updates) / Math.max(1, bound))
    .toSorted((a, b) => a - b);
  return {
    kills: kills.length,
    exact: exact.length,
    overBound: kills.filter(({ scorings, updates, bound }) => scorings + updates > bound).length,
    median: at(repeated, 0.5),
    ninth: at(repeated, 0.9),
    most: at(repeated, 1),
    medianShare: at(shares, 0.5),
    mostShare: at(shares, 1),
  };
}

/** The value that this share of them does not exceed. */
function at(sorted: readonly number[], share: number): number {
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0;
}
