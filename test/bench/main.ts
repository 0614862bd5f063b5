import { writeFile } from 'node:fs/promises';
import { adaptive } from './adaptive.ts';
import { type BenchArguments } from './arguments.ts';
import { ceiling } from './ceiling.ts';
import { type BenchCommand, readCommand } from './command.ts';
import { compare } from './compare.ts';
import { type Comparison } from './compare-figures.ts';
import { publish, publishFile } from './compare-publish.ts';
import { engine } from './engine.ts';
import { ill } from './ill.ts';
import { kills } from './kills.ts';
import { lag } from './lag.ts';
import { metrics } from './metrics.ts';
import { odd } from './odd.ts';
import { replay } from './replay.ts';
import { type BenchResult, type Job, tableLines } from './result.ts';
import { scale } from './scale.ts';
import { webhooks } from './webhooks.ts';

const JOBS: Readonly<Record<BenchArguments['job'], Job>> = {
  ceiling,
  lag,
  engine,
  ill,
  odd,
  webhooks,
  replay,
  scale,
  adaptive,
  metrics,
  kills,
};

const say = (line: string): void => {
  console.log(line);
};

const choice = readCommand(process.argv.slice(2));
if (typeof choice === 'string') {
  console.error(choice);
  process.exitCode = 2;
} else {
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM']) {
    process.once(signal, () => {
      stop.abort();
    });
  }
  const result = await run(choice, { say, signal: stop.signal });
  for (const line of ['', ...tableLines(result), '']) say(line);
  say(result.missed.length === 0 ? 'Every bar is met.' : `Missed: ${result.missed.join('; ')}.`);
  await keep(choice, result);
  process.exitCode = result.missed.length === 0 ? 0 : 1;
}

async function run(command: BenchCommand, world: Parameters<Job>[1]): Promise<BenchResult> {
  switch (command.do) {
    case 'compare':
      return await compare(command.options, world);
    case 'publish':
      return await publishFile(command.file);
    case 'job':
      return await JOBS[command.options.job](command.options, world);
  }
}

/** The file first: what was measured must not be lost with a page. */
async function keep(command: BenchCommand, { figures, missed }: BenchResult): Promise<void> {
  if (command.do === 'publish') return;
  const { options } = command;
  if (options.json !== null)
    await writeFile(options.json, `${JSON.stringify({ options, figures, missed }, null, 2)}\n`);
  if (command.do === 'compare' && command.options.publishes) await publish(figures as Comparison);
}
