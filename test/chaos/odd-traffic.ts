import { type Config } from '../../src/config/config.ts';
import { seededDraw } from '../../src/sandbox/service/chance.ts';
import { createShops, type Shops } from '../../src/sandbox/shops.ts';
import { type ChaosArguments } from './arguments.ts';
import { type Deeds } from './deeds.ts';
import { isOdd } from './odd-kinds.ts';
import { OddRecords } from './odd-records.ts';
import { oddShops } from './odd-shops.ts';
import { type TopicContents } from './sightings.ts';

const CUSTOMERS = 1000;
/** Share of the payments. */
const ODD_PAYMENTS = 0.006;
/** Share of the odd payments whose answers time out. */
const ODD_TIMEOUTS = 0.1;
/** Odd records beside them, as a share of the rate of payments. */
const ODD_RECORDS = 0.004;

export interface OddRun extends Pick<ChaosArguments, 'scenario' | 'seed'> {
  /** `hostile` without odd records, which the run with them is compared with. */
  readonly isQuiet?: boolean;
}

/** Whether there is anything odd in a campaign. */
export function isOddRun({ scenario, isQuiet = false }: OddRun): boolean {
  return scenario === 'hostile' && !isQuiet;
}

/** The shops of a campaign. The good payments of `hostile` are the same without the odd ones, which end with `isOver`. */
export function shopsOf(run: OddRun, isOver: () => boolean): Shops {
  const { scenario, seed } = run;
  const shops = createShops({ seed, customers: CUSTOMERS });
  if (scenario !== 'hostile') return shops;
  const share = isOddRun(run) ? ODD_PAYMENTS : 0;
  return oddShops(shops, { draw: seededDraw(seed + 1), share, timeouts: ODD_TIMEOUTS, isOver });
}

/** Odd records that are being written. */
export interface OddTraffic {
  /** What was written; a campaign without any of it cannot pass. */
  readonly deeds: (topics: TopicContents) => Deeds;
  /** Resolves when the last one is written. */
  readonly close: () => Promise<void>;
}

/** Begins to write odd records. */
export function openOdd({
  config,
  seed,
  rate,
  partitions,
  isCalm,
}: Pick<ChaosArguments, 'seed' | 'rate'> & {
  readonly config: Config;
  readonly partitions: number;
  readonly isCalm: () => boolean;
}): OddTraffic {
  const { created, authorized } = config.topics;
  const records = new OddRecords({
    brokers: config.kafka.brokers,
    topics: [created, authorized],
    partitions,
    draw: seededDraw(seed + 2),
    rate: ODD_RECORDS * rate,
    isCalm,
  });
  const over = new AbortController();
  const running = records.run(over.signal);
  return {
    deeds: (topics) => ({
      oddPayments: topics.created.filter(({ transId }) => isOdd(transId)).length,
      oddRecords: records.written,
      abortedTransactions: records.aborted,
    }),
    close: async () => {
      over.abort();
      await running;
    },
  };
}
