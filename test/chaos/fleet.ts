import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { fetchLocalJson } from '../../src/edges/system/local-http.ts';
import { type Child } from '../../src/sandbox/broker/child.ts';
import { freePorts } from '../../src/sandbox/broker/ports.ts';
import { type Run } from '../../src/sandbox/broker/run.ts';
import { type HealthReport } from '../../src/telemetry/ports.ts';
import { type Cramp } from './acts.ts';
import { type BugName } from './bugs/bugs.ts';
import { type LogLine, linesOf, type Jump } from './log-lines.ts';
import { type Freeze, type LifeEnd, type SaidBound } from './sightings.ts';
import { residentBytes, type Vitals, vitalsOf } from './vitals.ts';

const LAUNCHER = fileURLToPath(new URL('../../src/bin.mjs', import.meta.url));
/** More than a connector allows itself (`DRAIN_TIMEOUT_MS`). */
const STOP_LIMIT_MS = 30_000;
/** Beside two sessions: a killed one's partitions are waited for, and the group may join twice. */
const START_LIMIT_MS = 28_000;
const LOOK_EVERY_MS = 50;
const BUG_PRELOAD = new URL('preload/bug.ts', import.meta.url);
const CLOCK_PRELOAD = new URL('preload/wrong-clock.ts', import.meta.url);
/** Node itself needs about 25 files before it opens a connection; a connector at the usual rate has 62 open. */
const FEW_FILES = 44;
const SMALL_HEAP_MB = 64;
/** Between two looks at all that a connector takes up. */
const VITALS_MS = 5000;
/** Updates a second. */
const REPLAY_RATE = 1000;
/** Stands for a number of a connector in the owner of a replay's requests. */
export const REPLAYER = 9;

export interface FleetParts {
  readonly run: Run;
  /** What every connector is started with. */
  readonly env: Readonly<Record<string, string>>;
  /** What one life of a connector is started with beside it. */
  readonly envOf: (number: number, owner: string) => Readonly<Record<string, string>>;
  /** A bug that is put into every connector. */
  readonly bug: BugName | null;
  /** The folder of another version, which every second start is of; null: none is. */
  readonly other: string | null;
  readonly say: (line: string) => void;
  readonly sessionMs: number;
}

interface Life {
  readonly owner: string;
  readonly child: Child;
  readonly opsUrl: string;
  readonly webhookPort: number;
  readonly servicePort: number;
  /** Where it reads by how much its clock is off. */
  readonly clockFile: string;
  isFrozen: boolean;
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
  readonly #jumps: Jump[] = [];
  /** Answers of `/livez` that were not 200. */
  notLive = 0;
  /** The most memory that one of them had. */
  peakBytes = 0;
  /** What each took up, every few seconds. */
  readonly vitals: Vitals[] = [];
  #vitalsMs = -Infinity;
  #turn = 0;
  #replays = 0;

  constructor(parts: FleetParts) {
    this.#parts = parts;
  }

