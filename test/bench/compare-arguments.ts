import { parseArgs } from 'node:util';
import { KEYS } from './arguments.ts';
import { type CompareJob, otherJobs, SMALLEST_VALUE, USUAL, usualName } from './compare-jobs.ts';
import { type Rival, RIVALS } from './rivals/roster.ts';

/** What a comparison is told on its command line. */
export interface CompareArguments {
  readonly jobs: readonly CompareJob[];
  /** Whether they are those by which the connector is judged. */
  readonly isUsual: boolean;
  /** Those whose latency below saturation is measured. */
  readonly paced: readonly Rival[];
  /** How long is measured; what comes before is not in it. */
  readonly seconds: number;
  readonly warmUpSeconds: number;
  /** Records a second for the latency below saturation; 0: it is not measured. */
  readonly pace: number;
  readonly pin: boolean;
  readonly json: string | null;
  readonly picture: string | null;
  /** Whether docs/performance.md and its picture are written anew. */
  readonly publishes: boolean;
}

export const COMPARE_USAGE = `npm run bench -- compare [--quick] [--rivals ${RIVALS.join(',')}] [--latency 50,5,0] [--concurrency 64] [--keys even|zipf] [--partitions 12] [--value-bytes 704] [--avro] [--rounds 3] [--seconds 7] [--warm-up 3] [--pace 500] [--no-others] [--no-pin] [--json FILE] [--picture FILE.svg] [--publish]`;

/** Who takes part where nobody is named. */
export const BY_DEFAULT: readonly Rival[] = [
  'connector',
  'bare-loop',
  'parallel-consumer',
  'each-message',
  'each-batch',
  'aiokafka',
];
/** A batch of the filler must hold at least two. */
const LARGEST_VALUE = 120_000;

const FLAGS = {
  quick: { type: 'boolean', default: false },
  rivals: { type: 'string', default: '' },
  latency: { type: 'string', default: '50,5,0' },
  concurrency: { type: 'string', default: '64' },
  keys: { type: 'string', default: 'even' },
  partitions: { type: 'string', default: '12' },
  'value-bytes': { type: 'string', default: String(SMALLEST_VALUE) },
  avro: { type: 'boolean', default: false },
  rounds: { type: 'string' },
  seconds: { type: 'string' },
  'warm-up': { type: 'string' },
  pace: { type: 'string', default: '500' },
  'no-others': { type: 'boolean', default: false },
  'no-pin': { type: 'boolean', default: false },
  publish: { type: 'boolean', default: false },
  json: { type: 'string' },
  picture: { type: 'string' },
} as const;

type Values = ReturnType<typeof parseArgs<{ readonly options: typeof FLAGS }>>['values'];

/** The arguments of `npm run bench -- compare`, or a text that says what is wrong with them. */
export function readCompareArguments(args: readonly string[]): CompareArguments | string {
  try {
    const { values } = parseArgs({ args: [...args], options: FLAGS });
    const { quick } = values;
    const work = workOf(values);
    const isUsual = JSON.stringify(work) === JSON.stringify(USUAL);
    const rivals = rivalsOf(values);
    const rounds = numberOf('rounds', values.rounds ?? (quick ? '1' : '3'), { least: 1, most: 20 });
    const latencies = values.latency.split(',').map((each) => numberOf('latency', each, { least: 0, most: 10_000 }));
    const jobs = latencies.map((latencyMs): CompareJob => {
      return Object.assign({ name: usualName(latencyMs), rivals, latencyMs, rounds }, work);
    });
    const others = isUsual && values.rivals === '' && !values['no-others'] ? otherJobs(quick) : [];
    return {
      jobs: [...jobs, ...others],
      isUsual,
      paced: quick ? rivals.filter((rival) => rival === 'connector' || rival === 'bare-loop') : rivals,
      seconds: numberOf('seconds', values.seconds ?? (quick ? '3' : '7'), { least: 1, most: 600 }),
      warmUpSeconds: numberOf('warm-up', values['warm-up'] ?? (quick ? '2' : '3'), { least: 0, most: 60 }),
      pace: numberOf('pace', values.pace, { least: 0, most: 5000 }),
      pin: !values['no-pin'],
      json: values.json ?? null,
      picture: values.picture ?? null,
      publishes: values.publish,
    };
  } catch (error) {
    return `${error instanceof Error ? error.message : 'wrong arguments'}\n${COMPARE_USAGE}`;
  }
}

function workOf(values: Values): typeof USUAL {
  const keys = KEYS.find((each) => each === values.keys);
  if (keys === undefined) throw new RangeError('--keys must be even or zipf');
  return {
    flow: USUAL.flow,
    concurrency: numberOf('concurrency', values.concurrency, { least: 1, most: 1024 }),
    keys,
    partitions: numberOf('partitions', values.partitions, { least: 1, most: 1000 }),
    valueBytes: numberOf('value-bytes', values['value-bytes'], { least: SMALLEST_VALUE, most: LARGEST_VALUE }),
    avro: values.avro,
  };
}

function rivalsOf({ rivals: given, avro }: Values): readonly Rival[] {
  if (given === '') return avro ? ['connector'] : BY_DEFAULT;
  const named = given.split(',');
  const rivals = RIVALS.filter((rival) => named.includes(rival));
  if (rivals.length !== named.length) throw new RangeError(`--rivals must be of ${RIVALS.join(', ')}`);
  return rivals;
}

function numberOf(
  flag: string,
  given: string,
  { least, most }: { readonly least: number; readonly most: number },
): number {
  const value = Number(given);
  if (Number.isInteger(value) && value >= least && value <= most) return value;
  throw new RangeError(`--${flag} must be whole and from ${String(least)} to ${String(most)}`);
}
