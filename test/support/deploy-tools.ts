import { execFile } from 'node:child_process';
import { constants } from 'node:fs';
import { access, readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { Cache, cacheFolder } from '../../src/sandbox/broker/cache.ts';
import { nameOf } from '../../src/kernel/fault.ts';

/** The Helm that is built where none is installed. */
const HELM_VERSION = '3.22.0';
/** Compiling Helm takes four minutes of one core. */
const BUILD_LIMIT_MS = 20 * 60_000;
const FETCH_LIMIT_MS = 5 * 60_000;
const MANY_BYTES = 64 * 1_048_576;

const execute = promisify(execFile);

/** What a program said. */
export interface Said {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program to its end. Rejects only where it cannot be started at all or runs for too long. */
export async function say(program: string, args: readonly string[], cwd: string): Promise<Said> {
  try {
    const { stdout, stderr } = await execute(program, args, { cwd, timeout: BUILD_LIMIT_MS, maxBuffer: MANY_BYTES });
    return { code: 0, stdout, stderr };
  } catch (error) {
    const { code, stdout, stderr } = error as { code?: unknown; stdout?: string; stderr?: string };
    if (typeof code !== 'number') throw error;
    return { code, stdout: stdout ?? '', stderr: stderr ?? '' };
  }
}

/** Helm: the one on PATH, else one that Go builds and the cache keeps (79 MB). */
export async function findHelm(): Promise<string> {
  const installed = await onPath('helm');
  if (installed !== null) return installed;
  const folder = await cache().obtain(`helm-${HELM_VERSION}`, async (draft) => {
    await fetched(
      `Helm is needed: install it, or Go 1.24 or newer, which builds it once`,
      execute('go', ['install', `helm.sh/helm/v3/cmd/helm@v${HELM_VERSION}`], {
        cwd: draft,
        env: { ...process.env, GOBIN: draft },
        timeout: BUILD_LIMIT_MS,
      }),
    );
  });
  return path.join(folder, 'helm');
}

export interface PrometheusTools {
  readonly prometheus: string;
  readonly promtool: string;
}

/** Prometheus and its promtool: those on PATH, else those of Debian's package, unpacked into the cache without root. */
export async function findPrometheus(): Promise<PrometheusTools> {
  const [prometheus, promtool] = await Promise.all([onPath('prometheus'), onPath('promtool')]);
  if (prometheus !== null && promtool !== null) return { prometheus, promtool };
  const folder = await cache().obtain('prometheus-debian', async (draft) => {
    const why = `Prometheus with promtool is needed: install it, or run on a Debian whose apt-get can download its package`;
    await fetched(why, execute('apt-get', ['download', 'prometheus'], { cwd: draft, timeout: FETCH_LIMIT_MS }));
    const archive = (await readdir(draft)).find((name) => name.endsWith('.deb')) ?? 'prometheus.deb';
    await fetched(why, execute('dpkg-deb', ['-x', archive, '.'], { cwd: draft, timeout: FETCH_LIMIT_MS }));
    await rm(path.join(draft, archive));
  });
  const programs = path.join(folder, 'usr', 'bin');
  return { prometheus: path.join(programs, 'prometheus'), promtool: path.join(programs, 'promtool') };
}

function cache(): Cache {
  return new Cache(cacheFolder(process.env));
}

async function fetched(why: string, fetching: Promise<unknown>): Promise<void> {
  try {
    await fetching;
  } catch (error) {
    throw new Error(`${why} (${nameOf(error)}).`, { cause: error });
  }
}

async function onPath(program: string): Promise<string | null> {
  for (const folder of (process.env['PATH'] ?? '').split(path.delimiter)) {
    const file = path.join(folder, program);
    if (folder !== '' && (await isRunnable(file))) return file;
  }
  return null;
}

async function isRunnable(file: string): Promise<boolean> {
  return await access(file, constants.X_OK).then(
    () => true,
    () => false,
  );
}
