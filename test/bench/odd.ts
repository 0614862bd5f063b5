import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { ReleaseStack } from '../../src/lifecycle/release-stack.ts';
import { type OddAnswer, oddPrefix, oddRules, oddStatus } from '../support/odd-answers.ts';
import { type IllStage, setIllStage } from './ill-stage.ts';
import { type OddFigures, type OddRun, resultOf } from './odd-figures.ts';
import { type Job } from './result.ts';

const SHARES = [0.01, 0.04, 0.08] as const;
/** What holds a slot for its whole time. */
const TIMEOUT_SHARE = 0.002;

const KINDS: Readonly<Record<string, OddAnswer>> = {
  '403': oddStatus(403),
  '400': oddStatus(400),
  '500': oddStatus(500),
  reset: { resetBeforeShare: 1 },
};
const TIMEOUT: Readonly<Record<string, OddAnswer>> = { timeout: { answer: { as: 'hang' } } };

function runsOf(operation: OddRun['operation']): readonly OddRun[] {
  return [
    { operation, kind: 'none', share: 0 },
    ...Object.keys(KINDS).flatMap((kind) => SHARES.map((share) => ({ operation, kind, share }))),
    { operation, kind: 'timeout', share: TIMEOUT_SHARE },
  ];
}

/** Payments at a rate, each with its status; a share of the ids always gets one odd answer, to POST or to PATCH. */
export const odd: Job = async (options, world) => {
  const figures: OddFigures[] = [];
  for (const run of [...runsOf('POST'), ...runsOf('PATCH')]) {
    if (world.signal.aborted) break;
    figures.push(await measured(run, options, world));
    const { goodPerSecond, waiting } = figures.at(-1) ?? { goodPerSecond: 0, waiting: 0 };
    world.say(`${nameOf(run)}: ${goodPerSecond.toFixed(0)} good records a second, ${String(waiting)} waiting.`);
  }
  return resultOf(figures);
};

type Given = Parameters<Job>;

/** One run with a broker and a connector of its own: nothing is left of the one before. */
async function measured(run: OddRun, options: Given[0], { signal }: Given[1]): Promise<OddFigures> {
  const opened = new ReleaseStack();
  try {
    const stage = await setIllStage({ options, opened, say: () => undefined });
    const { latencyMs, rate, seconds } = options;
    const operations = [run.operation === 'POST' ? ('score' as const) : ('sync' as const)];
    const rules = oddRules({ ...KINDS, ...TIMEOUT }).map((rule) => Object.assign({ operations, latencyMs }, rule));
    stage.service.faults.set({ latencyMs, rules });
    stage.till.name = namer(run);
    const over = AbortSignal.any([signal, AbortSignal.timeout(1000 * seconds)]);
    const trade = stage.till.trade(rate, over);
    const half = await goodAfter(stage, run, { seconds: seconds / 2, signal });
    const whole = await goodAfter(stage, run, { seconds: seconds / 2, signal });
    await trade;
    const memory = await stage.memory();
    const { payments, odd: written } = stage.till;
    const measuredSeconds = (whole.atMs - half.atMs) / 1000;
    return {
      ...run,
      goodPerSecond: (whole.good - half.good) / measuredSeconds,
      requestsPerSecond: (whole.requests - half.requests) / measuredSeconds,
      waiting: payments - written - whole.good,
      odd: written,
      deadLetters: await stage.letters(),
      mostRssMb: memory.reduce((most, { rssMb }) => Math.max(most, rssMb), 0),
    };
  } finally {
    await opened.release();
  }
}

interface Seen {
  readonly atMs: number;
  readonly good: number;
  readonly requests: number;
}

async function goodAfter(
  { service }: IllStage,
  { operation }: OddRun,
  { seconds, signal }: { readonly seconds: number; readonly signal: AbortSignal },
): Promise<Seen> {
  await sleep(1000 * seconds, undefined, { signal }).catch(() => undefined);
  const { transactions, transactionsWithStatus, scoreRequests, batches } = service.ledger().summary();
  const atMs = performance.now();
  return operation === 'POST'
    ? { atMs, good: transactions, requests: scoreRequests }
    : { atMs, good: transactionsWithStatus, requests: batches };
}

/** Odd ones stand evenly among the others. */
function namer({ kind, share }: OddRun): (number: number) => string | null {
  return (number) =>
    Math.floor((number + 1) * share) > Math.floor(number * share) ? `${oddPrefix(kind)}${String(number)}` : null;
}

function nameOf({ operation, kind, share }: OddRun): string {
  return `${operation}, ${String(Math.round(share * 1000) / 10)} % ${kind}`;
}