  /** Starts connector `number` unless it runs; resolves when it has joined the group, or has ended. */
  async start(number: number, cramp: Cramp | null = null): Promise<void> {
    while (!this.#lives.has(number)) {
      const life = await this.#begin(number, cramp);
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
    life.isFrozen = true;
    life.child.kill('SIGSTOP');
    await sleep(forMs);
    const toMs = performance.now();
    life.child.kill('SIGCONT');
    life.isFrozen = false;
    this.freezes.push({ owner: life.owner, fromMs, toMs });
  }

  /** Sets the wall clock of connector `number` wrong for a time. */
  async jump(number: number, byMs: number, forMs: number): Promise<void> {
    const life = this.#lives.get(number);
    if (life === undefined) return;
    const off = async (ms: number): Promise<void> => {
      await writeFile(life.clockFile, String(ms));
      life.child.kill('SIGUSR2');
    };
    const jump = { owner: life.owner, byMs, fromMs: performance.now(), toMs: Infinity };
    this.#jumps.push(jump);
    await off(byMs);
    await sleep(forMs);
    await off(0);
    jump.toMs = performance.now();
  }

  /** Sends every status of the topic again, beside whatever runs. Its requests are those of `owner`. */
  async replay(): Promise<{ readonly owner: string; readonly code: number | null }> {
    const { run, env, envOf } = this.#parts;
    this.#replays += 1;
    const owner = `${String(REPLAYER)}.${String(this.#replays)}`;
    const child = await run.start({
      name: `replay ${owner}`,
      command: process.execPath,
      args: [LAUNCHER, 'replay', '--operator', 'chaos', '--rate', String(REPLAY_RATE)],
      cwd: run.folder,
      env: { ...env, ...envOf(1, owner) },
    });
    const { code } = await child.ended;
    if (code !== 0) this.#parts.say(await child.lastLines());
    return { owner, code };
  }

  /** Where a webhook goes next, as a load balancer has it: those that are there in turn; null: nobody is. */
  webhookPort(): number | null {
    const there = [...this.#lives.values()].filter(({ hasJoined, leaving }) => hasJoined && !leaving);
    this.#turn += 1;
    return there[this.#turn % there.length]?.webhookPort ?? null;
  }

  /** Asks each that runs whether it is alive, and looks at what it takes up. */
  async look(): Promise<void> {
    const atMs = performance.now();
    const isDue = atMs - this.#vitalsMs >= VITALS_MS;
    if (isDue) this.#vitalsMs = atMs;
    await Promise.all(
      [...this.#lives.values()].map(async (life) => {
        const { owner, child, opsUrl, servicePort, hasJoined, isFrozen, leaving } = life;
        if (!hasJoined || isFrozen || leaving) return;
        const status = await livezOf(opsUrl);
        if (status !== null && status !== 200) this.notLive += 1;
        this.peakBytes = Math.max(this.peakBytes, await residentBytes(child.pid));
        const vitals = isDue ? await vitalsOf({ owner, pid: child.pid, opsUrl, servicePort, atMs }) : null;
        if (vitals !== null) this.vitals.push(vitals);
      }),
    );
  }

  /** Whether connector `number` has joined, and nothing ends or stops it. */
  isAtWork(number: number): boolean {
    const life = this.#lives.get(number);
    return life !== undefined && life.hasJoined && !life.leaving && !life.isFrozen;
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
    const logs = await Promise.all(
      this.#all.map(async ({ owner, child }) => linesOf({ owner, jumps: this.#jumps }, await child.output())),
    );
    return logs.flat();
  }

  /** Everything that all lives have printed. */
  async output(): Promise<string> {
    return (await Promise.all(this.#all.map(async ({ child }) => await child.output()))).join('\n');
  }

  async #begin(number: number, cramp: Cramp | null): Promise<Life> {
    const { run, env, envOf } = this.#parts;
    const start = (this.#starts.get(number) ?? 0) + 1;
    this.#starts.set(number, start);
    const owner = `${String(number)}.${String(start)}`;
    const [opsPort = 0, webhookPort = 0] = await freePorts(2);
    const clockFile = path.join(run.folder, `clock-${owner}`);
    const ports = { OPS_PORT: String(opsPort), WEBHOOK_PORT: String(webhookPort) };
    const own: Readonly<Record<string, string>> = { ...env, ...ports, ...envOf(number, owner) };
    const child = await run.start({
      name: `connector ${owner}`,
      ...this.#program(this.#launcher(number + start), cramp, clockFile),
      cwd: run.folder,
      env: own,
    });
    const life: Life = {
      owner,
      child,
      opsUrl: `http://127.0.0.1:${String(opsPort)}`,
      webhookPort,
      servicePort: Number(new URL(own['SERVICE_BASE_URL'] ?? '').port),
      clockFile,
      isFrozen: false,
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

  /** Of neighbours, and of one connector's starts, every second one: both versions are there at any time. */
  #launcher(turn: number): string {
    const { other } = this.#parts;
    return other === null || turn % 2 === 1 ? LAUNCHER : path.resolve(other, 'src/bin.mjs');
  }

  #program(
    launcher: string,
    cramp: Cramp | null,
    clockFile: string,
  ): { readonly command: string; readonly args: readonly string[] } {
    const clock = new URL(CLOCK_PRELOAD);
    clock.searchParams.set('file', clockFile);
    const bug = new URL(BUG_PRELOAD);
    bug.searchParams.set('name', this.#parts.bug ?? '');
    const imports = [clock.href, ...(this.#parts.bug === null ? [] : [bug.href])];
    const heap = cramp === 'small_heap' ? [`--max-old-space-size=${String(SMALL_HEAP_MB)}`] : [];
    const args = [...heap, ...imports.flatMap((each) => ['--import', each]), launcher, 'run'];
    if (cramp !== 'few_files') return { command: process.execPath, args };
    // The shell becomes the program: signals reach it.
    const limited = `ulimit -n ${String(FEW_FILES)}; exec "$0" "$@"`;
    return { command: '/bin/sh', args: ['-c', limited, process.execPath, ...args] };
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
    const said = how === 'kill' ? await boundSaidBy(life.opsUrl) : null;
    const atMs = performance.now();
    if (how === 'kill') life.child.kill('SIGKILL');
    const { code } = how === 'kill' ? await life.child.ended : await life.child.end(STOP_LIMIT_MS);
    this.#lives.delete(number);
    this.ends.push({ owner: life.owner, how, atMs, code, said });
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

async function boundSaidBy(opsUrl: string): Promise<SaidBound | null> {
  const askedMs = performance.now();
  const bounds = (await statusOf(opsUrl))?.duplicateBound;
  return bounds === undefined ? null : { askedMs, records: bounds.reduce((sum, { records }) => sum + records, 0) };
}

async function livezOf(opsUrl: string): Promise<number | null> {
  try {
    const answer = await fetch(`${opsUrl}/livez`, { signal: AbortSignal.timeout(2000) });
    await answer.arrayBuffer();
    return answer.status;
  } catch {
    return null;
  }
}
