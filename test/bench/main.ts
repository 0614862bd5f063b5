import { writeFile } from 'node:fs/promises';
import { adaptive } from './adaptive.ts';
import { type BenchArguments } from './arguments.ts';
import { ceiling } from './ceiling.ts';
import { readCommand } from './command.ts';
import { compare } from './compare.ts';
import { engine } from './engine.ts';
import { ill } from './ill.ts';
import { lag } from './lag.ts';
import { metrics } from './metrics.ts';
import { replay } from './replay.ts';
import { type Job, tableLines } from './result.ts';
import { scale } from './scale.ts';
import { webhooks } from './webhooks.ts';

const JOBS: Readonly<Record<BenchArguments['job'], Job>> = {
  ceiling,
  lag,
  engine,
  ill,
  webhooks,
  replay,
  scale,
  adaptive,
  metrics,
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
  const { options } = choice;
  const world = { say, signal: stop.signal };
  const result =
    choice.do === 'compare'
      ? await compare(choice.options, world)
      : await JOBS[choice.options.job](choice.options, world);
  for (const line of ['', ...tableLines(result), '']) say(line);
  say(result.missed.length === 0 ? 'Every bar is met.' : `Missed: ${result.missed.join('; ')}.`);
  if (options.json !== null)
    await writeFile(
      options.json,
      `${JSON.stringify({ options, figures: result.figures, missed: result.missed }, null, 2)}\n`,
    );
  process.exitCode = result.missed.length === 0 ? 0 : 1;
}
