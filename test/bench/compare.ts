import { writeFile } from 'node:fs/promises';
import { ReleaseStack } from '../../src/lifecycle/release-stack.ts';
import { avroValues } from './avro-values.ts';
import { drawnKeyPlan, fillTopic, hottestShare, keyPlan, valueOf } from './backlog.ts';
import { type CompareArguments } from './compare-arguments.ts';
import { type Comparison, comparisonTable, middleOf, missedBars, orderedCeiling } from './compare-figures.ts';
import { comparisonPicture } from './compare-picture.ts';
import { type Added, type Backlog, type Figures, runBelowSaturation, runOverBacklog } from './compare-run.ts';
import { type CompareStage, setCompareStage } from './compare-stage.ts';
import { probeNetwork } from './network-probe.ts';
import { type BenchResult } from './result.ts';
import { NOTES, type Rival } from './rivals/roster.ts';

/** What nothing here exceeds; a backlog must last as long as is measured. */
const FASTEST = 60_000;
const SPARE = 1.25;
const MOST_BYTES = 1_200_000_000;
/** A service that answers at once has no ceiling but the machine's. */
const NO_CEILING_MS = 0.5;
/** Enough for all requests at once, and few enough that who breaks order is seen to. */
const LEAST_KEYS = 500;

interface World {
  readonly say: (line: string) => void;
  readonly signal: AbortSignal;
}

/**
 * The connector beside what one would write or take in its place, on one machine, one broker and one sink, by turns: each
 * round runs all of them once, so that what the machine does meanwhile meets all alike. A rival that cannot be had here is
 * left out, aloud.
 */
export async function compare(options: CompareArguments, { say, signal }: World): Promise<BenchResult> {
  const opened = new ReleaseStack();
  try {
    const stage = await setCompareStage({ options, opened, say });
    const networkMs = await probeNetwork();
    const over = new Map<string, { rival: Rival; latencyMs: number; rounds: Figures[] }>();
    let hottest = 0;
    for (const latencyMs of options.latencies) {
      const backlog = await fill(stage, options, latencyMs);
      hottest = hottestShare(backlog.keyOfRecord, backlog.keys);
      say(`${String(backlog.keyOfRecord.length)} records for a service that answers after ${String(latencyMs)} ms.`);
      for (const [round, rival] of turns(options)) {
        if (signal.aborted) break;
        const figures = await runOverBacklog(rival, { stage, options, backlog, latencyMs });
        const name = `${rival} ${String(latencyMs)}`;
        over.set(name, { rival, latencyMs, rounds: [...(over.get(name)?.rounds ?? []), figures] });
        say(
          `  ${String(round)} ${rival}: ${figures.rate.toFixed(0)}/s, ${figures.cpu.toFixed(3)} s per 1,000, ${figures.rssMb.toFixed(0)} MB`,
        );
      }
    }
    const below = new Map<Rival, Added[]>();
    for (const [round, rival] of options.pace === 0 ? [] : turns(options)) {
      if (signal.aborted) break;
      const topic = `bench.live.${rival}.${String(round)}`;
      const added = await runBelowSaturation(rival, { stage, options, topic });
      below.set(rival, [...(below.get(rival) ?? []), added]);
      say(`  ${String(round)} ${rival}: ${added.p50Ms.toFixed(1)} ms, p99 ${added.p99Ms.toFixed(1)} ms`);
    }
    const { concurrency } = options;
    const rows = [...over.values()].map(({ rival, latencyMs, rounds }) => {
      const { servedMs } = middleOf(rounds);
      const ceiling = latencyMs < NO_CEILING_MS ? null : orderedCeiling(servedMs, { concurrency, hottest, networkMs });
      return { rival, latencyMs, ceiling, rounds };
    });
    return await resultOf(options, { rows, added: [...below].map(([rival, rounds]) => ({ rival, rounds })) });
  } finally {
    for (const { what, error } of await opened.release()) say(`${what} could not be closed: ${error}`);
  }
}

/** Every contestant once a round, in turn. */
function turns({ rounds, rivals }: CompareArguments): readonly (readonly [number, Rival])[] {
  return Array.from({ length: rounds }, (_, round) => rivals.map((rival) => [round + 1, rival] as const)).flat();
}

async function fill(stage: CompareStage, options: CompareArguments, latencyMs: number): Promise<Backlog> {
  const { concurrency, seconds, warmUpSeconds, partitions, valueBytes, avro } = options;
  const rate = Math.min(FASTEST, latencyMs === 0 ? FASTEST : (1000 * concurrency) / latencyMs);
  const wanted = Math.ceil(SPARE * rate * (seconds + warmUpSeconds));
  const records = Math.min(wanted, Math.floor(MOST_BYTES / valueBytes));
  const plan = options.keys === 'zipf' ? keyPlan('zipf') : drawnKeyPlan(Math.max(LEAST_KEYS, 2 * partitions));
  const topic = `bench.created.${String(latencyMs)}`;
  await stage.createTopic(topic);
  const filler = 's'.repeat(valueBytes - valueOf(0, 0, false).length);
  const toJson = (record: number, key: number): string => `${valueOf(record, key, false).slice(0, -2)}${filler}"}`;
  const value = avro ? await avroValues(stage.kafka.registryUrl, topic, toJson) : toJson;
  const { broker } = stage;
  const keyOfRecord = await fillTopic({ broker, records, keyOf: plan.keyOf, small: false, topic, partitions, value });
  return { topic, keyOfRecord, keys: plan.keys };
}

async function resultOf(options: CompareArguments, comparison: Comparison): Promise<BenchResult> {
  const { concurrency, partitions, valueBytes, keys, picture } = options;
  const isUsual = concurrency === 64 && partitions === 12 && valueBytes === 704 && keys === 'even' && !options.avro;
  if (picture !== null) {
    const about = `${String(concurrency)} requests at once, ${String(partitions)} partitions, ${String(valueBytes)} bytes, ${keys} keys, one core for each contestant`;
    await writeFile(picture, comparisonPicture(comparison, about));
  }
  const titles = comparison.rows.map(({ rival }) => NOTES[rival].title);
  return {
    ...comparisonTable(comparison),
    figures: { titles: [...new Set(titles)], ...comparison },
    missed: isUsual ? missedBars(comparison) : [],
  };
}
