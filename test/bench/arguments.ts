import { parseArgs } from 'node:util';

export const JOBS = [
  'ceiling',
  'lag',
  'engine',
  'webhooks',
  'ill',
  'odd',
  'replay',
  'scale',
  'adaptive',
  'metrics',
  'kills',
] as const;
export type Job = (typeof JOBS)[number];

export const KEYS = ['even', 'zipf'] as const;
export type Keys = (typeof KEYS)[number];

/** What a bench is told on its command line. */
export interface BenchArguments {
  readonly job: Job;
  /** `ceiling`: the keys that are measured, one run for each. */
  readonly keys: readonly Keys[];
  /** Until the service answers. */
  readonly latencyMs: number;
  /** `webhooks`: how often it is measured, the middle one counts; `metrics`: pairs of slices; `kills`: kills of each. */
  readonly rounds: number;
  /** How long is measured at most; what comes before and after it is not in it. `odd`: each run, of which the second half counts; `metrics`: each slice; `kills`: until the kill. */
  readonly seconds: number;
  /** `lag`: records in the topic; `engine`: records per run; `ill`: payments that come at once while nothing is answered; `replay`: updates in its range. */
  readonly records: number;
  /** `ill`: how long each share of its calls fails; nothing is answered for 2.5 times as long. */
  readonly minutes: number;
  /** `ill`, `odd`: payments a second; `replay`: live updates a second. */
  readonly rate: number;
  /** `ill`: refusals in place of failures. */
  readonly poison: boolean;
  /** `SCORING_CONCURRENCY`. */
  readonly concurrency: number;
  /** Options of Node for the connector, by white space. */
  readonly nodeOptions: readonly string[];
  /** The connector on one core, everything else on another. */
  readonly pin: boolean;
  /** Where the figures are written as JSON; null: nowhere. */
  readonly json: string | null;
}

const USAGE = `npm run bench -- ${JOBS.join('|')} [--keys even|zipf|both] [--latency MS] [--seconds N] [--records N] [--minutes N] [--rate N] [--poison] [--concurrency N] [--rounds N] [--node-options="…"] [--pin] [--json FILE]`;

const DEFAULTS: Readonly<
  Record<
    Job,
    {
      readonly latency: string;
      readonly seconds: string;
      readonly records: string;
      readonly rounds?: string;
      readonly rate?: string;
    }
  >
> = {
  ceiling: { latency: '50', seconds: '30', records: '0' },
  lag: { latency: '0', seconds: '60', records: '1000000' },
  engine: { latency: '0', seconds: '0', records: '1000000' },
  ill: { latency: '50', seconds: '0', records: '100000' },
  odd: { latency: '50', seconds: '60', records: '1000', rate: '500' },
  replay: { latency: '0', seconds: '0', records: '1000000' },
  adaptive: { latency: '50', seconds: '10', records: '1000' },
  scale: { latency: '50', seconds: '15', records: '600000' },
  metrics: { latency: '0', seconds: '0.1', records: '1000', rounds: '1000' },
  webhooks: { latency: '0', seconds: '10', records: '1000' },
  kills: { latency: '50', seconds: '6', records: '1000' },
};

/** Where what is measured has another end, or is measured often. */
const LEAST_SECONDS: Partial<Record<Job, number>> = { engine: 0, ill: 0, replay: 0, metrics: 0.05 };

/** The arguments, or a text that says what is wrong with them. */
export function readArguments(args: readonly string[]): BenchArguments | string {
  try {
    const [name, ...rest] = args;
    const job = JOBS.find((each) => each === name);
    if (job === undefined) return `The first argument must be one of ${JOBS.join(', ')}\n${USAGE}`;
    const defaults = DEFAULTS[job];
    const { values } = parseArgs({
      args: rest,
      options: {
        keys: { type: 'string', default: 'both' },
        latency: { type: 'string', default: defaults.latency },
        seconds: { type: 'string', default: defaults.seconds },
        records: { type: 'string', default: defaults.records },
        minutes: { type: 'string', default: '2' },
        rate: { type: 'string', default: defaults.rate ?? '300' },
        poison: { type: 'boolean', default: false },
        concurrency: { type: 'string', default: '64' },
        rounds: { type: 'string', default: defaults.rounds ?? '1' },
        'node-options': { type: 'string', default: '' },
        pin: { type: 'boolean', default: false },
        json: { type: 'string' },
      },
    });
    const number = (
      flag: 'latency' | 'seconds' | 'records' | 'concurrency' | 'rounds' | 'minutes' | 'rate',
      least: number,
      most: number,
    ): number => {
      const value = Number(values[flag]);
      if (!(value >= least && value <= most))
        throw new RangeError(`--${flag} must be from ${String(least)} to ${String(most)}`);
      return value;
    };
    const keys = KEYS.filter((each) => values.keys === each || values.keys === 'both');
    if (keys.length === 0) return `--keys must be even, zipf or both\n${USAGE}`;
    return {
      job,
      keys,
      latencyMs: number('latency', job === 'ceiling' || job === 'adaptive' ? 1 : 0, 10_000),
      seconds: number('seconds', LEAST_SECONDS[job] ?? 5, 3600),
      records: Math.floor(number('records', job === 'ceiling' ? 0 : 1000, 10_000_000)),
      minutes: number('minutes', 0.1, 60),
      rate: Math.floor(number('rate', 1, 5000)),
      poison: values.poison,
      concurrency: Math.floor(number('concurrency', 1, 1000)),
      rounds: Math.floor(number('rounds', 1, job === 'metrics' ? 10_000 : 20)),
      nodeOptions: values['node-options'].split(/\s+/u).filter((option) => option !== ''),
      pin: values.pin,
      json: values.json ?? null,
    };
  } catch (error) {
    return `${error instanceof Error ? error.message : 'wrong arguments'}\n${USAGE}`;
  }
}
