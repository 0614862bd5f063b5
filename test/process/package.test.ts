import { execFile, spawn } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { parseEnvFile } from '../../src/config/env-file.ts';
import { type Ending, type Environment, ROOT } from '../support/connector-process.ts';
import { eventually } from '../support/eventually.ts';
import { PaymentWorld, recordsOf, somePayments } from '../support/payment-world.ts';

interface Packed {
  readonly filename: string;
  readonly size: number;
  readonly files: readonly { readonly path: string }[];
}

interface PackageFile {
  readonly name: string;
  readonly version: string;
  readonly dependencies: Readonly<Record<string, string>>;
}

const SOURCES = [
  'package.json',
  '.npmrc',
  'tsconfig.json',
  'tsconfig.build.json',
  'src',
  'avro',
  'docs',
  'deploy',
  'LICENSE',
];
const PAGES = ['README.md', 'CHANGELOG.md', 'SECURITY.md'];
/** What must stay at home, laid where a careless pattern would take it along. */
const PRIVATE = [
  '.env',
  'src/service.key',
  'docs/.env',
  'deploy/.env',
  'test/some.test.ts',
  'coverage/index.html',
  'a.log',
];
const CHART = 'deploy/helm/fraud-screening-connector';
const MEANT = [
  'dist/main.js',
  'src/bin.mjs',
  'LICENSE',
  'SECURITY.md',
  'avro/FraudScore.avsc',
  ...['Chart.yaml', 'values.schema.json', 'templates/_pod.tpl', 'files/alerts.yaml'].map((name) => `${CHART}/${name}`),
];
const MOST_BYTES = 1_500_000;
const SETUP_LIMIT_MS = 60_000;

const packageFile = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')) as PackageFile;
const kafka = inject('kafka');
let folder = '';
let packed: Packed;
let command = '';

async function runTool(name: string, args: readonly string[], cwd: string): Promise<string> {
  return await new Promise((resolve, reject) => {
    execFile(name, [...args], { cwd, encoding: 'utf8' }, (error, stdout, stderr) => {
      if (error === null) resolve(stdout);
      else reject(new Error(`${name} failed:\n${stdout}${stderr}`));
    });
  });
}

/**
 * Packs a copy of the checkout as npm does, and installs it into an empty folder as npm does, but for the packages it
 * depends on: only those that package.json names are linked, and nothing of development is in reach.
 */
beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'package-'));
  const checkout = path.join(folder, 'checkout');
  for (const name of [...SOURCES, ...PAGES])
    cpSync(path.join(ROOT, name), path.join(checkout, name), { recursive: true });
  symlinkSync(path.join(ROOT, 'node_modules'), path.join(checkout, 'node_modules'));
  for (const name of PRIVATE) {
    mkdirSync(path.dirname(path.join(checkout, name)), { recursive: true });
    writeFileSync(path.join(checkout, name), 'SERVICE_PASSWORD=canary\n');
  }
  const args = ['pack', '--json', '--offline', '--no-update-notifier', '--foreground-scripts=false'];
  const said = await runTool('npm', [...args, '--pack-destination', folder], checkout);
  const [first] = JSON.parse(said.slice(said.indexOf('[\n'))) as readonly Packed[];
  if (first === undefined) throw new Error('nothing was packed');
  packed = first;

  const modules = path.join(folder, 'app', 'node_modules');
  const installed = path.join(modules, packageFile.name);
  mkdirSync(path.join(modules, '.bin'), { recursive: true });
  mkdirSync(installed);
  await runTool('tar', ['-xzf', path.join(folder, packed.filename), '-C', installed, '--strip-components=1'], folder);
  for (const name of Object.keys(packageFile.dependencies)) {
    mkdirSync(path.dirname(path.join(modules, name)), { recursive: true });
    symlinkSync(path.join(ROOT, 'node_modules', name), path.join(modules, name));
  }
  command = path.join(modules, '.bin', 'fraud-connector');
  symlinkSync(path.join('..', packageFile.name, 'src', 'bin.mjs'), command);
}, SETUP_LIMIT_MS);

afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

interface Running {
  readonly stdout: string[];
  readonly stderr: string[];
  readonly ended: Promise<Pick<Ending, 'code' | 'signal'>>;
  signal(signal: NodeJS.Signals): void;
}

