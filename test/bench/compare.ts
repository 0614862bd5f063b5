import { writeFile } from 'node:fs/promises';
import { nameOf } from '../../src/kernel/fault.ts';
import { ReleaseStack } from '../../src/lifecycle/release-stack.ts';
import { Backlogs } from './compare-backlogs.ts';
import { type Keys } from './arguments.ts';
import { type CompareArguments } from './compare-arguments.ts';
import { type Comparison, comparisonTable, middleOf, missedBars, orderedCeiling, type Row } from './compare-figures.ts';
import { type CompareJob, UPDATES_PER_BATCH } from './compare-jobs.ts';
import { comparisonPicture } from './compare-picture.ts';
import { type Added, type Figures, runBelowSaturation, runOverBacklog } from './compare-run.ts';
import { type CompareStage, setCompareStage } from './compare-stage.ts';
import { probeNetwork } from './network-probe.ts';
import { type BenchResult } from './result.ts';
import { NOTES, type Rival } from './rivals/roster.ts';

/** A service that answers at once has no ceiling but the machine's. */
const NO_CEILING_MS = 0.5;

interface World {
  readonly say: (line: string) => void;
  readonly signal: AbortSignal;
}

/** What all runs of a comparison share. */
interface Scene extends World {
  readonly stage: CompareStage;
  readonly options: CompareArguments;
  readonly backlogs: Backlogs;
  readonly networkMs: number;
}

/**
 * The connector beside what one would write or take in its place, on one machine, one broker and one sink, by turns: each
 * round runs all of them once, so that what the machine does meanwhile meets all alike. Who cannot be had here, or sends
 * nothing, is left out, aloud.
 */
export async function compare(options: CompareArguments, { say, signal }: World): Promise<BenchResult> {
  const opened = new ReleaseStack();
  try {
    const stage = await setCompareStage({ options, opened, say });
    const backlogs = new Backlogs(stage, options, say);
    const scene: Scene = { stage, options, backlogs, networkMs: await probeNetwork(), say, signal };
    const rows: Row[] = [];
    for (const job of options.jobs) rows.push(...(await rowsOf(job, scene)));
    return await resultOf(options, { rows, ...(await addedOf(scene)) });
  } finally {
    for (const { what, error } of await opened.release()) say(`${what} could not be closed: ${error}`);
  }
}

async function rowsOf(job: CompareJob, scene: Scene): Promise<readonly Row[]> {
  const { stage, options, backlogs, say } = scene;
  const found = new Map<Rival, Figures[]>();
  const backlog = await backlogs.of(job);
  await byTurns(job.rivals, job.rounds, scene, async (rival, round) => {
    const figures = await runOverBacklog(rival, { stage, options, backlog, job });
    found.set(rival, [...(found.get(rival) ?? []), figures]);
    const { rate, cpu, rssMb } = figures;
    say(
      `${job.name}, ${String(round)}, ${rival}: ${rate.toFixed(0)}/s, ${cpu.toFixed(3)} s per 1,000, ${rssMb.toFixed(0)} MB`,
    );
  });
  return [...found].map(([rival, rounds]) => {
    const { name, latencyMs } = job;
    return {
      rival,
      job: name,
      latencyMs,
      ceiling: ceilingOf(job, middleOf(rounds).servedMs, backlog.hottest, scene),
      rounds,
    };
  });
}

async function addedOf(scene: Scene): Promise<Pick<Comparison, 'added' | 'hot'>> {
  const { stage, options, say } = scene;
  const found = new Map<Rival, Added[]>();
  const hot: Added[] = [];
  const measure = async (rival: Rival, keys: Keys): Promise<Added> => {
    const added = await runBelowSaturation(rival, { stage, options, topic: `bench.live.${rival}.${keys}`, keys });
    const { p50Ms, p99Ms, othersP99Ms } = added;
    const others = keys === 'zipf' ? `, p99 of the other keys ${othersP99Ms.toFixed(1)} ms` : '';
    say(`added, ${rival}, ${keys} keys: ${p50Ms.toFixed(1)} ms, p99 ${p99Ms.toFixed(1)} ms${others}`);
    return added;
  };
  await byTurns(options.pace === 0 ? [] : options.paced, 1, scene, async (rival) => {
    found.set(rival, [...(found.get(rival) ?? []), await measure(rival, 'even')]);
    if (rival === 'connector') hot.push(await measure(rival, 'zipf'));
  });
  return { added: [...found].map(([rival, rounds]) => ({ rival, rounds })), hot };
}

/** Every contestant once a round, in turn. */
async function byTurns(
  rivals: readonly Rival[],
  rounds: number,
  { stage, say, signal }: Scene,
  run: (rival: Rival, round: number) => Promise<void>,
): Promise<void> {
  for (let round = 1; round <= rounds; round += 1) {
    for (const rival of rivals) {
      if (signal.aborted || !stage.rivals.has(rival)) continue;
      try {
        await run(rival, round);
      } catch (error) {
        say(`${rival}: ${error instanceof Error ? error.message : nameOf(error)}`);
      }
    }
  }
}

/** Null: nothing limits but the machine. */
function ceilingOf(job: CompareJob, servedMs: number, hottest: number, { networkMs }: Scene): number | null {
  if (job.latencyMs < NO_CEILING_MS) return null;
  const { concurrency } = job;
  if (job.flow === 'scoring') return orderedCeiling(servedMs, { concurrency, hottest, networkMs });
  return (UPDATES_PER_BATCH * 1000 * concurrency) / (servedMs + networkMs);
}

async function resultOf(options: CompareArguments, comparison: Comparison): Promise<BenchResult> {
  const { isUsual, picture } = options;
  if (picture !== null) await writeFile(picture, comparisonPicture(comparison));
  const titles = comparison.rows.map(({ rival }) => NOTES[rival].title);
  return {
    ...comparisonTable(comparison),
    figures: { titles: [...new Set(titles)], ...comparison },
    missed: isUsual ? missedBars(comparison) : [],
  };
}
