import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { type MetricsCost } from './metrics-cost.ts';
import { type BenchResult, type Job } from './result.ts';
import { Sink } from './sink.ts';
import { median } from './statistics.ts';

const ALONE = fileURLToPath(new URL('metrics-process.ts', import.meta.url));
const WAYS = ['without', 'with'] as const;
const BAR = 0.03;

/** One round: the same payments without metrics and with them. */
export type MetricsRound = Readonly<Record<(typeof WAYS)[number], MetricsCost>>;

/**
 * What counting costs: payments scored over HTTP, without Kafka, by processes of their own, without metrics and with
 * them by turns; the second round begins with the other one.
 */
export const metrics: Job = async ({ records, rounds, nodeOptions }, { say, signal }) => {
  const sink = await Sink.open(0);
  const found: MetricsRound[] = [];
  try {
    for (let round = 0; round < rounds && !signal.aborted; round += 1) {
      const costs: Partial<Record<(typeof WAYS)[number], MetricsCost>> = {};
      for (const way of round % 2 === 0 ? WAYS : WAYS.toReversed())
        costs[way] = await alone([
          ...nodeOptions,
          ALONE,
          way,
          `http://127.0.0.1:${String(sink.port)}`,
          String(records),
        ]);
      found.push(costs as MetricsRound);
      say(`Round ${String(round + 1)} of ${String(rounds)}: done.`);
    }
  } finally {
    await sink.close();
  }
  return resultOf(found);
};

/** The middle of all rounds, of either way and of what one costs more than the other. */
export function resultOf(rounds: readonly MetricsRound[]): BenchResult {
  const cost = (way: (typeof WAYS)[number]): number => median(rounds.map((round) => round[way].usPerRecord));
  const rate = (way: (typeof WAYS)[number]): number =>
    median(rounds.map((round) => round[way].records / round[way].seconds));
  const more = median(rounds.map((round) => round.with.usPerRecord / round.without.usPerRecord - 1));
  return {
    columns: ['metrics', 'CPU µs per payment', 'payments/s'],
    rows: [
      ...WAYS.map((way) => [way, cost(way).toFixed(1), String(Math.round(rate(way)))]),
      ['more', `${(100 * more).toFixed(1)} %`, ''],
    ],
    figures: { rounds, more },
    missed: more > BAR ? [`metrics cost ${(100 * more).toFixed(1)} % of the CPU, at most ${String(100 * BAR)} %`] : [],
  };
}

async function alone(args: readonly string[]): Promise<MetricsCost> {
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  if (code !== 0) throw new Error(`a process that was measured ended with ${String(code)}`);
  return JSON.parse(output) as MetricsCost;
}
