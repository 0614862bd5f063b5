/**
 * Measures how many small changes ("mutants") of the engine's pure modules their tests notice, and fails below the
 * share that `targets.ts` names. Names on the command line choose targets: `npm run test:mutation -- tracker fifo`.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Stryker } from '@stryker-mutator/core';
import { type Equivalent, EQUIVALENTS } from './equivalents.ts';
import { type Target, TARGETS } from './targets.ts';

type Mutant = Awaited<ReturnType<Stryker['runMutationTest']>>[number];

const names = process.argv.slice(2);
const targets = TARGETS.filter(
  ({ source }) => names.length === 0 || names.some((name) => source.endsWith(`/${name}.ts`)),
);
if (targets.length < names.length) throw new Error('One of these names is no target: see test/mutation/targets.ts.');

const used = new Set<Equivalent>();
const sources = new Map(targets.map(({ source }) => [source, readFileSync(source, 'utf8').split('\n')]));
const folder = mkdtempSync(join(tmpdir(), 'mutation-'));
process.on('exit', () => {
  rmSync(folder, { recursive: true, force: true });
});
// Compiled once instead of once a mutant, the test runner starts in half the time.
process.env['NODE_COMPILE_CACHE'] = join(folder, 'compiled');
const stryker = new Stryker({
  mutate: targets.map(({ source }) => source),
  // A process for each mutant: some of them never end or take all memory there is.
  testRunner: 'command',
  commandRunner: { command: `"${process.execPath}" test/mutation/run-tests.ts` },
  concurrency: 2,
  timeoutMS: 5000,
  timeoutFactor: 1,
  tempDirName: folder,
  cleanTempDir: 'always',
  ignorePatterns: ['coverage', 'dist', 'docs'],
  // Its reader of tsconfig.json does not know this compiler; a file that is not there is left alone.
  tsconfigFile: 'does-not-exist.json',
  disableTypeChecks: false,
  reporters: ['progress-append-only'],
  plugins: [],
});

/** Whether a survivor is in the table of changes that change nothing. */
function isEquivalent(source: string, { location, replacement }: Mutant): boolean {
  const line = sources.get(source)?.[location.start.line - 1] ?? '';
  const from = line.slice(location.start.column - 1, location.end.column - 1);
  const known = EQUIVALENTS.find(
    (row) => row.source === source && row.line === line.trim() && row.from === from && row.to === replacement,
  );
  if (known !== undefined) used.add(known);
  return known !== undefined;
}

/** One row of the report; whether enough mutants were noticed. */
function reckon({ source, atLeast }: Target, mutants: readonly Mutant[]): boolean {
  const counted = (status: Mutant['status']): number => mutants.filter((mutant) => mutant.status === status).length;
  const survivors = mutants.filter(({ status }) => status === 'Survived');
  const missed = survivors.filter((mutant) => !isEquivalent(source, mutant));
  for (const { location, mutatorName, replacement = '' } of missed) {
    const place = `${source}:${String(location.start.line)}:${String(location.start.column)}`;
    console.log(`survived: ${place} ${mutatorName}: ${replacement}`);
  }
  const noticed = counted('Killed') + counted('Timeout');
  const score = (100 * noticed) / (noticed + survivors.length);
  const numbers = [
    mutants.length,
    counted('Killed'),
    survivors.length,
    counted('Timeout'),
    survivors.length - missed.length,
  ];
  console.log(`| ${source} | ${numbers.join(' | ')} | ${score.toFixed(1)} % |`);
  // A mutant that is in no column was not tried: then the score says nothing.
  return score >= atLeast && noticed + survivors.length === mutants.length;
}

const mutants = await stryker.runMutationTest();
console.log('| file | mutants | killed | survived | time-outs | of the survivors: equivalent | score |');
for (const target of targets) {
  const own = mutants.filter(({ fileName }) => fileName.endsWith(`/${target.source}`));
  if (!reckon(target, own)) process.exitCode = 1;
}
for (const known of EQUIVALENTS) {
  if (used.has(known) || !sources.has(known.source)) continue;
  console.log(`not a survivor (any more): ${known.source}: ${known.from} to ${known.to}`);
  process.exitCode = 1;
}
