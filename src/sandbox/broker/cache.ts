import { mkdir, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, join } from 'node:path';
import { isAlive } from './run.ts';

const MANIFEST = '.contents.json';

/**
 * Where downloads are kept: FRAUD_CONNECTOR_CACHE_DIR, else a folder of XDG_CACHE_HOME, else of ~/.cache. It can be
 * removed at any time when nothing runs.
 */
export function cacheFolder(env: Readonly<Record<string, string | undefined>>): string {
  const own = env['FRAUD_CONNECTOR_CACHE_DIR'];
  if (own !== undefined && own !== '') return own;
  const xdg = env['XDG_CACHE_HOME'];
  // The XDG rules: a relative path is to be ignored.
  const parent = xdg?.startsWith('/') === true ? xdg : join(env['HOME'] ?? homedir(), '.cache');
  return join(parent, 'fraud-screening-connector');
}

/**
 * Folders that are made once and kept. A folder appears under its name only when it is complete, and is believed only
 * while every file is there with its size: an interrupted making, two at once, or a file that somebody removed do no
 * harm.
 */
export class Cache {
  readonly folder: string;

  constructor(folder: string) {
    this.folder = folder;
  }

  /** The folder of that name, or undefined when it is missing or damaged. */
  async find(name: string): Promise<string | undefined> {
    const folder = join(this.folder, name);
    return (await isComplete(folder)) ? folder : undefined;
  }

  /** The folder of that name; `make` fills an empty one first when there is none. */
  async obtain(name: string, make: (empty: string) => Promise<void>): Promise<string> {
    const known = await this.find(name);
    if (known !== undefined) return known;
    await mkdir(this.folder, { recursive: true });
    await this.#sweep();
    const draft = await mkdtemp(join(this.folder, `.draft-${String(process.pid)}-`));
    try {
      await make(draft);
      await writeFile(join(draft, MANIFEST), JSON.stringify(await sizes(draft)));
      return await this.#publish(draft, name);
    } finally {
      await rm(draft, { recursive: true, force: true });
    }
  }

  /** Forgets the folder of that name. */
  async remove(name: string): Promise<void> {
    await rm(join(this.folder, name), { recursive: true, force: true });
  }

  async #publish(draft: string, name: string): Promise<string> {
    const target = join(this.folder, name);
    for (;;) {
      try {
        await rename(draft, target);
        return target;
      } catch (error) {
        // Somebody was quicker: theirs is as good as ours. A damaged one makes room.
        if (await isComplete(target)) return target;
        if (!(await exists(target))) throw error;
        await rename(target, `${draft}-damaged`).catch(() => undefined);
        await rm(`${draft}-damaged`, { recursive: true, force: true });
      }
    }
  }

  /** Removes the drafts of processes that have died. */
  async #sweep(): Promise<void> {
    for (const entry of await readdir(this.folder)) {
      const owner = /^\.draft-(\d+)-/.exec(entry)?.[1];
      if (owner === undefined || isAlive(Number(owner))) continue;
      await rm(join(this.folder, entry), { recursive: true, force: true });
    }
  }
}

async function isComplete(folder: string): Promise<boolean> {
  const text = await readFile(join(folder, MANIFEST), 'utf8').catch(() => undefined);
  if (text === undefined) return false;
  try {
    const expected = Object.entries(JSON.parse(text) as Record<string, number>);
    const actual = await Promise.all(expected.map(async ([name]) => (await stat(join(folder, name))).size));
    return expected.every(([, size], index) => size === actual[index]);
  } catch {
    return false;
  }
}

/** Every file below `folder`, by its path, with its size in bytes. */
export async function sizes(folder: string): Promise<Record<string, number>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const found = await Promise.all(
    entries
      .filter((entry) => entry.isFile() && basename(entry.name) !== MANIFEST)
      .map(async (entry): Promise<[string, number]> => {
        const path = join(entry.parentPath, entry.name);
        // A file may go while it is being counted.
        const size = await stat(path).then(
          (file) => file.size,
          () => 0,
        );
        return [path.slice(folder.length + 1), size];
      }),
  );
  return Object.fromEntries(found);
}

async function exists(path: string): Promise<boolean> {
  return await stat(path).then(
    () => true,
    () => false,
  );
}
