import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { ReleaseStack } from '../../src/lifecycle/release-stack.ts';
import { type BenchArguments, type Keys } from './arguments.ts';
import { fillTopic, hottestShare, keyPlan } from './backlog.ts';
import { ceilingFigures, type CeilingFigures } from './ceiling-of.ts';
import { probeNetwork } from './network-probe.ts';
import { type BenchResult, type Job } from './result.ts';
import { Sink } from './sink.ts';
import { type Measured, setStage } from './stage.ts';
import { Tally } from './tally.ts';

/** One run with one kind of keys. */
export interface CeilingRow extends CeilingFigures {
  readonly keys: Keys;
  readonly hottestShare: number;
  readonly cpuPerThousand: number;
  readonly rssMb: number;
}

const BARS: Readonly<Record<Keys, number>> = { even: 0.97, zipf: 0.95 };
/** Not counted: the first fifth. */
const WARM_UP = 0.25;
/** Beyond what is answered at best: with the last of them only some keys have a backlog. */
const SPARE = 1.3;
/** Keys that are not hot run dry first; they must not while it is measured. */
const SPARE_ZIPF = 1.6;
const FIRST_ANSWER_LIMIT_MS = 30_000;
const LOOK_EVERY_MS = 20;

/** Rate of ordered work against its ceiling, with even keys and with hot ones. */
export const ceiling: Job = async (options, { say, signal }) => {
  const networkMs = await probeNetwork();
  const rows: CeilingRow[] = [];
  for (const keys of options.keys) {
    if (signal.aborted) break;
    rows.push(await measure(keys, { options, networkMs, say, signal }));
  }
  return resultOf(rows);
};

/** The rows as a result: what is below its bar, out of order, overlapping or doubled misses. */
export function resultOf(rows: readonly CeilingRow[]): BenchResult {
  return {
    columns: [
      'keys',
      'rate/s',
      'ceiling/s',
      'share',
      'ms',
      'hottest',
      'CPU s/1000',
      'RSS MB',
      'order',
      'overlap',
      'doubled',
    ],
    rows: rows.map((row) => [
      row.keys,
      row.rate.toFixed(0),
      row.ceiling.toFixed(0),
      row.share.toFixed(3),
      row.latencyMs.toFixed(2),
      row.hottestShare.toFixed(4),
      row.cpuPerThousand.toFixed(4),
      row.rssMb.toFixed(0),
      String(row.disorders),
      String(row.overlaps),
      String(row.doubled),
    ]),
    figures: rows,
    missed: rows.flatMap(({ keys, share, disorders, overlaps, doubled }) => [
      ...(share >= BARS[keys]
        ? []
        : [`${keys} keys: ${share.toFixed(3)} of the ceiling, at least ${String(BARS[keys])}`]),
      ...(disorders + overlaps + doubled === 0 ? [] : [`${keys} keys: order, overlaps and doubled must be 0`]),
    ]),
  };
}

interface Setting {
  readonly options: BenchArguments;
  readonly networkMs: number;
  readonly say: (line: string) => void;
  readonly signal: AbortSignal;
}

async function measure(keys: Keys, { options, networkMs, say, signal }: Setting): Promise<CeilingRow> {
  const { latencyMs, seconds, concurrency } = options;
  const opened = new ReleaseStack();
  try {
    const stage = await setStage({ options, opened, say });
    const plan = keyPlan(keys);
    const runMs = 1000 * seconds * (1 + WARM_UP);
    const spare = keys === 'even' ? SPARE : SPARE_ZIPF;
    const records = options.records > 0 ? options.records : Math.ceil((spare * concurrency * runMs) / latencyMs);
    const keyOfRecord = await fillTopic({ broker: stage.broker, records, keyOf: plan.keyOf, small: false });
    say(`${keys} keys: ${String(records)} records are there.`);
    const sink = await Sink.open(latencyMs);
    opened.push('sink', async () => {
      await sink.close();
    });
    const tally = new Tally(keyOfRecord, plan.keys);
    sink.tally = tally;
    const connector = await stage.connect(sink.port);
    // The hot key's partition may come with a later fetch: before it has come nothing is steady.
    await firstAnswer(() => (keys === 'zipf' ? tally.answeredHot : tally.answered), connector);
    await sleep(1000 * seconds * WARM_UP, undefined, { signal }).catch(() => undefined);
    const [from, fromMs, cpuFrom] = [tally.snapshot(), performance.now(), await connector.cpuSeconds()];
    // It may have come to its end before: then the backlog was too small, and the span is what there was.
    while (performance.now() - fromMs < 1000 * seconds && tally.answered < records / spare && !signal.aborted)
      await sleep(LOOK_EVERY_MS);
    const [to, toMs, cpuTo] = [tally.snapshot(), performance.now(), await connector.cpuSeconds()];
    const memory = await connector.memory();
    await connector.child.end();
    const share = hottestShare(keyOfRecord, plan.keys);
    return {
      keys,
      hottestShare: share,
      ...ceilingFigures({ from, to, fromMs, toMs }, { inFlight: concurrency, hottestShare: share, networkMs }),
      cpuPerThousand: (1000 * (cpuTo - cpuFrom)) / Math.max(1, to.answered - from.answered),
      rssMb: Math.max(0, ...memory.map(({ rssMb }) => rssMb)),
    };
  } finally {
    for (const { what, error } of await opened.release()) say(`${what} could not be closed: ${error}`);
  }
}

/** Waits until the connector is at work. */
export async function firstAnswer(answered: () => number, { child }: Measured): Promise<void> {
  const latestMs = performance.now() + FIRST_ANSWER_LIMIT_MS;
  while (answered() === 0) {
    if (!child.alive || performance.now() > latestMs)
      throw new Error(`the connector scores nothing:\n${await child.lastLines()}`);
    await sleep(LOOK_EVERY_MS);
  }
}
