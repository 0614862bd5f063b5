import { setTimeout as sleep } from 'node:timers/promises';
import { ReleaseStack } from '../../src/lifecycle/release-stack.ts';
import { fillTopic, keyPlan } from './backlog.ts';
import { firstAnswer } from './ceiling.ts';
import { type BenchResult, type Job } from './result.ts';
import { Sink } from './sink.ts';
import { type Memory, setStage } from './stage.ts';
import { slopeOf } from './statistics.ts';
import { Tally } from './tally.ts';

/** The connector's memory at one moment, and how much it had done. */
export interface Sample extends Memory {
  readonly answered: number;
}

const PARTS = ['rssMb', 'heapMb', 'heapUsedMb', 'externalMb', 'buffersMb'] as const;
const LOOK_EVERY_MS = 1000;
/** At the beginning everything that is remembered fills up. */
const WARM_UP = 0.25;
/** What the line through a flat memory may rise in the whole span, as a share of its mean. */
const FLAT = 0.05;

/** Memory at the full rate with a big backlog. */
export const lag: Job = async (options, { say, signal }) => {
  const { latencyMs, seconds, records } = options;
  const opened = new ReleaseStack();
  try {
    const stage = await setStage({ options, opened, say });
    const plan = keyPlan('even');
    const beganMs = Date.now();
    const keyOfRecord = await fillTopic({ broker: stage.broker, records, keyOf: plan.keyOf, small: true });
    say(`${String(records)} records are there, after ${String(Math.round((Date.now() - beganMs) / 1000))} s.`);
    const sink = await Sink.open(latencyMs);
    opened.push('sink', async () => {
      await sink.close();
    });
    const tally = new Tally(keyOfRecord, plan.keys);
    sink.tally = tally;
    const connector = await stage.connect(sink.port);
    await firstAnswer(() => tally.answered, connector);
    const samples: Sample[] = [];
    const untilMs = Date.now() + 1000 * seconds;
    // An idle connector says nothing about one with a backlog.
    while (Date.now() < untilMs && tally.answered < 0.98 * records && connector.child.alive && !signal.aborted) {
      await sleep(LOOK_EVERY_MS, undefined, { signal }).catch(() => undefined);
      const memory = (await connector.memory()).at(-1);
      if (memory !== undefined && memory.atMs !== samples.at(-1)?.atMs)
        samples.push({ ...memory, answered: tally.answered });
    }
    await connector.child.end();
    return resultOf(samples, tally.disorders + tally.overlaps + tally.doubled);
  } finally {
    for (const { what, error } of await opened.release()) say(`${what} could not be closed: ${error}`);
  }
};

/** Slopes and maxima of the samples, the first quarter left out. */
export function resultOf(samples: readonly Sample[], faults: number): BenchResult {
  const steady = samples.slice(Math.floor(samples.length * WARM_UP));
  const [first, last] = [steady[0], steady.at(-1)];
  const minutes = ((last?.atMs ?? 0) - (first?.atMs ?? 0)) / 60_000;
  const answered = (last?.answered ?? 0) - (first?.answered ?? 0);
  const figures = PARTS.map((what) => figureOf(what, steady, minutes));
  const grown = figures.find(({ what }) => what === 'rssMb')?.grown ?? Infinity;
  return {
    columns: ['memory', 'mean MB', 'most MB', 'MB/min', 'MB/million'],
    rows: [
      ...figures.map(({ what, mean, most, perMinute, perMillion }) => [
        what.replace('Mb', ''),
        mean.toFixed(0),
        most.toFixed(0),
        perMinute.toFixed(1),
        perMillion.toFixed(1),
      ]),
      ['records', String(answered), '', minutes === 0 ? '' : (answered / minutes).toFixed(0), ''],
    ],
    figures: { memory: figures, answered, minutes, samples },
    missed: [
      ...(steady.length >= 10 ? [] : ['fewer than 10 samples: more records, or more seconds']),
      ...(grown <= FLAT ? [] : [`the memory grew by ${(100 * grown).toFixed(0)} %, at most ${String(100 * FLAT)} %`]),
      ...(faults === 0 ? [] : ['order, overlaps and doubled must be 0']),
    ],
  };
}

interface PartFigure {
  readonly what: (typeof PARTS)[number];
  readonly mean: number;
  readonly most: number;
  readonly perMinute: number;
  readonly perMillion: number;
  /** What the line through it rises in the whole span, as a share of the mean. */
  readonly grown: number;
}

function figureOf(what: PartFigure['what'], steady: readonly Sample[], minutes: number): PartFigure {
  const values = steady.map((sample) => sample[what]);
  const mean = values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
  const perMinute = slopeOf(steady.map((sample) => ({ x: sample.atMs / 60_000, y: sample[what] })));
  const perMillion = slopeOf(steady.map((sample) => ({ x: sample.answered / 1e6, y: sample[what] })));
  const grown = (perMinute * minutes) / mean;
  return { what, mean, most: Math.max(0, ...values), perMinute, perMillion, grown };
}
