import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { ReleaseStack } from '../../src/lifecycle/release-stack.ts';
import { type Ending, type Phase, phaseFigures, resultOf, type Second } from './ill-figures.ts';
import { poison } from './ill-poison.ts';
import { type IllRun, type IllStage, setIllStage } from './ill-stage.ts';
import { type BenchResult, type Job } from './result.ts';

const SHARES = [0.2, 0.45, 0.6] as const;
/** Nothing at all lasts this many times as long as each of the shares. */
const DEAD_TIMES = 2.5;
const BEFORE_SECONDS = 20;
const CAUGHT_UP_LIMIT_SECONDS = 600;
const SETTLED_LIMIT_SECONDS = 600;
const DEAD = 'no answer at all';

/** A service that fails a share of its calls, then answers nothing at all, while payments come; or, with `--poison`, refusals. */
export const ill: Job = async (options, world) => {
  const opened = new ReleaseStack();
  const { say } = world;
  try {
    const stage = await setIllStage({ options, opened, say });
    const well = { latencyMs: options.latencyMs };
    stage.service.faults.set(well);
    const { minutes, rate, records } = options;
    const run = { stage, well, minutes, rate, records, ...world };
    return options.poison ? await poison(run) : await new Illness(run).run();
  } finally {
    for (const { what, error } of await opened.release()) say(`${what} could not be closed: ${error}`);
  }
};

class Illness {
  readonly #run: IllRun;
  readonly #phases: Phase[] = [];
  readonly #seconds: Second[] = [];

  constructor(run: IllRun) {
    this.#run = run;
  }

  async run(): Promise<BenchResult> {
    const { stage, well, minutes, rate, records, signal } = this.#run;
    const over = new AbortController();
    signal.addEventListener('abort', () => {
      over.abort();
    });
    const trade = stage.till.trade(rate, over.signal);
    await this.#during({ name: 'before', isIll: false }, BEFORE_SECONDS);
    for (const share of SHARES) {
      const percent = `${String(100 * share)} % 503`;
      stage.service.faults.set({ ...well, status: { code: 503, share } });
      await this.#during({ name: percent, isIll: true }, 60 * minutes);
      stage.service.faults.set(well);
      await this.#untilCaughtUp(`after ${percent}`);
    }
    stage.service.faults.set({ answer: { as: 'hang', carriedOut: false } });
    const backlog = stage.till.pay(records);
    await this.#during({ name: DEAD, isIll: true }, 60 * minutes * DEAD_TIMES);
    await backlog;
    stage.service.faults.set(well);
    await this.#untilCaughtUp(`after ${DEAD}`);
    over.abort();
    await trade;
    const ending = await this.#ending();
    const figures = this.#phases.map((phase) => phaseFigures(phase, this.#seconds, rate));
    return resultOf(figures, ending, { seconds: this.#seconds, dead: DEAD });
  }

  async #during(phase: Phase, seconds: number): Promise<void> {
    const untilMs = performance.now() + 1000 * seconds;
    await this.#watch(phase, () => performance.now() < untilMs);
  }

  /** Until no more lag is left than comes in within two seconds, both topics. */
  async #untilCaughtUp(name: string): Promise<void> {
    const { rate } = this.#run;
    const untilMs = performance.now() + 1000 * CAUGHT_UP_LIMIT_SECONDS;
    const isBehind = (): boolean => (this.#seconds.at(-1)?.lag ?? Infinity) > 4 * rate;
    let quiet = 0;
    await this.#watch({ name, isIll: false }, () => {
      quiet = isBehind() ? 0 : quiet + 1;
      return quiet < 5 && performance.now() < untilMs;
    });
  }

  /** Looks at everything once a second as long as it is to go on. */
  async #watch(phase: Phase, goesOn: () => boolean): Promise<void> {
    const { stage, say, signal } = this.#run;
    this.#phases.push(phase);
    const summary = (): ReturnType<ReturnType<typeof stage.service.ledger>['summary']> =>
      stage.service.ledger().summary();
    let before = summary();
    let atMs = performance.now();
    do {
      atMs += 1000;
      await sleep(Math.max(0, atMs - performance.now()), undefined, { signal }).catch(() => undefined);
      const after = summary();
      const memory = await stage.memory();
      const { payments, updates } = stage.till;
      this.#seconds.push({
        atMs: Date.now(),
        phase: phase.name,
        requests: after.scoreRequests - before.scoreRequests,
        scored: after.scorings - before.scorings,
        batches: after.batches - before.batches,
        updates: after.updates - before.updates,
        // The connector's own figure stands still while its partitions are paused.
        lag: payments - after.transactions + updates - after.transactionsWithStatus,
        rssMb: memory.at(-1)?.rssMb ?? null,
      });
      before = after;
    } while (goesOn() && stage.isAlive() && !signal.aborted);
    say(`${phase.name}: over, lag ${String(this.#seconds.at(-1)?.lag ?? 0)}.`);
    if (!stage.isAlive()) throw new Error('the connector has ended by itself');
  }

  async #ending(): Promise<Ending> {
    const { stage, signal } = this.#run;
    await stage.till.report();
    const { payments, updates } = stage.till;
    const settledAfterSeconds = await settled(stage, { payments, updates }, signal);
    const { transactions, transactionsWithStatus, disorders, overlaps, unlinked, repeatedScorings } = stage.service
      .ledger()
      .summary();
    const [letters, scores] = [await stage.letters(), await stage.scores()];
    await stage.end();
    return {
      payments,
      updates,
      notScored: payments - transactions,
      notReported: updates - transactionsWithStatus,
      notPublished: payments - scores,
      letters,
      disorders,
      overlaps,
      early: unlinked,
      scoredTwice: repeatedScorings,
      settledAfterSeconds,
    };
  }
}

/** Seconds until everything is scored, linked and committed; null: it was not in time. */
export async function settled(
  stage: IllStage,
  { payments, updates }: { readonly payments: number; readonly updates: number },
  signal: AbortSignal,
): Promise<number | null> {
  const fromMs = performance.now();
  while (performance.now() - fromMs < 1000 * SETTLED_LIMIT_SECONDS && !signal.aborted && stage.isAlive()) {
    const { transactions, transactionsWithStatus } = stage.service.ledger().summary();
    const partitions = (await stage.status())?.partitions ?? [];
    const isCommitted = partitions.length > 0 && partitions.every(({ lag }) => lag === '0');
    if (transactions >= payments && transactionsWithStatus >= updates && isCommitted)
      return Math.round((performance.now() - fromMs) / 100) / 10;
    await sleep(200);
  }
  return null;
}
