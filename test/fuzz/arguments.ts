import { parseArgs } from 'node:util';

/** What a run is told on its command line. */
export type FuzzArguments =
  | {
      readonly attack: 'requests';
      readonly requests: number;
      readonly seed: number;
      /** The first connection of the seed that is made. */
      readonly from: number;
      /** Only that one. */
      readonly only: boolean;
      /** Behind the receiver, in place of a writer that only counts. */
      readonly kafka: boolean;
      readonly concurrency: number;
    }
  | {
      readonly attack: 'slow';
      readonly sockets: number;
      readonly seconds: number;
      /** Webhooks a second. */
      readonly rate: number;
    }
  | { readonly attack: 'broker'; readonly events: number; readonly rate: number; readonly speed: number };

const USAGE = `npm run fuzz -- [--requests N] [--seed S] [--from I [--only]] [--concurrency N] [--kafka]
npm run fuzz -- slow [--sockets N] [--seconds N] [--rate N]
npm run fuzz -- broker [--events N] [--rate N] [--speed N]`;

function number(name: string, text: string | undefined, least: number, most: number): number {
  const value = Number(text);
  if (Number.isInteger(value) && value >= least && value <= most) return value;
  throw new RangeError(`--${name} must be a whole number from ${String(least)} to ${String(most)}`);
}

/** The arguments, or one sentence that says what is wrong with them. */
export function readArguments(args: readonly string[], madeUpSeed: number): FuzzArguments | string {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        requests: { type: 'string', default: '100000' },
        seed: { type: 'string', default: String(madeUpSeed) },
        from: { type: 'string', default: '0' },
        only: { type: 'boolean', default: false },
        kafka: { type: 'boolean', default: false },
        concurrency: { type: 'string', default: '192' },
        sockets: { type: 'string', default: '10000' },
        seconds: { type: 'string', default: '30' },
        rate: { type: 'string' },
        events: { type: 'string', default: '10000' },
        speed: { type: 'string', default: '30' },
      },
    });
    const [attack = 'requests', ...more] = positionals;
    if (more.length > 0) throw new RangeError(`one attack at a time: ${positionals.join(' ')}`);
    switch (attack) {
      case 'requests':
        return {
          attack,
          requests: number('requests', values.requests, 1, 10 ** 9),
          seed: number('seed', values.seed, 0, 2 ** 31),
          from: number('from', values.from, 0, 2 ** 31),
          only: values.only,
          kafka: values.kafka,
          concurrency: number('concurrency', values.concurrency, 1, 1000),
        };
      case 'slow':
        return {
          attack,
          sockets: number('sockets', values.sockets, 1, 60_000),
          seconds: number('seconds', values.seconds, 1, 3600),
          rate: number('rate', values.rate ?? '100', 1, 5000),
        };
      case 'broker':
        return {
          attack,
          events: number('events', values.events, 1, 10_000),
          rate: number('rate', values.rate ?? '400', 1, 5000),
          speed: number('speed', values.speed, 1, 10_000),
        };
      default:
        throw new RangeError(`no such attack: ${attack}`);
    }
  } catch (error) {
    return `${error instanceof Error ? error.message : 'wrong arguments'}\n${USAGE}`;
  }
}
