import { parseArgs } from 'node:util';
import { type Keys, KEYS } from './arguments.ts';
import { type Rival, RIVALS } from './rivals/roster.ts';

/** What a comparison is told on its command line. */
export interface CompareArguments {
  readonly rivals: readonly Rival[];
  /** Until the service answers, in milliseconds; each is a table of its own. */
  readonly latencies: readonly number[];
  /** Requests at once. */
  readonly concurrency: number;
  readonly keys: Keys;
  readonly partitions: number;
  /** Of a record's value. */
  readonly valueBytes: number;
  /** Values in Avro; only the connector reads them. */
  readonly avro: boolean;
  readonly rounds: number;
  /** How long is measured; what comes before is not in it. */
  readonly seconds: number;
  readonly warmUpSeconds: number;
  /** Records a second for the latency below saturation; 0: it is not measured. */
  readonly pace: number;
  readonly pin: boolean;
  readonly json: string | null;
  readonly picture: string | null;
}

export const COMPARE_USAGE = `npm run bench -- compare [--quick] [--rivals ${RIVALS.join(',')}] [--latency 50,5,0] [--concurrency 64] [--keys even|zipf] [--partitions 12] [--value-bytes 704] [--avro] [--rounds 3] [--seconds 10] [--warm-up 4] [--pace 500] [--no-pin] [--json FILE] [--picture FILE.svg]`;

/** Without `connector-scores`, which is compared with the connector alone. */
const BY_DEFAULT = RIVALS.filter((rival) => rival !== 'connector-scores');
const SMALLEST_VALUE = 704;
/** A batch of the filler must hold at least two. */
const LARGEST_VALUE = 120_000;

/** The arguments of `npm run bench -- compare`, or a text that says what is wrong with them. */
export function readCompareArguments(args: readonly string[]): CompareArguments | string {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
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
        'no-pin': { type: 'boolean', default: false },
        json: { type: 'string' },
        picture: { type: 'string' },
      },
    });
    const { quick } = values;
    const keys = KEYS.find((each) => each === values.keys);
    if (keys === undefined) return `--keys must be even or zipf\n${COMPARE_USAGE}`;
    const named = values.rivals === '' ? (values.avro ? ['connector'] : BY_DEFAULT) : values.rivals.split(',');
    const rivals = RIVALS.filter((rival) => named.includes(rival));
    if (rivals.length !== named.length) return `--rivals must be of ${RIVALS.join(', ')}\n${COMPARE_USAGE}`;
    return {
      rivals,
      keys,
      latencies: values.latency.split(',').map((each) => numberOf('latency', each, { least: 0, most: 10_000 })),
      concurrency: numberOf('concurrency', values.concurrency, { least: 1, most: 1024 }),
      partitions: numberOf('partitions', values.partitions, { least: 1, most: 1000 }),
      valueBytes: numberOf('value-bytes', values['value-bytes'], { least: SMALLEST_VALUE, most: LARGEST_VALUE }),
      avro: values.avro,
      rounds: numberOf('rounds', values.rounds ?? (quick ? '1' : '3'), { least: 1, most: 20 }),
      seconds: numberOf('seconds', values.seconds ?? (quick ? '4' : '10'), { least: 1, most: 600 }),
      warmUpSeconds: numberOf('warm-up', values['warm-up'] ?? (quick ? '2' : '4'), { least: 0, most: 60 }),
      pace: numberOf('pace', values.pace, { least: 0, most: 5000 }),
      pin: !values['no-pin'],
      json: values.json ?? null,
      picture: values.picture ?? null,
    };
  } catch (error) {
    return `${error instanceof Error ? error.message : 'wrong arguments'}\n${COMPARE_USAGE}`;
  }
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
