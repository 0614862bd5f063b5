import { parseArgs } from 'node:util';
import { BUG_NAMES, type BugName, isBugName } from './bugs/bugs.ts';
import { isScenario, MEANINGS, type Scenario, SCENARIOS } from './schedule.ts';
import { nameOfRun, SERIES } from './series.ts';

/** What a campaign is told on its command line. */
export interface ChaosArguments {
  readonly scenario: Scenario;
  readonly minutes: number;
  /** The same seed and scenario give the same faults at the same times. */
  readonly seed: number;
  readonly sessionMs: number;
  /** Connectors at the start; `clean` begins with 1 whatever is given. */
  readonly connectors: number;
  /** Payments a second. */
  readonly rate: number;
  /** Of the screening service. */
  readonly latencyMs: number;
  /** Where the report is written as JSON; null: nowhere. */
  readonly json: string | null;
  /** Where the report is written as a page; null: nowhere. */
  readonly page: string | null;
  /** A bug that is put into the connectors, to see that it is found out; null: they are as they are. */
  readonly bug: BugName | null;
  /** The folder of another version: every second start is of that one; null: all are of this one. */
  readonly other: string | null;
}

/** What a series of campaigns is told on its command line. */
export interface SeriesArguments {
  /** A folder for every run's figures, page and output, and for the summary of all. */
  readonly folder: string;
  /** No run begins that would end later than so long from now. */
  readonly forMinutes: number;
  /** Only these runs, as they are called; null: all. */
  readonly only: ReadonlySet<string> | null;
}

/** The most connectors a campaign runs at once. */
export const MOST_CONNECTORS = 4;

const USAGE = `npm run chaos -- [--scenario NAME] [--minutes N] [--seed S] [--session MS] [--connectors 1..${String(MOST_CONNECTORS)}] [--rate N] [--latency MS] [--json FILE] [--page FILE] [--break BUG] [--other FOLDER]\nnpm run chaos -- --series FOLDER [--for MINUTES] [--only NAME,NAME]\n\n${scenarioLines()}`;

/** The arguments, or one sentence that says what is wrong with them. */
export function readArguments(args: readonly string[], madeUpSeed: number): ChaosArguments | string {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        scenario: { type: 'string', default: 'mixed' },
        minutes: { type: 'string', default: '2' },
        seed: { type: 'string', default: String(madeUpSeed) },
        session: { type: 'string', default: '6000' },
        connectors: { type: 'string', default: '2' },
        rate: { type: 'string', default: '200' },
        latency: { type: 'string', default: '50' },
        json: { type: 'string' },
        page: { type: 'string' },
        break: { type: 'string' },
        other: { type: 'string' },
        help: { type: 'boolean', default: false },
      },
    });
    if (values.help) return USAGE;
    const { scenario, json = null, page = null, other = null } = values;
    if (!isScenario(scenario)) return `--scenario must be one of ${SCENARIOS.join(', ')}\n${USAGE}`;
    const bug = values.break ?? null;
    if (bug !== null && !isBugName(bug)) return `--break must be one of ${BUG_NAMES.join(', ')}\n${USAGE}`;
    const number = (
      name: 'minutes' | 'seed' | 'session' | 'connectors' | 'rate' | 'latency',
      least: number,
      most: number,
    ): number => {
      const value = Number(values[name]);
      if (!(value >= least && value <= most))
        throw new RangeError(`--${name} must be from ${String(least)} to ${String(most)}`);
      return value;
    };
    return {
      scenario,
      json,
      page,
      bug,
      other,
      minutes: number('minutes', 0.2, 600),
      seed: Math.floor(number('seed', 0, 2 ** 31)),
      sessionMs: number('session', 6000, 120_000),
      connectors: Math.floor(number('connectors', 1, MOST_CONNECTORS)),
      rate: number('rate', 1, 5000),
      latencyMs: number('latency', 0, 10_000),
    };
  } catch (error) {
    return `${error instanceof Error ? error.message : 'wrong arguments'}\n${USAGE}`;
  }
}

/** Null: it is one campaign that is wanted, not a series; a sentence that says what is wrong with them; or the arguments. */
export function readSeriesArguments(args: readonly string[]): SeriesArguments | string | null {
  if (!args.some((arg) => arg === '--series' || arg.startsWith('--series='))) return null;
  try {
    const { values } = parseArgs({
      args: [...args],
      options: { series: { type: 'string' }, for: { type: 'string', default: '600' }, only: { type: 'string' } },
    });
    const { series: folder = '', only } = values;
    const forMinutes = Number(values.for);
    if (folder === '') return `--series must be a folder\n${USAGE}`;
    if (!(forMinutes > 0)) return `--for must be above 0\n${USAGE}`;
    const names = only?.split(',') ?? null;
    const unknown = names?.find((name) => !SERIES.some((run) => nameOfRun(run) === name));
    if (unknown !== undefined) return `--only must be of ${SERIES.map(nameOfRun).join(', ')}\n${USAGE}`;
    return { folder, forMinutes, only: names === null ? null : new Set(names) };
  } catch (error) {
    return `${error instanceof Error ? error.message : 'wrong arguments'}\n${USAGE}`;
  }
}

function scenarioLines(): string {
  return SCENARIOS.map((scenario) => `  ${scenario.padEnd(9)} ${MEANINGS[scenario]}`).join('\n');
}
