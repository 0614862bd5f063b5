import { ReleaseStack } from '../../src/lifecycle/release-stack.ts';
import { type BenchResult, type Job } from './result.ts';
import { percentile } from './statistics.ts';
import { closedLoop, type LoadFigures, paced, signedRequests } from './webhooks-load.ts';
import { type Receiver, setWebhooksStage, type WebhooksStage } from './webhooks-stage.ts';

const CONNECTIONS = 64;
const PER_SECOND = 1000;
/** As many are signed for each second at the maximum; nobody is faster. */
const MOST_PER_SECOND = 30_000;
const WARM_UP_SECONDS = 4;
const BARS = { perSecond: 12_000, p99Ms: 20 } as const;

/** What one receiver did under one load. */
export interface WebhooksFigure {
  readonly receiver: 'bare' | 'connector';
  readonly load: 'steady' | 'maximum';
  readonly perSecond: number;
  readonly failed: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly p999Ms: number;
  /** User and system time of all threads, for one webhook. */
  readonly cpuUs: number;
}

/** Webhooks at a steady rate and as many as go, for a bare receiver and for the connector in turn. */
export const webhooks: Job = async (options, { say, signal }) => {
  const opened = new ReleaseStack();
  const figures: WebhooksFigure[] = [];
  const numbers = { next: 0 };
  try {
    const stage = await setWebhooksStage({ options, opened, say });
    for (let round = 0; round < options.rounds; round += 1) {
      for (const name of ['bare', 'connector'] as const) {
        if (signal.aborted) break;
        figures.push(...(await measure(stage, name, { seconds: options.seconds, numbers })));
        say(`${name}: done.`);
      }
    }
    return resultOf(figures);
  } finally {
    for (const { what, error } of await opened.release()) say(`${what} could not be closed: ${error}`);
  }
};

/** The middle round of each, and what of the bars was missed. */
export function resultOf(figures: readonly WebhooksFigure[]): BenchResult {
  const middles = (['steady', 'maximum'] as const).flatMap((load) =>
    (['bare', 'connector'] as const).flatMap((receiver) => {
      const rounds = figures.filter((figure) => figure.load === load && figure.receiver === receiver);
      const middle = rounds.toSorted((a, b) => a.cpuUs - b.cpuUs)[Math.floor(rounds.length / 2)];
      return middle === undefined ? [] : [middle];
    }),
  );
  const ours = (load: WebhooksFigure['load']): WebhooksFigure | undefined =>
    middles.find((figure) => figure.load === load && figure.receiver === 'connector');
  const rate = ours('maximum')?.perSecond ?? 0;
  const p99Ms = ours('steady')?.p99Ms ?? Infinity;
  const failed = figures.reduce((sum, figure) => sum + figure.failed, 0);
  return {
    columns: ['webhooks', 'per second', 'p50 ms', 'p99 ms', 'p99.9 ms', 'CPU µs each', 'failed'],
    rows: middles.map((figure) => [
      `${figure.load}, ${figure.receiver}`,
      figure.perSecond.toFixed(0),
      figure.p50Ms.toFixed(1),
      figure.p99Ms.toFixed(1),
      figure.p999Ms.toFixed(1),
      figure.cpuUs.toFixed(0),
      String(figure.failed),
    ]),
    figures,
    missed: [
      ...(rate >= BARS.perSecond ? [] : [`${rate.toFixed(0)} a second, at least ${String(BARS.perSecond)}`]),
      ...(p99Ms <= BARS.p99Ms ? [] : [`p99 ${p99Ms.toFixed(1)} ms at a steady rate, at most ${String(BARS.p99Ms)}`]),
      ...(failed === 0 ? [] : [`${String(failed)} were not answered 200`]),
    ],
  };
}

interface Span {
  readonly seconds: number;
  /** Reviews are numbered through the whole run: one that came before would be a duplicate. */
  readonly numbers: { next: number };
}

async function measure(
  stage: WebhooksStage,
  name: WebhooksFigure['receiver'],
  { seconds, numbers }: Span,
): Promise<readonly WebhooksFigure[]> {
  const receiver = await stage[name]();
  const take = (count: number): readonly Buffer[] => {
    const from = numbers.next;
    numbers.next += count;
    return signedRequests(receiver, count, from);
  };
  const most = { connections: CONNECTIONS, seconds };
  await closedLoop(receiver.port, take(WARM_UP_SECONDS * MOST_PER_SECOND), { ...most, seconds: WARM_UP_SECONDS });
  const steady = take(Math.round(seconds * PER_SECOND));
  const first = await timed(
    receiver,
    async () => await paced(receiver.port, steady, { connections: CONNECTIONS, perSecond: PER_SECOND }),
  );
  const all = take(Math.round(seconds * MOST_PER_SECOND));
  const second = await timed(receiver, async () => await closedLoop(receiver.port, all, most));
  await receiver.end();
  return [
    { receiver: name, load: 'steady', ...first },
    { receiver: name, load: 'maximum', ...second },
  ];
}

async function timed(
  receiver: Receiver,
  load: () => Promise<LoadFigures>,
): Promise<Omit<WebhooksFigure, 'receiver' | 'load'>> {
  const before = await receiver.cpuSeconds();
  const { answered, failed, seconds, latenciesMs } = await load();
  const cpuSeconds = (await receiver.cpuSeconds()) - before;
  const sorted = latenciesMs.toSorted((a, b) => a - b);
  return {
    perSecond: answered / seconds,
    failed,
    p50Ms: percentile(sorted, 0.5),
    p99Ms: percentile(sorted, 0.99),
    p999Ms: percentile(sorted, 0.999),
    cpuUs: (1e6 * cpuSeconds) / Math.max(1, answered),
  };
}
