/**
 * Runs the tests of one mutant, in one process: exit code 0 when none of them noticed it.
 *
 * Started by Stryker in a copy of the project where all mutants are in the sources and a variable says which one is
 * active; without it the tests of all sources that have mutants run. The tests run in a thread, so that this one can end the process when
 * a mutant takes memory or time without end: no loop and no array of a mutant can keep it from doing so.
 */
import { readFileSync } from 'node:fs';
import { startVitest } from 'vitest/node';
import { TARGETS } from './targets.ts';

const MOST_MEMORY_BYTES = 1_500_000_000;
/** More than Stryker allows: this only ends what Stryker left behind. */
const MOST_TIME_MS = 120_000;
const LOOK_EVERY_MS = 25;

const startedMs = performance.now();
setInterval(() => {
  if (process.memoryUsage.rss() > MOST_MEMORY_BYTES || performance.now() - startedMs > MOST_TIME_MS)
    process.kill(process.pid, 'SIGKILL');
}, LOOK_EVERY_MS);

/** The tests of the source that holds this mutant; of all sources that hold any when none is named. */
function testsOf(mutant: string | undefined): string[] {
  const active = new RegExp(String.raw`stryMutAct_\w+\("${mutant ?? String.raw`\d+`}"\)`);
  const targets = TARGETS.filter(({ source }) => active.test(readFileSync(source, 'utf8')));
  return [...new Set(targets.flatMap(({ tests }) => tests))];
}

const vitest = await startVitest('test', testsOf(process.env['__STRYKER_ACTIVE_MUTANT__']), {
  config: false,
  watch: false,
  pool: 'threads',
  isolate: false,
  maxWorkers: 1,
  bail: 1,
  reporters: ['dot'],
  include: TARGETS.flatMap(({ tests }) => tests),
  setupFiles: ['test/mutation/seed.ts'],
  testTimeout: 30_000,
});
const passed = vitest.state.getTestModules().every((module) => module.ok());
process.exit(passed && (process.exitCode ?? 0) === 0 ? 0 : 1);
