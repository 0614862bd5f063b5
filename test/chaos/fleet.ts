import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { fetchLocalJson } from '../../src/edges/system/local-http.ts';
import { type Child } from '../../src/sandbox/broker/child.ts';
import { freePorts } from '../../src/sandbox/broker/ports.ts';
import { type Run } from '../../src/sandbox/broker/run.ts';
import { type HealthReport } from '../../src/telemetry/health.ts';
import { type Freeze, type LifeEnd } from './sightings.ts';

const LAUNCHER = fileURLToPath(new URL('../../src/bin.mjs', import.meta.url));
/** More than a connector allows itself (`DRAIN_TIMEOUT_MS`). */
const STOP_LIMIT_MS = 30_000;
/** Beside two sessions: a killed one's partitions are waited for, and the group may join twice. */
const START_LIMIT_MS = 28_000;
const LOOK_EVERY_MS = 50;

export interface FleetParts {
  readonly run: Run;
  /** What every connector is started with. */
  readonly env: Readonly<Record<string, string>>;
  /** The base URL of the service for one life. */
  readonly urlOf: (owner: string) => string;
  readonly say: (line: string) => void;
  readonly sessionMs: number;
}

/** One line of a connector's log. */
export interface LogLine {
  readonly owner: string;
  readonly event: string;
  /** Milliseconds since 1970. */
  readonly time: number;
  readonly fields: Readonly<Record<string, unknown>>;
}

interface Life {
  readonly owner: string;
  readonly child: Child;
  readonly opsUrl: string;
  /** Set before it is ended, so that its end is no surprise. */
  leaving: boolean;
  /** Whether it was ever seen at work. */
  hasJoined: boolean;
}

/** The connectors of a campaign: real processes, started from their launcher, each start a life with a name of its own. */
export class Fleet {
  readonly #parts: FleetParts;
  readonly #lives = new Map<number, Life>();
  readonly #starts = new Map<number, number>();
  readonly #all: Life[] = [];
  readonly ends: LifeEnd[] = [];
  readonly freezes: Omit<Freeze, 'assignedMs'>[] = [];

  constructor(parts: FleetParts) {
    this.#parts = parts;
  }

  /** Starts connector `number` unless it runs; resolves when it has joined the group, or has ended. */
  async start(number: number): Promise<void> {
    while (!this.#lives.has(number)) {
      const life = await this.#begin(number);
      await this.#joined(life);
      if (life.child.alive) return;
      // Somebody else on this machine was quicker: that is no one's fault.
      if (!(await life.child.output()).includes('"PORT_TAKEN"')) {
        await this.#crashed(life);
        return;
      }
    }
  }

  /** SIGTERM; resolves with the exit code, null where it had to be killed. */
  async stop(number: number): Promise<number | null> {
    return await this.#end(number, 'stop');
  }

  async kill(number: number): Promise<void> {
    await this.#end(number, 'kill');
  }

  async freeze(number: number, forMs: number): Promise<void> {
    const life = this.#lives.get(number);
    if (life === undefined) return;
    const fromMs = performance.now();
    life.child.kill('SIGSTOP');
    await sleep(forMs);
    const toMs = performance.now();
    life.child.kill('SIGCONT');
    this.freezes.push({ owner: life.owner, fromMs, toMs });
  }

  ownerOf(number: number): string | null {
    return this.#lives.get(number)?.owner ?? null;
  }

