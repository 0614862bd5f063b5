import { type BenchResult } from './result.ts';
import { median } from './statistics.ts';

/** What was seen in one second. */
export interface Second {
  /** At its end; milliseconds since 1970. */
  readonly atMs: number;
  readonly phase: string;
  /** Payments that were asked about, answered or not. */
  readonly requests: number;
  readonly scored: number;
  readonly batches: number;
  readonly updates: number;
  /** Payments and updates that are written and not done at the service. */
  readonly lag: number;
  readonly rssMb: number | null;
}

/** A time in which the service was so or so. */
export interface Phase {
  readonly name: string;
  /** The service is ill; the phase after it is its recovery. */
  readonly isIll: boolean;
}

export interface PhaseFigures extends Phase {
  readonly seconds: number;
  readonly requestsPerSecond: number;
  readonly mostRequests: number;
  readonly scoredPerSecond: number;
  readonly batchesPerSecond: number;
  readonly mostLag: number;
  readonly mostRssMb: number;
  /** Seconds from the beginning until payments were scored at full rate; null: there was too little to catch up with. */
  readonly fullAfterSeconds: number | null;
}

/** What came of all records, by what Kafka and the service hold at the end. */
export interface Ending {
  readonly payments: number;
  readonly updates: number;
  readonly notScored: number;
  readonly notReported: number;
  readonly notPublished: number;
  readonly letters: number;
  readonly disorders: number;
  readonly overlaps: number;
  /** Status updates that came before their payment was scored. */
  readonly early: number;
  readonly scoredTwice: number;
  readonly settledAfterSeconds: number | null;
}

/** An ill service is asked no more than this a second, once the breaker is open. */
export const MOST_WHILE_DEAD = 2;
/** Until then what had begun comes to its end. */
const BEGINNING_SECONDS = 15;
/** A probe without an answer (5 s), the longest pause of the breaker (8 s), a second's spread, and the way there. */
const FULL_WITHIN_SECONDS = 20;
const FULL = 0.9;
/** Fewer seconds with something to catch up with say nothing of a full rate. */
const LEAST_SECONDS = 5;

export function phaseFigures(phase: Phase, seconds: readonly Second[], rate: number): PhaseFigures {
  const own = seconds.filter((each) => each.phase === phase.name);
  const mean = (value: (second: Second) => number): number =>
    own.reduce((sum, second) => sum + value(second), 0) / Math.max(1, own.length);
  const most = (value: (second: Second) => number | null): number =>
    own.reduce((found, second) => Math.max(found, value(second) ?? 0), 0);
  return {
    ...phase,
    seconds: own.length,
    requestsPerSecond: mean(({ requests }) => requests),
    mostRequests: most(({ requests }) => requests),
    scoredPerSecond: mean(({ scored }) => scored),
    batchesPerSecond: mean(({ batches }) => batches),
    mostLag: most(({ lag }) => lag),
    mostRssMb: most(({ rssMb }) => rssMb),
    fullAfterSeconds: phase.isIll ? null : fullAfter(own, rate),
  };
}

/** Full is what it scores in the middle second of those in which it had more to do than what came in. */
function fullAfter(seconds: readonly Second[], rate: number): number | null {
  const busy = seconds.filter(({ lag }) => lag > 4 * rate);
  if (busy.length < LEAST_SECONDS) return null;
  const full = median(busy.map(({ scored }) => scored));
  return seconds.findIndex(({ scored }) => scored >= FULL * full) + 1;
}

/** Requests a second while nothing was answered, once what had begun is over. */
export function loadWhileDead(seconds: readonly Second[], phase: string): number {
  const later = seconds.filter((each) => each.phase === phase).slice(BEGINNING_SECONDS);
  return later.reduce((sum, { requests, batches }) => sum + requests + batches, 0) / Math.max(1, later.length);
}

/** The phases as a table, what came of all records as sentences where it is not as it must be. */
export function resultOf(
  phases: readonly PhaseFigures[],
  ending: Ending,
  { seconds, dead }: { readonly seconds: readonly Second[]; readonly dead: string },
): BenchResult {
  const load = loadWhileDead(seconds, dead);
  const slow = phases.filter(({ fullAfterSeconds }) => (fullAfterSeconds ?? 0) > FULL_WITHIN_SECONDS);
  return {
    columns: ['phase', 's', 'requests/s', 'most/s', 'scored/s', 'PATCH/s', 'most lag', 'RSS MB', 'full after s'],
    rows: [
      ...phases.map((phase) => [
        phase.name,
        String(phase.seconds),
        phase.requestsPerSecond.toFixed(1),
        String(phase.mostRequests),
        phase.scoredPerSecond.toFixed(1),
        phase.batchesPerSecond.toFixed(1),
        String(phase.mostLag),
        phase.mostRssMb.toFixed(0),
        phase.fullAfterSeconds === null ? '-' : String(phase.fullAfterSeconds),
      ]),
      ...Object.entries(ending).map(([name, count]: [string, number | null]) => [name, String(count ?? '-')]),
      ['requests/s while dead', load.toFixed(2)],
    ],
    figures: { phases, ending, loadWhileDead: load, seconds },
    missed: [
      ...brokenIn(ending),
      ...(load <= MOST_WHILE_DEAD
        ? []
        : [`${load.toFixed(1)} requests a second while dead, at most ${String(MOST_WHILE_DEAD)}`]),
      ...slow.map(
        ({ name, fullAfterSeconds }) =>
          `${name}: full rate after ${String(fullAfterSeconds)} s, at most ${String(FULL_WITHIN_SECONDS)}`,
      ),
    ],
  };
}

function brokenIn(ending: Ending): readonly string[] {
  const zero = ['notScored', 'notReported', 'notPublished', 'letters', 'disorders', 'overlaps', 'early'] as const;
  return [
    ...zero.filter((name) => ending[name] !== 0).map((name) => `${name}: ${String(ending[name])}, must be 0`),
    ...(ending.settledAfterSeconds === null ? ['not everything was done in time'] : []),
  ];
}
