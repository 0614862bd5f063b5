import { writeFile } from 'node:fs/promises';
import { type BenchArguments, readArguments } from './arguments.ts';
import { ceiling } from './ceiling.ts';
import { engine } from './engine.ts';
import { ill } from './ill.ts';
import { lag } from './lag.ts';
import { replay } from './replay.ts';
import { type Job, tableLines } from './result.ts';
import { webhooks } from './webhooks.ts';

const JOBS: Readonly<Record<BenchArguments['job'], Job>> = { ceiling, lag, engine, ill, webhooks, replay };

const say = (line: string): void => {
  console.log(line);
};
const options = readArguments(process.argv.slice(2));
if (typeof options === 'string') {
  console.error(options);
  process.exitCode = 2;
} else {
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM']) {
    process.once(signal, () => {
      stop.abort();
    });
  }
  const result = await JOBS[options.job](options, { say, signal: stop.signal });
  for (const line of ['', ...tableLines(result), '']) say(line);
  say(result.missed.length === 0 ? 'Every bar is met.' : `Missed: ${result.missed.join('; ')}.`);
  if (options.json !== null)
    await writeFile(
      options.json,
      `${JSON.stringify({ options, figures: result.figures, missed: result.missed }, null, 2)}\n`,
    );
  process.exitCode = result.missed.length === 0 ? 0 : 1;
}