  /** The connector of a life that runs; null: it has ended. */
  numberOf(owner: string): number | null {
    for (const [number, life] of this.#lives) if (life.owner === owner) return number;
    return null;
  }

  get running(): readonly number[] {
    return [...this.#lives.keys()];
  }

  /** What is not committed yet, over all partitions; null: some partition has no owner that answers, or has two. */
  async lag(partitions: number): Promise<number | null> {
    const reports = await this.statuses();
    const owned = [...reports.values()].flatMap((report) => report?.partitions ?? []);
    if (owned.length !== partitions) return null;
    return owned.reduce((sum, { lag }) => sum + Number(lag), 0);
  }

  /** What every connector that runs says of itself; null: it does not answer. */
  async statuses(): Promise<ReadonlyMap<string, HealthReport | null>> {
    const lives = [...this.#lives.values()];
    const reports = await Promise.all(lives.map(async ({ opsUrl }) => await statusOf(opsUrl)));
    return new Map(lives.map(({ owner }, index) => [owner, reports[index] ?? null]));
  }

  /** What all lives have logged so far. */
  async log(): Promise<readonly LogLine[]> {
    const logs = await Promise.all(this.#all.map(async ({ owner, child }) => linesOf(owner, await child.output())));
    return logs.flat();
  }

  async #begin(number: number): Promise<Life> {
    const { run, env, urlOf } = this.#parts;
    const start = (this.#starts.get(number) ?? 0) + 1;
    this.#starts.set(number, start);
    const owner = `${String(number)}.${String(start)}`;
    const [opsPort = 0] = await freePorts(1);
    const child = await run.start({
      name: `connector ${owner}`,
      command: process.execPath,
      args: [LAUNCHER, 'run'],
      cwd: run.folder,
      env: { ...env, OPS_PORT: String(opsPort), SERVICE_BASE_URL: urlOf(owner) },
    });
    const life: Life = {
      owner,
      child,
      opsUrl: `http://127.0.0.1:${String(opsPort)}`,
      leaving: false,
      hasJoined: false,
    };
    this.#lives.set(number, life);
    this.#all.push(life);
    void child.ended.then(async () => {
      if (this.#lives.get(number) === life) this.#lives.delete(number);
      // Before it has joined, whoever starts it finds out.
      if (life.hasJoined && !life.leaving && !run.isClosing()) await this.#crashed(life);
    });
    return life;
  }

  async #crashed({ owner, child }: Life): Promise<void> {
    const { code, signal } = await child.ended;
    this.ends.push({ owner, how: 'crash', atMs: performance.now(), code });
    this.#parts.say(`${child.name} ended by itself (${signal ?? `exit ${String(code)}`}):\n${await child.lastLines()}`);
  }

  async #end(number: number, how: 'stop' | 'kill'): Promise<number | null> {
    const life = this.#lives.get(number);
    if (life === undefined) return null;
    life.leaving = true;
    const atMs = performance.now();
    if (how === 'kill') life.child.kill('SIGKILL');
    const { code } = how === 'kill' ? await life.child.ended : await life.child.end(STOP_LIMIT_MS);
    this.#lives.delete(number);
    this.ends.push({ owner: life.owner, how, atMs, code });
    return code;
  }

  async #joined(life: Life): Promise<void> {
    const { child, opsUrl, owner } = life;
    const limitMs = START_LIMIT_MS + 2 * this.#parts.sessionMs;
    const latestMs = performance.now() + limitMs;
    while (child.alive) {
      const status = await statusOf(opsUrl);
      life.hasJoined = status?.phase === 'running' && status.partitions.length > 0;
      if (life.hasJoined) return;
      if (performance.now() > latestMs) {
        life.hasJoined = true;
        this.#parts.say(`connector ${owner} has not joined after ${String(limitMs / 1000)} s`);
        return;
      }
      await sleep(LOOK_EVERY_MS);
    }
  }
}

async function statusOf(opsUrl: string): Promise<HealthReport | null> {
  return (await fetchLocalJson(`${opsUrl}/status`)) as HealthReport | null;
}

function linesOf(owner: string, output: string): LogLine[] {
  return output.split('\n').flatMap((line) => {
    if (!line.startsWith('{') || !line.endsWith('}')) return [];
    const fields = JSON.parse(line) as Record<string, unknown>;
    return [{ owner, event: String(fields['event']), time: Number(fields['time']), fields }];
  });
}
