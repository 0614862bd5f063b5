import { spawnSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { pageProblems } from './dependencies-page.ts';
import { importProblems, type Uses } from './imports.ts';
import { ALLOWED, type Bom, EXCEPTIONS, licenceProblems } from './licences.ts';
import { lockProblems, scriptProblems, versionProblems } from './lockfile.ts';
import { type Lock, type Manifest } from './manifest.ts';

/** Checks what this project takes from others; reaches for no network. Exit code 1, and a line for each problem, if something is wrong. */

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/** `node` fetches the version of Node that everything is run with. */
const MAY_RUN_SCRIPTS = ['node'];
const USES: Uses = {
  tools: [
    '@stryker-mutator/core',
    '@types/node',
    '@vitest/coverage-v8',
    'node',
    'oxfmt',
    'oxlint',
    'oxlint-tsgolint',
    'typescript',
  ],
  // `sandbox --kafka` and `demo` start containers with it where Docker is, and say so where it is not installed.
  optional: ['testcontainers'],
};

function read(path: string): string {
  return readFileSync(`${ROOT}${path}`, 'utf8');
}

/** npm's own bill of materials of what is installed for running. */
function bomOf(): Bom {
  const npm = process.env['npm_execpath'];
  const [command, first] = npm === undefined ? ['npm', []] : [process.execPath, [npm]];
  const args = [...first, 'sbom', '--sbom-format', 'cyclonedx', '--omit', 'dev'];
  const { status, stdout, stderr } = spawnSync(command, args, {
    cwd: ROOT,
    encoding: 'utf8',
    maxBuffer: 64 * 1_048_576,
  });
  if (status !== 0) throw new Error(`npm sbom ended with ${String(status)}: ${stderr}`);
  return JSON.parse(stdout) as Bom;
}

const manifest = JSON.parse(read('package.json')) as Manifest;
const lock = JSON.parse(read('package-lock.json')) as Lock;
const files = globSync(['src/**/*.ts', 'test/**/*.ts', 'avro/*.ts', '*.config.ts'], { cwd: ROOT })
  .filter((path) => !path.startsWith('test/readers/') && !path.includes('node_modules'))
  .map((path) => ({ path, text: read(path) }));
const problems = [
  ...versionProblems(manifest),
  ...lockProblems(lock, manifest),
  ...scriptProblems(lock, manifest, MAY_RUN_SCRIPTS),
  ...licenceProblems(bomOf(), ALLOWED, EXCEPTIONS),
  ...pageProblems(read('docs/decisions/dependencies.md'), manifest),
  ...importProblems(files, manifest, USES),
];
for (const problem of problems) console.error(problem);
const packages = String(Object.keys(lock.packages).length - 1);
console.log(
  problems.length === 0
    ? `The supply chain is as it should be: ${packages} packages.`
    : `${String(problems.length)} problems of the supply chain.`,
);
process.exitCode = problems.length === 0 ? 0 : 1;
