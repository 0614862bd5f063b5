import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Fault } from '../../kernel/fault.ts';
import { Child, type Program } from './child.ts';

const PREFIX = 'fraud-screening-connector-run-';

// In a checkout Node runs the sources as they are; packed, they are compiled.
const GUARD = fileURLToPath(new URL(import.meta.url.endsWith('.ts') ? 'guard.ts' : 'guard.js', import.meta.url));

/**
 * One run: a folder under the system's temporary one, and the programs that were started in it. Whatever happens to this
 * process, a kill -9 included, the programs end and the folder goes: a guard process sees to it.
 */
export class Run {
  readonly folder: string;
  readonly #guard: ChildProcess;
  readonly #guardEnded: Promise<void>;
  readonly #children = new Set<Child>();
  #closing: Promise<void> | undefined;

  private constructor(folder: string, guard: ChildProcess) {
    this.folder = folder;
    this.#guard = guard;
    // A guard that somebody killed must not take this process with it: its pipe breaks at the next word.
    guard.stdin?.on('error', () => undefined);
    this.#guardEnded = new Promise((resolve) => {
      guard.once('exit', () => {
        resolve();
      });
      guard.once('error', () => {
        resolve();
      });
    });
  }

  /** Opens a run, after the left-overs of runs whose process has died were removed. */
  static async open(): Promise<Run> {
    await sweep();
    const folder = await mkdtemp(join(tmpdir(), `${PREFIX}${String(process.pid)}-`));
    const guard = spawn(process.execPath, [GUARD, folder], {
      cwd: tmpdir(),
      env: {},
      stdio: ['pipe', 'ignore', 'ignore'],
      detached: true,
    });
    return new Run(folder, guard);
  }

  /** Starts a program that ends no later than the run. */
  async start(program: Omit<Program, 'logFile'>): Promise<Child> {
    if (this.#closing !== undefined) throw closed(program.name);
    const child = await Child.start({ ...program, logFile: join(this.folder, `${fileName(program.name)}.log`) });
    this.#children.add(child);
    const pid = String(child.pid ?? 0);
    this.#tell(`child ${pid}`);
    void child.ended.then(() => {
      this.#children.delete(child);
      this.#tell(`ended ${pid}`);
    });
    // For the next run, should the guard die as well.
    await writeFile(join(this.folder, `${pid}.pid`), program.name);
    // Closed while it was being started: whoever closes counts the children only once.
    if (this.isClosing()) {
      await child.end(0);
      throw closed(program.name);
    }
    return child;
  }

  isClosing(): boolean {
    return this.#closing !== undefined;
  }

  /**
   * Ends every program, at once, lets `atLast` save what is to be kept of the folder, and removes it. Calling it again
   * waits for the first call.
   */
  async close(atLast?: () => Promise<void>): Promise<void> {
    this.#closing ??= this.#close(atLast);
    await this.#closing;
  }

  async #close(atLast: (() => Promise<void>) | undefined): Promise<void> {
    await Promise.all([...this.#children].map(async (child) => await child.end()));
    try {
      await atLast?.();
    } finally {
      await this.#removeFolder();
    }
  }

  async #removeFolder(): Promise<void> {
    this.#guard.stdin?.end();
    await this.#guardEnded;
    await rm(this.folder, { recursive: true, force: true });
  }

  #tell(line: string): void {
    if (this.#guard.stdin?.writable === true) this.#guard.stdin.write(`${line}\n`);
  }
}

function closed(name: string): Fault {
  return new Fault('CHILD_FAILED', `${name} was not started: its run is being ended.`);
}

function fileName(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9.]+/g, '-');
}

/** Ends programs and removes folders of runs whose process and guard have both died without doing so. */
async function sweep(): Promise<void> {
  const root = tmpdir();
  for (const entry of await readdir(root)) {
    const owner = ownerOf(entry);
    if (owner === undefined || isAlive(owner)) continue;
    const folder = join(root, entry);
    const files = await readdir(folder).catch(() => []);
    for (const file of files.filter((name) => name.endsWith('.pid'))) {
      const pid = Number.parseInt(file, 10);
      // The number may belong to another program by now: only one that names the folder is ours.
      if (pid > 1 && (await commandLine(pid)).includes(folder)) killQuietly(pid);
    }
    await rm(folder, { recursive: true, force: true }).catch(() => undefined);
  }
}

/** The process that opened the run of a folder of this name. */
export function ownerOf(folderName: string): number | undefined {
  if (!folderName.startsWith(PREFIX)) return undefined;
  const pid = Number.parseInt(folderName.slice(PREFIX.length), 10);
  return Number.isSafeInteger(pid) && pid > 0 ? pid : undefined;
}

/** Whether a process of that number runs, whoever owns it. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

function killQuietly(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // Ended a moment ago, or another user's.
  }
}

async function commandLine(pid: number): Promise<string> {
  return await readFile(`/proc/${String(pid)}/cmdline`, 'utf8').catch(() => '');
}
