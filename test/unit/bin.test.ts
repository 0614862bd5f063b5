import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

const launcher = fileURLToPath(new URL('../../src/bin.mjs', import.meta.url));
let folder = '';

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'launcher-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

/** A package in `at` below the folder, with the launcher and the given programs, which say their own name. */
function layOut(at: string, ...programs: string[]): string {
  const home = join(folder, at);
  for (const program of ['src/bin.mjs', ...programs]) {
    const path = join(home, program);
    mkdirSync(dirname(path), { recursive: true });
    if (program === 'src/bin.mjs') copyFileSync(launcher, path);
    else writeFileSync(path, `console.log(${JSON.stringify(program)}, process.argv.slice(2).join(' '));\n`);
  }
  writeFileSync(join(home, 'package.json'), '{"type":"module"}');
  return join(home, 'src/bin.mjs');
}

/** Whether a package in `at` below the folder has kept what its program was compiled to. */
function keepsCompiled(at: string): boolean {
  return existsSync(join(folder, at, 'node_modules/.cache/fraud-connector'));
}

function run(node: string, ...args: string[]) {
  const { status, stdout, stderr } = spawnSync(node, args, { encoding: 'utf8', env: {} });
  return { status, stdout: stdout.trim(), stderr };
}

/** A preload that makes this Node say it is another one. */
function claiming(version: string): string {
  const code = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '${version}' } });`;
  return `--import=data:text/javascript,${encodeURIComponent(code)}`;
}

function oldNodesOnPath(): readonly string[] {
  const found = (process.env['PATH'] ?? '').split(delimiter).map((each) => join(each, 'node'));
  return [...new Set(found)].filter((node) => {
    if (!existsSync(node)) return false;
    const major = Number(run(node, '-p', 'process.versions.node.split(".")[0]').stdout);
    return major >= 12 && major < 26;
  });
}

describe('the launcher', () => {
  test('says in one line which Node it found and which it needs, and exits 2', () => {
    const { status, stdout, stderr } = run(process.execPath, claiming('20.20.2'), layOut('p', 'src/main.ts'));
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr).toMatch(/^fraud-connector: Node 20\.20\.2 runs here, 26 or newer is needed; .*npm ci.*npx.*\n$/);
  });

  test('says so on every old Node of this machine, instead of failing on its own syntax', () => {
    for (const node of oldNodesOnPath()) {
      const { status, stderr } = run(node, layOut('p', 'src/main.ts'));
      expect(status).toBe(2);
      expect(stderr.split('\n')).toHaveLength(2);
    }
  });

  test('needs what package.json says is needed', () => {
    const { engines } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
      engines: { node: string };
    };
    expect(readFileSync(launcher, 'utf8')).toContain(`NEEDED_MAJOR = ${/\d+/.exec(engines.node)?.[0] ?? ''};`);
  });

  test('runs the sources in a checkout, built or not, with the arguments it got', () => {
    const built = layOut('built', 'src/main.ts', 'dist/main.js');
    expect(run(process.execPath, built, 'run', '--flows', 'sync').stdout).toBe('src/main.ts run --flows sync');
    expect(run(process.execPath, layOut('fresh', 'src/main.ts')).stdout).toBe('src/main.ts');
  });

  test('runs the built files where there are no sources, and in an installed package', () => {
    expect(run(process.execPath, layOut('image', 'dist/main.js')).stdout).toBe('dist/main.js');
    const installed = layOut('app/node_modules/connector', 'src/main.ts', 'dist/main.js');
    expect(run(process.execPath, installed).stdout).toBe('dist/main.js');
  });

  test('keeps what came of the sources of a checkout, and nothing of a package', () => {
    run(process.execPath, layOut('checkout', 'src/main.ts'));
    run(process.execPath, layOut('image', 'dist/main.js'));
    run(process.execPath, layOut('app/node_modules/connector', 'src/main.ts', 'dist/main.js'));
    expect(['checkout', 'image', 'app/node_modules/connector'].map(keepsCompiled)).toEqual([true, false, false]);
  });

  test('works through the link that npm makes', () => {
    const link = join(folder, 'fraud-connector');
    symlinkSync(layOut('p', 'src/main.ts'), link);
    expect(run(process.execPath, link).stdout).toBe('src/main.ts');
  });
});
