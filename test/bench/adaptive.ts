import { setTimeout as sleep } from 'node:timers/promises';
import { ReleaseStack } from '../../src/lifecycle/release-stack.ts';
import { type BenchArguments } from './arguments.ts';
import { fillTopic, keyPlan } from './backlog.ts';
import { firstAnswer } from './ceiling.ts';
import { probeNetwork } from './network-probe.ts';
import { type BenchResult, type Job } from './result.ts';
import { Sink } from './sink.ts';
import { setStage, type Stage } from './stage.ts';
import { Tally } from './tally.ts';

const LIMITS = ['fixed', 'adaptive'] as const;
type Limit = (typeof LIMITS)[number];

/** What the service takes at once, as a share of what the connector may send at once, and for how many times `--seconds`. */
const PHASES: readonly { readonly share: number; readonly times: number }[] = [
  { share: 1, times: 1 },
  { share: 1 / 4, times: 2 },
  { share: 1, times: 1 },
  { share: 1 / 16, times: 2 },
  { share: 1 / 2, times: 1 },
];
const SPARE = 1.3;
/** A capacity that has just changed has to be found first. */
const LEAST_SHARE = 0.9;

/** One phase with one kind of limit. */
export interface AdaptiveRow {
  readonly limit: Limit;
  /** Requests at once that the service takes; the rest is answered with 429. */
  readonly capacity: number;
  /** Answers a second ÷ what the capacity allows, over the whole phase. */
  readonly share: number;
  /** The same over its second half. */
  readonly shareFound: number;
  /** Answered with 429, a second, in the second half. */
  readonly refused: number;
  readonly disorders: number;
  readonly overlaps: number;
  readonly doubled: number;
}

/** A service whose capacity changes, met with a fixed limit and with one that is found out. */
export const adaptive: Job = async (options, { say, signal }) => {
  const opened = new ReleaseStack();
  try {
    const stage = await setStage({ options, opened, say });
    const phases = PHASES.reduce((sum, { share, times }) => sum + share * times, 0);
    const records = Math.ceil((SPARE * phases * options.seconds * 1000 * options.concurrency) / options.latencyMs);
    const plan = keyPlan('even');
    const keyOfRecord = await fillTopic({ broker: stage.broker, records, keyOf: plan.keyOf, small: false });
    const rows: AdaptiveRow[] = [];
    for (const limit of LIMITS) {
      if (signal.aborted) break;
      const tally = new Tally(keyOfRecord, plan.keys);
      rows.push(...(await measure(limit, { options, stage, tally, signal })));
      say(`${limit}: measured.`);
    }
    return resultOf(rows);
  } finally {
    for (const { what, error } of await opened.release()) say(`${what} could not be closed: ${error}`);
  }
};

interface Setting {
  readonly options: BenchArguments;
  readonly stage: Stage;
  readonly tally: Tally;
  readonly signal: AbortSignal;
}

async function measure(limit: Limit, { options, stage, tally, signal }: Setting): Promise<readonly AdaptiveRow[]> {
  const { concurrency, latencyMs, seconds } = options;
  const answerMs = latencyMs + (await probeNetwork());
  const sink = await Sink.open(latencyMs);
  sink.tally = tally;
  const rows: AdaptiveRow[] = [];
  try {
    const connector = await stage.connect(sink.port, undefined, { SCORING_LIMIT: limit });
    await firstAnswer(() => tally.answered, connector);
    for (const { share, times } of PHASES) {
      if (signal.aborted) break;
      const capacity = Math.max(1, Math.round(concurrency * share));
      sink.capacity = capacity;
      const possible = (times * seconds * 1000 * capacity) / answerMs;
      const began = tally.answered;
      await sleep(500 * times * seconds, undefined, { signal }).catch(() => undefined);
      const [half, refused] = [tally.answered, sink.refused];
      await sleep(500 * times * seconds, undefined, { signal }).catch(() => undefined);
      const { answered, disorders, overlaps, doubled } = tally.snapshot();
      rows.push({
        limit,
        capacity,
        share: (answered - began) / possible,
        shareFound: (answered - half) / (possible / 2),
        refused: (sink.refused - refused) / ((times * seconds) / 2),
        disorders,
        overlaps,
        doubled,
      });
    }
    await connector.child.end();
  } finally {
    await sink.close();
  }
  return rows;
}

/** The rows as a result: an adaptive limit that does not find the capacity misses, and whatever breaks order. */
export function resultOf(rows: readonly AdaptiveRow[]): BenchResult {
  return {
    columns: ['limit', 'capacity', 'share', 'share, 2nd half', '429/s, 2nd half', 'order', 'overlap', 'doubled'],
    rows: rows.map((row) => [
      row.limit,
      String(row.capacity),
      row.share.toFixed(2),
      row.shareFound.toFixed(2),
      row.refused.toFixed(1),
      String(row.disorders),
      String(row.overlaps),
      String(row.doubled),
    ]),
    figures: rows,
    missed: rows.flatMap(({ limit, capacity, shareFound, disorders, overlaps, doubled }) => [
      ...(limit === 'fixed' || shareFound >= LEAST_SHARE
        ? []
        : [`${shareFound.toFixed(2)} of a capacity of ${String(capacity)}, at least ${String(LEAST_SHARE)}`]),
      ...(disorders + overlaps + doubled === 0 ? [] : [`${limit}: order, overlaps and doubled must be 0`]),
    ]),
  };
}
