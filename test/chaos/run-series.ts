import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, open, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { performance } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';
import { type SeriesArguments } from './arguments.ts';
import { flagsOf, nameOfRun, nextRun, SERIES, type SeriesRun } from './series.ts';
import { type RunReport, summaryLines, summaryOf } from './series-summary.ts';

const MAIN = fileURLToPath(new URL('main.ts', import.meta.url));
const MINUTE_MS = 60_000;
const STOP_FILE = 'stop';

/**
 * Runs the campaigns of the series that have no result in the folder yet, one after the other, each in a process of its
 * own, whatever the one before found; then sums up all that are there. SIGTERM, or SIGINT, ends the run that is under way,
 * which leaves no result; a file `stop` in the folder lets it end by itself. Answers how many runs found something broken.
 */
export async function runSeries({ folder, forMinutes, only }: SeriesArguments): Promise<number> {
  await mkdir(folder, { recursive: true });
  const untilMs = performance.now() + forMinutes * MINUTE_MS;
  const runs = SERIES.filter((run) => only === null || only.has(nameOfRun(run)));
  const stopping = new AbortController();
  let current: ChildProcess | null = null;
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      stopping.abort();
      current?.kill('SIGTERM');
    });
  }
  const isStopped = (): boolean => stopping.signal.aborted || existsSync(path.join(folder, STOP_FILE));
  while (!isStopped()) {
    const leftMinutes = (untilMs - performance.now()) / MINUTE_MS;
    const run = nextRun(runs, { done: await namesDone(folder), leftMinutes });
    if (run === null) break;
    console.log(`${new Date().toISOString()} ${nameOfRun(run)} begins.`);
    await once(folder, run, (child) => {
      current = child;
    });
    // What was cut short says nothing of its promises, and runs again.
    if (stopping.signal.aborted) await rm(resultOf(folder, nameOfRun(run)), { force: true });
  }
  return await sumUp(folder);
}

async function once(folder: string, run: SeriesRun, started: (child: ChildProcess) => void): Promise<void> {
  const name = nameOfRun(run);
  const output = await open(path.join(folder, `${name}.out`), 'w');
  try {
    const files = ['--json', resultOf(folder, name), '--page', path.join(folder, `${name}.html`)];
    const child = spawn(process.execPath, [MAIN, ...flagsOf(run), ...files], {
      stdio: ['ignore', output.fd, output.fd],
      // Ctrl-C on a terminal reaches the series, which passes it on.
      detached: true,
    });
    started(child);
    const code = await new Promise<number | null>((resolve) => {
      child.once('exit', resolve);
    });
    console.log(`${new Date().toISOString()} ${name} has ended with exit code ${String(code)}.`);
    // A run that broke down has no figures: it counts as red, and does not run again by itself.
    if (!existsSync(resultOf(folder, name)))
      await writeFile(resultOf(folder, name), JSON.stringify({ ...NO_REPORT, broken: { brokeDown: 1 } }));
  } finally {
    await output.close();
  }
}

const NO_REPORT = { scenario: 'mixed', figures: {}, kills: [], stuckRounds: [], slopes: [] } as const;

function resultOf(folder: string, name: string): string {
  return path.join(folder, `${name}.json`);
}

async function namesDone(folder: string): Promise<ReadonlySet<string>> {
  const known = new Set(SERIES.map(nameOfRun));
  const names = (await readdir(folder)).filter((file) => file.endsWith('.json')).map((file) => file.slice(0, -5));
  return new Set(names.filter((name) => known.has(name)));
}

async function sumUp(folder: string): Promise<number> {
  const done = await namesDone(folder);
  const reports = new Map<string, RunReport>();
  for (const run of SERIES) {
    const name = nameOfRun(run);
    if (done.has(name)) reports.set(name, JSON.parse(await readFile(resultOf(folder, name), 'utf8')) as RunReport);
  }
  const summary = summaryOf(reports);
  const lines = summaryLines(summary);
  await writeFile(path.join(folder, 'summary.json'), `${JSON.stringify(summary, null, 2)}\n`);
  await writeFile(path.join(folder, 'summary.md'), `${lines.join('\n')}\n`);
  for (const line of lines) console.log(line);
  return summary.total.red;
}
