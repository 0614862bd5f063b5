import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { copyFile, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { isFault } from '../../kernel/fault.ts';
import { type Cache } from './cache.ts';
import { type Child } from './child.ts';
import { type Jdk } from './jdk.ts';
import { saysPortTaken } from './ports.ts';
import { type Run } from './run.ts';

const FILE = 'classes.jsa';
const SUM = 'classes.sha256';
/** Writing the archive takes seconds, on a slow machine many. */
const WRITING_LIMIT_MS = 25_000;
/** What a Java that was asked to end (SIGTERM) and did answers with. */
const ENDED_ON_REQUEST = 143;

export interface ArchiveSettings {
  readonly cache: Cache;
  readonly run: Run;
  readonly jdk: Jdk;
  /** What starts from it, for example `kafka-4.3.1`. */
  readonly program: string;
  /** The folder with its jars. */
  readonly jars: string;
}

/** How a program is started with regard to the archive. */
export interface Start {
  /** Options for Java. */
  readonly options: readonly string[];
  /** How long its end may take; absent: as long as any. */
  readonly graceMs?: number;
}

/**
 * The archive of a program's loaded classes, which halves its start. States: `trusted` (in the cache, and what was put
 * there), `wanted` (there is none), `recording` (a program writes one when it ends), `given up` (a start with it
 * failed). Moves: wanted → recording at the first start; trusted → given up at a failed start.
 */
export class Archive {
  readonly #settings: ArchiveSettings;
  readonly #name: string;
  #state: 'trusted' | 'wanted' | 'recording' | 'given up';
  #recorder: Child | undefined;

  private constructor(settings: ArchiveSettings, name: string, state: 'trusted' | 'wanted') {
    this.#settings = settings;
    this.#name = name;
    this.#state = state;
  }

  /** Looks for the archive of this very Java and these very jars. */
  static async find(settings: ArchiveSettings): Promise<Archive> {
    const { cache, jdk, jars, program } = settings;
    const { mtimeMs } = await stat(jars);
    const facts = [jdk.home, jdk.version, jars, mtimeMs].join('\n');
    const name = `${program}-classes-${createHash('sha256').update(facts).digest('hex').slice(0, 12)}`;
    const folder = await cache.find(name);
    if (folder !== undefined && (await isWhatWasKept(folder))) return new Archive(settings, name, 'trusted');
    await cache.remove(name);
    return new Archive(settings, name, 'wanted');
  }

  /** Runs `start`, and once more without the archive if it may be the archive's fault that it failed. */
  async starting(start: (how: Start) => Promise<Child>): Promise<Child> {
    const { run, cache } = this.#settings;
    const usedIt = this.#state === 'trusted';
    try {
      return await this.#startOnce(start);
    } catch (error) {
      const mayBeIt = usedIt && isFault(error, 'CHILD_FAILED') && !saysPortTaken(error.message) && !run.isClosing();
      if (!mayBeIt) throw error;
      this.#state = 'given up';
      await cache.remove(this.#name);
      return await this.#startOnce(start);
    }
  }

  /** Puts what was recorded into the cache, after the program has ended as it should; nothing otherwise. */
  async keep(): Promise<void> {
    const { cache, run } = this.#settings;
    const recorded = join(run.folder, this.#name);
    if (this.#recorder === undefined || this.#recorder.alive) return;
    const { code } = await this.#recorder.ended;
    if (code !== ENDED_ON_REQUEST || (await stat(recorded).catch(() => undefined)) === undefined) return;
    await cache.obtain(this.#name, async (draft) => {
      await copyFile(recorded, join(draft, FILE));
      await writeFile(join(draft, SUM), await sumOf(join(draft, FILE)));
    });
  }

  async #startOnce(start: (how: Start) => Promise<Child>): Promise<Child> {
    const { cache, run } = this.#settings;
    if (this.#state === 'trusted') {
      return await start({ options: [`-XX:SharedArchiveFile=${join(cache.folder, this.#name, FILE)}`] });
    }
    if (this.#state !== 'wanted') return await start({ options: [] });
    this.#state = 'recording';
    const options = [`-XX:ArchiveClassesAtExit=${join(run.folder, this.#name)}`];
    this.#recorder = await start({ options, graceMs: WRITING_LIMIT_MS });
    return this.#recorder;
  }
}

async function isWhatWasKept(folder: string): Promise<boolean> {
  const [kept, actual] = await Promise.all([
    readFile(join(folder, SUM), 'utf8').catch(() => undefined),
    sumOf(join(folder, FILE)).catch(() => undefined),
  ]);
  return kept !== undefined && kept === actual;
}

async function sumOf(file: string): Promise<string> {
  const sum = createHash('sha256');
  await pipeline(createReadStream(file, { highWaterMark: 1 << 20 }), sum);
  return sum.digest('hex');
}