/** The installed command, under a Node that reads JavaScript only. */
function start(args: readonly string[], env: Environment = {}): Running {
  const child = spawn(process.execPath, ['--no-strip-types', command, ...args], {
    cwd: path.join(folder, 'app'),
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const kill = (): void => {
    child.kill('SIGKILL');
  };
  process.once('exit', kill);
  const [stdout, stderr]: string[][] = [[], []];
  createInterface({ input: child.stdout }).on('line', (line) => stdout?.push(line));
  createInterface({ input: child.stderr }).on('line', (line) => stderr?.push(line));
  return {
    stdout: stdout ?? [],
    stderr: stderr ?? [],
    ended: new Promise((resolve) => {
      child.once('close', (code, signal) => {
        process.off('exit', kill);
        resolve({ code, signal });
      });
    }),
    signal: (signal) => {
      child.kill(signal);
    },
  };
}

describe('the package', () => {
  test('holds the built program, its launcher, schemas, pages, and what they say to install, and nothing else', () => {
    const names = packed.files.map((file) => file.path);
    expect(names).toEqual(expect.arrayContaining(MEANT));
    const meant =
      /^(dist\/.+\.(js|js\.map|d\.ts)|src\/bin\.mjs|avro\/[\w-]+\.(avsc|ts)|docs\/.+\.(md|png|svg)|deploy\/.+\.(yaml|json|tpl|txt|mjs|helmignore)|LICENSE|[A-Z]+\.md|package\.json)$/;
    expect(names.filter((name) => !meant.test(name))).toEqual([]);
    expect(packed.size).toBeLessThan(MOST_BYTES);
  });

  test.for([['--help'], ['config', 'docs'], ['topics', '--help']])('runs `fraud-connector %s`', async (args) => {
    const running = start(args);
    expect(await running.ended).toEqual({ code: 0, signal: null });
    expect(running.stderr).toEqual([]);
    expect(running.stdout.length).toBeGreaterThan(5);
  });

  test('says its version', async () => {
    const running = start(['--version']);
    expect(await running.ended).toEqual({ code: 0, signal: null });
    expect(running.stdout).toEqual([packageFile.version]);
  });

  test('ends `run` with exit 2 where the configuration is wrong', async () => {
    const running = start(['run'], { KAFKA_BROKERS: 'no-port', SERVICE_PASSWORD: 'canary-password' });
    expect(await running.ended).toEqual({ code: 2, signal: null });
    expect(running.stderr.join('\n')).toMatch(/^CONFIG_INVALID: .*\n {2}KAFKA_BROKERS: /);
    expect(running.stderr.join('\n')).not.toContain('canary');
  });

  test('runs the sandbox, which takes a login, and ends it on SIGTERM', async () => {
    const running = start(['sandbox', '--port', '0']);
    await eventually('the sandbox is ready', () => running.stderr.some((line) => line.includes('is ready')));
    const said = parseEnvFile('standard output', running.stdout.join('\n')).values;
    const { SERVICE_BASE_URL: url = '', SERVICE_USERNAME: user = '', SERVICE_PASSWORD: password = '' } = said;
    const authorization = `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
    const login = await fetch(`${url}/api/v2/sessions`, { method: 'POST', headers: { authorization } });
    expect(login.status).toBe(200);
    running.signal('SIGTERM');
    expect(await running.ended).toEqual({ code: 0, signal: null });
  });

  test('runs the connector on a real Kafka, from the first payment to a clean end', async () => {
    const world = await PaymentWorld.open({ ...kafka });
    try {
      const { created, authorized } = recordsOf(somePayments(20));
      await world.send(world.topics.created, ...created);
      await world.send(world.topics.authorized, ...authorized);
      const running = start(['run', '--flows', 'scoring,sync'], { ...world.env, OPS_PORT: '0' });
      await eventually('every payment is scored and linked', () => {
        const { transactions, linked } = world.service.ledger().summary();
        return transactions === created.length && linked === authorized.length;
      });
      running.signal('SIGTERM');
      expect(await running.ended).toEqual({ code: 0, signal: null });
      expect(running.stderr).toEqual([]);
    } finally {
      await world.close();
    }
  });
});
