import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { type EngineFigures } from './engine-alone.ts';
import { type BenchResult, type Job } from './result.ts';

const ALONE = fileURLToPath(new URL('engine-process.ts', import.meta.url));
const PARTITIONS = [1, 12, 1000] as const;
const KEYS = [10, 10_000, 1_000_000] as const;
const BAR_US = 4;

/** The engine without Kafka and service; each figure comes from a process of its own. */
export const engine: Job = async ({ records, nodeOptions }, { say, signal }) => {
  const found: EngineFigures[] = [];
  for (const partitions of PARTITIONS) {
    for (const keys of KEYS) {
      if (signal.aborted) break;
      found.push(await alone([...nodeOptions, ALONE, String(partitions), String(keys), String(records)], signal));
      say(`${String(partitions)} partitions, ${String(keys)} keys: done.`);
    }
  }
  return resultOf(found);
};

/** The figures as a table of partitions by keys. */
export function resultOf(figures: readonly EngineFigures[]): BenchResult {
  const cell = (partitions: number, keys: number): string =>
    figures.find((each) => each.partitions === partitions && each.keys === keys)?.usPerRecord.toFixed(2) ?? '-';
  return {
    columns: ['µs per record', ...KEYS.map((keys) => `${String(keys)} keys`)],
    rows: PARTITIONS.map((partitions) =>
      [`${String(partitions)} partitions`].concat(KEYS.map((keys) => cell(partitions, keys))),
    ),
    figures,
    missed: figures
      .filter(({ usPerRecord }) => usPerRecord > BAR_US)
      .map(
        ({ partitions, keys, usPerRecord }) =>
          `${String(partitions)} partitions, ${String(keys)} keys: ${usPerRecord.toFixed(1)} µs, at most ${String(BAR_US)}`,
      ),
  };
}

async function alone(args: readonly string[], signal: AbortSignal): Promise<EngineFigures> {
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'], signal });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  if (code !== 0) throw new Error(`the engine alone ended with ${String(code)}`);
  return JSON.parse(output) as EngineFigures;
}
