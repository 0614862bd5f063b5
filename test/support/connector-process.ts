import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { freePorts } from '../../src/sandbox/broker/ports.ts';
import { type FlowReport, type HealthReport } from '../../src/telemetry/ports.ts';
import { eventually } from './eventually.ts';
import { addWitness } from './witnesses.ts';

/** The checkout that is tested. */
export const ROOT: string = fileURLToPath(new URL('../../', import.meta.url));
const LAUNCHER = `${ROOT}src/bin.mjs`;
/**
 * For a process to say its first word: before that Node only loads what it is made of, half a second of a core. Beside
 * twenty others that want one of two cores this was seen to take 34 s, of which the program's own start were 2.
 */
export const FIRST_WORD_LIMIT_MS = 60_000;
/** From there until it is ready. */
const START_LIMIT_MS = 20_000;
/** Of what a process has written, when somebody waited in vain. */
const LAST_LINES = 40;
/** Longer than any wait; a campaign starts hundreds of processes. */
const ENDED_IS_TOLD_MS = 180_000;

export type Environment = Readonly<Record<string, string>>;

export interface LogLine {
  readonly event?: string;
  readonly level?: string;
  readonly [field: string]: unknown;
}

export interface Ending {
  /** Null: a signal ended it. */
  readonly code: number | null;
  readonly signal: string | null;
  /** When, on the clock of `performance.now()`. */
  readonly atMs: number;
}

/** The connector as it is run in production: a process of its own, started from its launcher with nothing but `env`. */
export class ConnectorProcess {
  readonly ended: Promise<Ending>;
  /** Whole lines, as they came. */
  readonly stdout: string[] = [];
  readonly stderr: string[] = [];
  readonly opsUrl: string;
  readonly webhookUrl: string;
  readonly #child: ChildProcess;
  readonly #command: string;
  #ending: Ending | null = null;

  private constructor(child: ChildProcess, command: string, ports: { readonly ops: number; readonly webhook: number }) {
    this.#child = child;
    this.#command = command;
    const silence = addWitness(async (sinceMs) => await this.#testify(sinceMs));
    child.once('exit', () => {
      setTimeout(silence, ENDED_IS_TOLD_MS).unref();
    });
    this.opsUrl = `http://127.0.0.1:${String(ports.ops)}`;
    this.webhookUrl = `http://127.0.0.1:${String(ports.webhook)}/webhooks/fraud`;
    const reading = [
      [child.stdout, this.stdout],
      [child.stderr, this.stderr],
    ].map(async ([stream, lines]) => {
      if (stream === null || !Array.isArray(lines)) return;
      for await (const line of createInterface({ input: stream as NodeJS.ReadableStream })) lines.push(line);
    });
    this.ended = new Promise((resolve) => {
      child.once('exit', (code, signal) => {
        const atMs = performance.now();
        void Promise.all(reading).then(() => {
          this.#ending = { code, signal, atMs };
          resolve(this.#ending);
        });
      });
    });
  }

  /** Starts it and waits for nothing. `args` follow the launcher. */
  static async start(env: Environment, args: readonly string[] = ['run']): Promise<ConnectorProcess> {
    const [ops = 0, webhook = 0] = await freePorts(2);
    const ports = { OPS_PORT: String(ops), WEBHOOK_PORT: String(webhook), WEBHOOK_HOST: '127.0.0.1' };
    const child = spawn(process.execPath, [LAUNCHER, ...args], {
      env: { ...ports, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const kill = (): void => {
      child.kill('SIGKILL');
    };
    process.once('exit', kill);
    child.once('exit', () => process.off('exit', kill));
    return new ConnectorProcess(child, args.join(' '), { ops: Number(env['OPS_PORT'] ?? ops), webhook });
  }

  /** The lines of its log. */
  get log(): readonly LogLine[] {
    return this.stdout.flatMap((line) => (line.startsWith('{') ? [JSON.parse(line) as LogLine] : []));
  }

  /** Everything it has written. */
  get output(): string {
    return [...this.stdout, ...this.stderr].join('\n');
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  get isAlive(): boolean {
    return this.#ending === null;
  }

  said(event: string): readonly LogLine[] {
    return this.log.filter((line) => line.event === event);
  }

  /** The status a path of the operations server answers with; null: it does not answer. */
  async probe(path: string): Promise<number | null> {
    const answer = await this.#get(path);
    await answer?.body?.cancel();
    return answer?.status ?? null;
  }

  async text(path: string): Promise<string> {
    return (await (await this.#get(path))?.text()) ?? '';
  }

  async status(): Promise<HealthReport | null> {
    const answer = await this.#get('/status');
    return answer === null ? null : ((await answer.json()) as HealthReport);
  }

  async flow(name: string): Promise<FlowReport | null> {
    return (await this.status())?.flows.find((flow) => flow.name === name) ?? null;
  }

  /** How many records of a flow have ended so, for example `delivered`. */
  async outcome(flow: string, name: string): Promise<number> {
    return (await this.flow(flow))?.outcomes[name] ?? 0;
  }

  /** Waits until the group has been joined and everything is open. */
  async ready(): Promise<this> {
    await eventually('the first word', () => !this.isAlive || this.stdout.length > 0, FIRST_WORD_LIMIT_MS);
    await eventually(
      'the connector is ready',
      async () => {
        if (!this.isAlive) throw new Error(`the connector has ended:\n${this.output}`);
        const status = await this.status();
        return status?.phase === 'running' && (status.engine === null || status.partitions.length > 0);
      },
      START_LIMIT_MS,
    );
    return this;
  }

  /** Asks it to stop and waits for its end. */
  async stop(): Promise<Ending> {
    this.signal('SIGTERM');
    return await this.ended;
  }

  /** Ends it without a word, wherever it is. */
  async kill(): Promise<Ending> {
    this.signal('SIGKILL');
    return await this.ended;
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** Where it stands, and the end of what it has written; null: it had ended before. */
  async #testify(sinceMs: number): Promise<string | null> {
    const ending = this.#ending;
    if (ending !== null && ending.atMs < sinceMs) return null;
    const how = ending === null ? 'runs' : `has ended: ${JSON.stringify(ending)}`;
    const report = await this.status();
    const standing = report === null ? [] : [JSON.stringify(report)];
    const lines = [this.stdout, this.stderr].flatMap((written) => written.slice(-LAST_LINES));
    return [`fraud-connector ${this.#command} (process ${String(this.#child.pid)}) ${how}`, ...standing, ...lines].join(
      '\n  ',
    );
  }

  async #get(path: string): Promise<Response | null> {
    try {
      return await fetch(`${this.opsUrl}${path}`, { signal: AbortSignal.timeout(2000) });
    } catch {
      return null;
    }
  }
}
