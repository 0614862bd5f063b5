import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { type Slice } from './metrics-cost.ts';
import { type BenchResult, type Job } from './result.ts';
import { Sink } from './sink.ts';
import { OTHERS_CORE, pinnedCommand, pinTo } from './stage.ts';
import { median, medianInterval } from './statistics.ts';

const ALONE = fileURLToPath(new URL('metrics-process.ts', import.meta.url));
const PATHS = ['plain', 'scores'] as const;
const TITLES: Readonly<Record<Path, string>> = { plain: 'score records off', scores: 'score records on' };
const BAR = 0.03;

type Path = (typeof PATHS)[number];

/** All slices of one path of a record. */
export interface PathSlices {
  readonly path: Path;
  readonly slices: readonly Slice[];
}

/**
 * What metrics cost: payments scored over HTTP, without Kafka, in one process, CPU by turns with all metrics and with
 * none; each slice is compared with its neighbour. The service is in this process, which is not measured.
 */
export const metrics: Job = async ({ seconds, rounds, nodeOptions, pin }, { say, signal }) => {
  const pinned = pin && pinTo(OTHERS_CORE, process.pid);
  if (pin && !pinned) say('There is no taskset, or only one core: nothing is pinned.');
  const sink = await Sink.open(0);
  const found: PathSlices[] = [];
  try {
    for (const path of PATHS) {
      if (signal.aborted) break;
      const service = `http://127.0.0.1:${String(sink.port)}`;
      const args = [...nodeOptions, ALONE, service, String(rounds), String(seconds), path];
      found.push({ path, slices: await alone(pinnedCommand(pinned, args)) });
      say(`${TITLES[path]}: ${String(rounds)} pairs of slices of ${String(seconds)} s.`);
    }
  } finally {
    await sink.close();
  }
  return resultOf(found);
};

/** The middle of all pairs and the bounds between which it lies with a probability of 95 %, and all pairs together. */
export function resultOf(paths: readonly PathSlices[]): BenchResult {
  const compared = paths.map(({ path, slices }) => {
    const more = pairsOf(slices).map(([on, off]) => usPer([on]) / usPer([off]) - 1);
    const [on, off] = [slices.filter(({ isOn }) => isOn), slices.filter(({ isOn }) => !isOn)];
    const { low, high } = medianInterval(more);
    return { path, on: usPer(on), off: usPer(off), pairs: more.length, middle: median(more), low, high };
  });
  return {
    columns: ['', 'CPU µs without', 'with', 'more in all', 'middle of pairs', '95 % of it', 'pairs'],
    rows: compared.map(({ path, on, off, pairs, middle, low, high }) => [
      TITLES[path],
      off.toFixed(2),
      on.toFixed(2),
      percent(on / off - 1),
      percent(middle),
      `${percent(low)} to ${percent(high)}`,
      String(pairs),
    ]),
    figures: { compared, paths },
    missed: compared
      .filter(({ high }) => high > BAR)
      .map(
        ({ path, high }) =>
          `${TITLES[path]}: metrics cost up to ${percent(high)} of the CPU, at most ${String(100 * BAR)} %`,
      ),
  };
}

/** Neighbours, one with metrics and one without; none is in two pairs. */
function pairsOf(slices: readonly Slice[]): readonly (readonly [on: Slice, off: Slice])[] {
  const pairs: (readonly [Slice, Slice])[] = [];
  for (let at = 0; at + 1 < slices.length; at += 2) {
    const [first, second] = slices.slice(at, at + 2);
    if (first === undefined || second === undefined || first.isOn === second.isOn) continue;
    pairs.push(first.isOn ? [first, second] : [second, first]);
  }
  return pairs;
}

function usPer(slices: readonly Slice[]): number {
  const sum = (of: (slice: Slice) => number): number => slices.reduce((all, slice) => all + of(slice), 0);
  return (
    sum(({ cpuUs }) => cpuUs) /
    Math.max(
      1,
      sum(({ records }) => records),
    )
  );
}

function percent(share: number): string {
  return `${(100 * share).toFixed(2)} %`;
}

async function alone({ command, args }: ReturnType<typeof pinnedCommand>): Promise<readonly Slice[]> {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  if (code !== 0) throw new Error(`a process that was measured ended with ${String(code)}`);
  return JSON.parse(output) as readonly Slice[];
}
