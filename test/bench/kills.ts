import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { nameOf } from '../../src/kernel/fault.ts';
import { ReleaseStack } from '../../src/lifecycle/release-stack.ts';
import { BY_DEFAULT } from './compare-arguments.ts';
import { Backlogs } from './compare-backlogs.ts';
import { type CompareJob, USUAL, usualName } from './compare-jobs.ts';
import { type Backlog, until } from './compare-run.ts';
import { type CompareStage, setCompareStage } from './compare-stage.ts';
import { type BenchResult, type Job } from './result.ts';
import { NOTES, type Rival } from './rivals/roster.ts';
import { Sink } from './sink.ts';
import { median } from './statistics.ts';

/** What one kill -9 at full rate came to. */
export interface Killed {
  /** Records that had been asked about before it. */
  readonly asked: number;
  /** A second, from the first request to the kill. */
  readonly rate: number;
  /** Requests afterwards for records that had been asked about before. */
  readonly repeated: number;
  /** From the kill to the first request of the next process. */
  readonly awayMs: number;
}

export interface KillRow {
  readonly rival: Rival;
  readonly rounds: readonly Killed[];
}

const WARM_UP_SECONDS = 3;
/** In which the next process comes to every partition. */
const AFTERWARDS_MS = 10_000;

/**
 * Each contestant in turn reads a backlog, is killed at full rate, and is started again in the same group: how many
 * requests the service gets a second time. What was written meanwhile matters to nobody here, so it is not measured.
 */
export const kills: Job = async (options, { say, signal }) => {
  const opened = new ReleaseStack();
  try {
    const { seconds, latencyMs, concurrency, rounds, pin } = options;
    const job: CompareJob = Object.assign({}, USUAL, {
      name: usualName(latencyMs),
      latencyMs,
      concurrency,
      rivals: BY_DEFAULT,
      rounds,
    });
    const lasting = { jobs: [job], pin, warmUpSeconds: WARM_UP_SECONDS, seconds: seconds + AFTERWARDS_MS / 1000 };
    const stage = await setCompareStage({ options: lasting, opened, say });
    const backlog = await new Backlogs(stage, lasting, say).of(job);
    const rows = new Map<Rival, Killed[]>();
    for (let round = 1; round <= rounds; round += 1) {
      for (const rival of BY_DEFAULT.filter((each) => stage.rivals.has(each))) {
        if (signal.aborted) break;
        try {
          const killed = await throughKill(rival, {
            stage,
            job,
            backlog,
            seconds,
            group: `bench-kills-${round}-${rival}`,
          });
          rows.set(rival, [...(rows.get(rival) ?? []), killed]);
          say(`${rival}, ${round}: ${killed.repeated} repeated of ${killed.asked}`);
        } catch (error) {
          say(`${rival}: ${error instanceof Error ? error.message : nameOf(error)}`);
        }
      }
    }
    return resultOf([...rows].map(([rival, found]) => ({ rival, rounds: found })));
  } finally {
    for (const { what, error } of await opened.release()) say(`${what} could not be closed: ${error}`);
  }
};

interface Work {
  readonly stage: CompareStage;
  readonly job: CompareJob;
  readonly backlog: Backlog;
  readonly seconds: number;
  readonly group: string;
}

async function throughKill(rival: Rival, { stage, job, backlog, seconds, group }: Work): Promise<Killed> {
  const asked = new Asked(backlog.keyOfRecord.length);
  const sink = await Sink.open(job.latencyMs);
  sink.tally = asked;
  const start = async (): ReturnType<CompareStage['start']> =>
    await stage.start(rival, { topic: backlog.topic, sinkPort: sink.port, job, group });
  try {
    const first = await start();
    let beganMs: number;
    try {
      await until(() => asked.records > 0, first);
      beganMs = performance.now();
      await sleep(1000 * (WARM_UP_SECONDS + seconds));
    } finally {
      first.child.kill('SIGKILL');
      await first.child.ended;
    }
    const workedMs = performance.now() - beganMs;
    // What it had written is still read by the service for a moment.
    await sleep(2 * job.latencyMs + 100);
    const [before, repeatedBefore, killedMs] = [asked.records, asked.repeated, performance.now()];
    const next = await start();
    try {
      await until(() => asked.records + asked.repeated > before + repeatedBefore, next);
      const awayMs = performance.now() - killedMs;
      await until(() => asked.records > before, next);
      await sleep(AFTERWARDS_MS);
      const repeated = asked.repeated - repeatedBefore;
      return { asked: before, rate: (1000 * before) / workedMs, repeated, awayMs };
    } finally {
      await next.end();
    }
  } finally {
    await sink.close();
  }
}

/** Counts which records were asked about, and how often one was again. */
class Asked {
  records = 0;
  repeated = 0;
  readonly #seen: Uint8Array;

  constructor(records: number) {
    this.#seen = new Uint8Array(records);
  }

  came(record: number): void {
    if (this.#seen[record] === 1) this.repeated += 1;
    else this.records += 1;
    this.#seen[record] = 1;
  }

  left(): void {
    // Who was asked counts, not who was answered.
  }
}

/** The middle kill of each. One that does less of the work in a second has less to repeat, so its time is compared. */
export function resultOf(rows: readonly KillRow[]): BenchResult {
  const middle = ({ rounds }: KillRow, figure: (killed: Killed) => number): number => median(rounds.map(figure));
  const workMs = (row: KillRow): number => middle(row, ({ repeated, rate }) => (1000 * repeated) / rate);
  const ours = rows.find(({ rival }) => rival === 'connector');
  const most = ours === undefined ? Infinity : workMs(ours);
  return {
    columns: ['', 'rate/s', 'repeated', 'most', 'its work of ms', 'away s'],
    rows: rows.map((row) => [
      NOTES[row.rival].title,
      middle(row, ({ rate }) => rate).toFixed(0),
      middle(row, ({ repeated }) => repeated).toFixed(0),
      String(Math.max(...row.rounds.map(({ repeated }) => repeated))),
      workMs(row).toFixed(0),
      (middle(row, ({ awayMs }) => awayMs) / 1000).toFixed(1),
    ]),
    figures: rows,
    missed: rows
      .filter((row) => workMs(row) < most)
      .map((row) => `connector: work of ${most.toFixed(0)} ms repeated, ${row.rival} of ${workMs(row).toFixed(0)} ms`),
  };
}
