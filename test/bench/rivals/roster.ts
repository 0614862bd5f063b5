import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Cache, cacheFolder } from '../../../src/sandbox/broker/cache.ts';
import { findJdk, findMaven } from '../../../src/sandbox/broker/jdk.ts';
import { type CompareJob } from '../compare-jobs.ts';

/** How a program is started. */
export interface Command {
  readonly program: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

export const RIVALS = [
  'connector',
  'bare-loop',
  'parallel-consumer',
  'each-message',
  'each-batch',
  'aiokafka',
  'connector-scores',
  'connector-sync',
  'joined-bytes',
] as const;
export type Rival = (typeof RIVALS)[number];

export interface RivalNotes {
  /** As people know it. */
  readonly title: string;
  /** Whether it promises order per key. */
  readonly ordered: boolean;
  /** Whether it is the connector itself, with its own options. */
  readonly ours: boolean;
}

export const NOTES: Readonly<Record<Rival, RivalNotes>> = {
  connector: { title: 'fraud-screening-connector', ordered: true, ours: true },
  'connector-scores': { title: '… with score records', ordered: true, ours: true },
  'connector-sync': { title: '… with status updates', ordered: true, ours: true },
  'joined-bytes': { title: 'bytes joined (the floor)', ordered: true, ours: false },
  'bare-loop': { title: 'bare loop (the floor)', ordered: true, ours: false },
  'parallel-consumer': { title: 'Parallel Consumer 0.5.3.3, KEY', ordered: true, ours: false },
  'each-message': { title: 'kafkajs eachMessage', ordered: true, ours: false },
  'each-batch': { title: 'kafkajs eachBatch + p-limit', ordered: false, ours: false },
  aiokafka: { title: 'aiokafka + aiohttp', ordered: false, ours: false },
};

const here = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
const LAUNCHER = here('../../../src/bin.mjs');
const INSTALL_LIMIT_MS = 300_000;

async function ofNode(file: string): Promise<Command> {
  return await Promise.resolve({ program: process.execPath, args: [here(file)] });
}

async function ofConnector(flow: CompareJob['flow']): Promise<Command> {
  return await Promise.resolve({ program: process.execPath, args: [LAUNCHER, 'run', '--flows', flow] });
}

/** How each is started; what has to be installed is installed first, once, into the cache. Rejects with what is missing. */
export const PREPARE: Readonly<Record<Rival, () => Promise<Command>>> = {
  connector: async () => await ofConnector('scoring'),
  'connector-scores': async () => await ofConnector('scoring'),
  'connector-sync': async () => await ofConnector('sync'),
  'joined-bytes': async () => await ofNode('joined-bytes.ts'),
  'bare-loop': async () => await ofNode('bare-loop.ts'),
  'each-message': async () => await ofNode('each-message.ts'),
  'each-batch': async () => await ofNode('each-batch.ts'),
  'parallel-consumer': async () => {
    const [jdk, maven] = await Promise.all([findJdk(process.env), findMaven(process.env)]);
    if (jdk === undefined) throw new Error('Parallel Consumer needs Java');
    const libraries = await kept('parallel-consumer', here('parallel-consumer/pom.xml'), async (folder) => {
      if (maven === undefined) throw new Error('Parallel Consumer needs Maven (mvn)');
      const project = mkdtempSync(join(tmpdir(), 'bench-rival-'));
      try {
        copyFileSync(here('parallel-consumer/pom.xml'), join(project, 'pom.xml'));
        const goal = ['-B', '-q', 'dependency:copy-dependencies', `-Dlibraries=${folder}`];
        await install(maven, goal, project);
      } finally {
        rmSync(project, { recursive: true, force: true });
      }
    });
    return { program: jdk.java, args: ['-cp', join(libraries, '*'), here('parallel-consumer/Rival.java')] };
  },
  aiokafka: async () => {
    const requirements = here('aiokafka/requirements.txt');
    const packages = await kept('aiokafka', requirements, async (folder) => {
      const work = mkdtempSync(join(tmpdir(), 'bench-rival-'));
      try {
        await install('python3', ['-m', 'venv', 'venv'], work);
        const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--no-compile'];
        await install(join(work, 'venv/bin/python'), [...pip, '--target', folder, '-r', requirements], work);
      } finally {
        rmSync(work, { recursive: true, force: true });
      }
    });
    const env = { PYTHONPATH: packages, PYTHONDONTWRITEBYTECODE: '1' };
    return { program: 'python3', args: [here('aiokafka/rival.py')], env };
  },
};

/** A folder of the cache that is made anew whenever the file that says what is in it changes. */
async function kept(name: string, file: string, make: (folder: string) => Promise<void>): Promise<string> {
  const version = createHash('sha256').update(readFileSync(file)).digest('hex').slice(0, 12);
  return await new Cache(cacheFolder(process.env)).obtain(`rival-${name}-${version}`, make);
}

async function install(program: string, args: readonly string[], cwd: string): Promise<void> {
  await promisify(execFile)(program, args, { cwd, timeout: INSTALL_LIMIT_MS, maxBuffer: 64 * 1024 * 1024 });
}
