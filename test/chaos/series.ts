import { type Scenario } from './schedule.ts';

/** One campaign of a series. */
export interface SeriesRun {
  readonly scenario: Scenario;
  readonly minutes: number;
  readonly seed: number;
  readonly connectors: number;
  readonly rate: number;
  /** Default: that of one campaign. */
  readonly sessionMs?: number;
}

const usual = { connectors: 3, rate: 60 };

/** Every scenario, longest where rounds are counted. */
export const SERIES: readonly SeriesRun[] = [
  { ...usual, scenario: 'storm', minutes: 9, seed: 101 },
  { ...usual, scenario: 'storm', minutes: 9, seed: 102 },
  { ...usual, scenario: 'reviews', minutes: 3, seed: 203 },
  { ...usual, scenario: 'freeze', minutes: 3, seed: 210 },
  { ...usual, scenario: 'all', minutes: 8, seed: 201 },
  { ...usual, scenario: 'grown', minutes: 2.5, seed: 202 },
  { ...usual, scenario: 'network', minutes: 5, seed: 204 },
  { ...usual, scenario: 'broker', minutes: 5, seed: 205 },
  { ...usual, scenario: 'mixed', minutes: 10, seed: 206 },
  { ...usual, scenario: 'service', minutes: 7.8, seed: 5, rate: 40 },
  { ...usual, scenario: 'soak', minutes: 11.5, seed: 207 },
  { ...usual, scenario: 'clean', minutes: 3, seed: 208 },
  { ...usual, scenario: 'kill', minutes: 4, seed: 209 },
  { ...usual, scenario: 'replay', minutes: 2.5, seed: 211 },
  { ...usual, scenario: 'cramped', minutes: 2.5, seed: 212 },
  { ...usual, scenario: 'roll', minutes: 2.5, seed: 213 },
  { ...usual, scenario: 'clock', minutes: 1.5, seed: 214 },
  { ...usual, scenario: 'registry', minutes: 1.5, seed: 215 },
  { ...usual, scenario: 'hostile', minutes: 5, seed: 220, rate: 100 },
  { ...usual, scenario: 'erased', minutes: 1, seed: 216 },
  { ...usual, scenario: 'mirrored', minutes: 1, seed: 217 },
  { ...usual, scenario: 'stuck', minutes: 3, seed: 218, connectors: 2, rate: 250 },
  { ...usual, scenario: 'mixed', minutes: 10, seed: 219 },
];

/** Nodes, a registry, topics and processes before a run; settling, reading and reckoning after it. */
const AROUND_MINUTES = 2;

/** How long a run takes, its end included. */
function minutesOf({ scenario, minutes }: SeriesRun): number {
  // One with odd records, up to two without, and what it takes for every odd one to end.
  return scenario === 'hostile' ? 3 * (minutes + AROUND_MINUTES) + 5 : minutes + AROUND_MINUTES;
}

/** How a run is called, its files too. */
export function nameOfRun({ scenario, seed }: SeriesRun): string {
  return `${scenario}-${String(seed)}`;
}

/** The flags of `npm run chaos` for a run. */
export function flagsOf({ scenario, minutes, seed, connectors, rate, sessionMs }: SeriesRun): readonly string[] {
  const session = sessionMs === undefined ? {} : { session: sessionMs };
  const flags = { scenario, minutes, seed, connectors, rate, ...session };
  return Object.entries(flags).flatMap(([name, value]) => [`--${name}`, String(value)]);
}

/** The first run that has no result yet and ends within this time; null: there is none. */
export function nextRun(
  runs: readonly SeriesRun[],
  { done, leftMinutes }: { readonly done: ReadonlySet<string>; readonly leftMinutes: number },
): SeriesRun | null {
  return runs.find((run) => !done.has(nameOfRun(run)) && minutesOf(run) <= leftMinutes) ?? null;
}
