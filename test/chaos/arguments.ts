import { parseArgs } from 'node:util';
import { isScenario, type Scenario, SCENARIOS } from './schedule.ts';

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
}

/** The most connectors a campaign runs at once. */
export const MOST_CONNECTORS = 4;

const USAGE = `npm run chaos -- [--scenario ${SCENARIOS.join('|')}] [--minutes N] [--seed S] [--session MS] [--connectors 1..${String(MOST_CONNECTORS)}] [--rate N] [--latency MS] [--json FILE]`;

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
      },
    });
    const { scenario, json = null } = values;
    if (!isScenario(scenario)) return `--scenario must be one of ${SCENARIOS.join(', ')}\n${USAGE}`;
    const number = (name: keyof typeof values, least: number, most: number): number => {
      const value = Number(values[name]);
      if (!(value >= least && value <= most))
        throw new RangeError(`--${name} must be from ${String(least)} to ${String(most)}`);
      return value;
    };
    return {
      scenario,
      json,
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
