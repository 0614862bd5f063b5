import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { type CompareArguments } from './compare-arguments.ts';
import { type Keys } from './arguments.ts';
import { HOTTEST_OF_ZIPF, keyPlan } from './backlog.ts';
import { type CompareJob, USUAL } from './compare-jobs.ts';
import { type CompareStage, type Contestant } from './compare-stage.ts';
import { KEYS_IN_TURN, loadLive } from './live-load.ts';
import { type Rival } from './rivals/roster.ts';
import { paymentOf, Sink, updatesOf } from './sink.ts';
import { percentile } from './statistics.ts';
import { type Counts, Tally } from './tally.ts';

/** What one run over a backlog came to. */
export interface Figures {
  /** Answered a second. */
  readonly rate: number;
  /** User and system seconds for 1,000 records. */
  readonly cpu: number;
  readonly rssMb: number;
  /** From the last byte of a request to its answer, as the service measured it, in milliseconds. */
  readonly servedMs: number;
  /** Requests of a key after a later record of it, for 1,000 records. */
  readonly disorders: number;
  /** Requests of a key while another one of it was open, for 1,000 records. */
  readonly overlaps: number;
  readonly doubled: number;
}

/** What one run below saturation came to: from the moment a record was meant to be sent to its request at the service. */
export interface Added {
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Of all but the hottest key. */
  readonly othersP99Ms: number;
  readonly cpu: number;
}

/** Records that are there, and the key of each by number. */
export interface Backlog {
  readonly topic: string;
  readonly keyOfRecord: Uint32Array;
  readonly keys: number;
  /** Share of the most frequent key. */
  readonly hottest: number;
}

const LOOK_EVERY_MS = 50;
/** The first start of a JVM under load on half a machine takes a while. */
const FIRST_ANSWER_LIMIT_MS = 60_000;
/** With the last records only some keys have a backlog. */
const USABLE = 0.95;

/** One contestant reads the backlog from its beginning, as a group of its own. */
export async function runOverBacklog(
  rival: Rival,
  { stage, options, backlog, job }: Setting & { readonly backlog: Backlog; readonly job: CompareJob },
): Promise<Figures> {
  const tally = new Tally(backlog.keyOfRecord, backlog.keys);
  return await withContestant(rival, { stage, topic: backlog.topic, job, tally }, async (contestant) => {
    await until(() => tally.answered > 0, contestant);
    const most = backlog.keyOfRecord.length * USABLE;
    await pass(options.warmUpSeconds, () => tally.answered > most / 3);
    const from = await look(tally, contestant);
    let rssMb = 0;
    await pass(options.seconds, async () => {
      rssMb = Math.max(rssMb, await contestant.residentMb());
      return tally.answered > most;
    });
    const to = await look(tally, contestant);
    const answered = Math.max(1, to.answered - from.answered);
    return {
      rate: (1000 * answered) / (to.atMs - from.atMs),
      cpu: (1000 * (to.cpuSeconds - from.cpuSeconds)) / answered,
      rssMb,
      servedMs: (to.servedMs - from.servedMs) / answered,
      disorders: (1000 * to.disorders) / to.answered,
      overlaps: (1000 * to.overlaps) / to.answered,
      doubled: to.doubled,
    };
  });
}

/** One contestant reads what is written while it runs, at a pace that all of them keep. */
export async function runBelowSaturation(
  rival: Rival,
  { stage, options, topic, keys }: Setting & { readonly topic: string; readonly keys: Keys },
): Promise<Added> {
  const { pace, seconds, warmUpSeconds } = options;
  const { partitions } = USUAL;
  await stage.createTopic(topic, partitions);
  const job = { ...USUAL, name: '', rivals: [], rounds: 1, latencyMs: ADDED_LATENCY_MS };
  const plan = keys === 'zipf' ? keyPlan(keys) : KEYS_IN_TURN;
  const load = await loadLive({ broker: stage.broker, topic, partitions, pace, plan });
  const waits: number[] = [];
  const others: number[] = [];
  let [isCounted, came] = [false, 0];
  const tally = {
    came: (record: number): void => {
      came += 1;
      if (!isCounted) return;
      const waitMs = performance.now() - load.intendedMs(record);
      waits.push(waitMs);
      if (load.keyOf(record) !== HOTTEST_OF_ZIPF) others.push(waitMs);
    },
    left: (): void => undefined,
  };
  try {
    return await withContestant(rival, { stage, topic, job, tally }, async (contestant) => {
      await until(() => came > 0, contestant);
      // What was written before it was ready must be gone.
      await pass(warmUpSeconds + 2, () => false);
      isCounted = true;
      const [from, cpuFrom] = [came, await contestant.cpuSeconds()];
      await pass(seconds, () => false);
      isCounted = false;
      waits.sort(ascending);
      others.sort(ascending);
      const cpu = (1000 * ((await contestant.cpuSeconds()) - cpuFrom)) / Math.max(1, came - from);
      return {
        p50Ms: percentile(waits, 0.5),
        p99Ms: percentile(waits, 0.99),
        othersP99Ms: percentile(others, 0.99),
        cpu,
      };
    });
  } finally {
    await load.end();
  }
}

function ascending(a: number, b: number): number {
  return a - b;
}

/** Of the service, where latency is measured. */
export const ADDED_LATENCY_MS = 5;

interface Setting {
  readonly stage: CompareStage;
  readonly options: CompareArguments;
}

async function withContestant<T>(
  rival: Rival,
  work: {
    readonly stage: CompareStage;
    readonly topic: string;
    readonly job: CompareJob;
    readonly tally: Sink['tally'];
  },
  measure: (contestant: Contestant) => Promise<T>,
): Promise<T> {
  const { stage, topic, job, tally } = work;
  const sink = await Sink.open(job.latencyMs, job.flow === 'sync' ? updatesOf : paymentOf);
  sink.tally = tally;
  try {
    const contestant = await stage.start(rival, { topic, sinkPort: sink.port, job });
    try {
      return await measure(contestant);
    } finally {
      await contestant.end();
    }
  } finally {
    await sink.close();
  }
}

async function look(
  tally: Tally,
  contestant: Contestant,
): Promise<Counts & { readonly atMs: number; readonly cpuSeconds: number }> {
  const cpuSeconds = await contestant.cpuSeconds();
  return { ...tally.snapshot(), atMs: performance.now(), cpuSeconds };
}

/** Lets so many seconds pass, fewer where it is over before. */
async function pass(seconds: number, isOver: () => boolean | Promise<boolean>): Promise<void> {
  const latestMs = performance.now() + 1000 * seconds;
  while (performance.now() < latestMs && !(await isOver())) await sleep(LOOK_EVERY_MS);
}

/** Rejects with what a contestant printed where it ends, or nothing comes of it within a minute. */
export async function until(isReady: () => boolean, { child }: Contestant): Promise<void> {
  const latestMs = performance.now() + FIRST_ANSWER_LIMIT_MS;
  while (!isReady()) {
    if (!child.alive || performance.now() > latestMs)
      throw new Error(`${child.name} sends nothing:\n${await child.lastLines()}`);
    await sleep(LOOK_EVERY_MS);
  }
}
