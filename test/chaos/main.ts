import { writeFile } from 'node:fs/promises';
import { randomInt } from 'node:crypto';
import { type ChaosArguments, readArguments, readSeriesArguments } from './arguments.ts';
import { type Outcome } from './campaign.ts';
import { runScenario } from './hostile-campaign.ts';
import { reportPage } from './page.ts';
import { reportLines, reportOf } from './report.ts';
import { runSeries } from './run-series.ts';

const say = (line: string): void => {
  console.log(line);
};
const args = process.argv.slice(2);
const options = readSeriesArguments(args) ?? readArguments(args, randomInt(2 ** 31));
if (typeof options === 'string') {
  console.error(options);
  process.exitCode = 2;
} else if ('folder' in options) {
  process.exit((await runSeries(options)) === 0 ? 0 : 1);
} else {
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM']) {
    process.once(signal, () => {
      stop.abort();
    });
  }
  say(`Scenario ${options.scenario}, seed ${String(options.seed)}, session ${String(options.sessionMs)} ms.`);
  const outcome = await runScenario({ ...options, registryUrl: null, say, signal: stop.signal });
  const report = reportOf(options.scenario, outcome);
  for (const line of reportLines(report)) say(line);
  if (options.json !== null) {
    await writeFile(options.json, `${JSON.stringify({ options, ...report }, null, 2)}\n`);
    await writeFile(`${options.json}.log`, logLines(outcome).join('\n'));
  }
  if (options.page !== null) {
    await writeFile(options.page, reportPage(report, outcome, commandOf(options)));
    say(`The page: ${options.page}`);
  }
  // Everything is closed. Left to itself, Node was once seen to turn round and round in the end of its environment.
  process.exit(Object.keys(report.broken).length === 0 ? 0 : 1);
}

/** What is typed to have the same faults again. */
function commandOf(given: ChaosArguments): string {
  const { scenario, minutes, seed, sessionMs, connectors, rate, latencyMs, other } = given;
  const others = other === null ? {} : { other };
  const flags = { scenario, minutes, seed, session: sessionMs, connectors, rate, latency: latencyMs, ...others };
  return `npm run chaos -- ${Object.entries(flags)
    .map(([name, value]) => `--${name} ${String(value)}`)
    .join(' ')}`;
}

/** What the connectors logged, in order of time, and what they said of themselves where they were stuck. */
function logLines({ log, stuck }: Outcome): readonly string[] {
  const inOrder = log.toSorted((a, b) => a.time - b.time);
  return [
    ...inOrder.map(({ owner, fields }) => `${owner} ${JSON.stringify(fields)}`),
    ...[...stuck].map(([owner, report]) => `${owner} ${JSON.stringify(report)}`),
    '',
  ];
}
