import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { Fault } from '../../kernel/fault.ts';

/** A program to start; its standard output and error are appended to `logFile`. */
export interface Program {
  /** What people call it, for messages. */
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly logFile: string;
  /** How long it may take to end when asked to, before it is killed. */
  readonly graceMs?: number;
}

/** Of this process's environment programs get nothing: it holds secrets, and variables that they would obey. */
export const CHILD_ENV: Readonly<Record<string, string>> = { LANG: 'C.UTF-8' };

export interface Ending {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

const TAIL_LINES = 15;
const LOOK_EVERY_MS = 40;
/** Short, because nothing is kept of what programs wrote: three nodes that end together cannot do so in good order. */
const GRACE_MS = 2000;

/**
 * A running program in a process group of its own: a Ctrl-C at the terminal reaches only its parent, which ends it in
 * its own order.
 */
export class Child {
  readonly name: string;
  readonly logFile: string;
  readonly ended: Promise<Ending>;
  readonly #graceMs: number;
  readonly #process: ChildProcess;
  readonly #logStart: number;
  #ending: Ending | undefined;

  private constructor(program: Program, child: ChildProcess, logStart: number) {
    this.name = program.name;
    this.logFile = program.logFile;
    this.#graceMs = program.graceMs ?? GRACE_MS;
    this.#process = child;
    this.#logStart = logStart;
    this.ended = new Promise((resolve) => {
      const end = (ending: Ending): void => {
        this.#ending ??= ending;
        resolve(this.#ending);
      };
      child.once('exit', (code, signal) => {
        end({ code, signal });
      });
      child.once('error', () => {
        end({ code: 127, signal: null });
      });
    });
  }

  /** Starts `program`. A command that cannot be run is a child that has ended with 127, as in a shell. */
  static async start(program: Program): Promise<Child> {
    const logStart = await stat(program.logFile).then(
      (file) => file.size,
      () => 0,
    );
    const log = openSync(program.logFile, 'a');
    try {
      const child = spawn(program.command, program.args, {
        cwd: program.cwd,
        env: program.env,
        stdio: ['ignore', log, log],
        detached: true,
      });
      return new Child(program, child, logStart);
    } finally {
      closeSync(log);
    }
  }

  /** Absent when the command could not be run at all. */
  get pid(): number | undefined {
    return this.#process.pid;
  }

  get alive(): boolean {
    return this.#ending === undefined;
  }

  /** Sends `signal` to the child and what it started; nothing when it has ended. */
  kill(signal: NodeJS.Signals): void {
    const { pid } = this.#process;
    if (!this.alive || pid === undefined) return;
    try {
      process.kill(-pid, signal);
    } catch {
      // Ended a moment ago.
    }
  }

  /** Ends the child: SIGTERM, and SIGKILL when it has not ended within its grace. */
  async end(graceMs: number = this.#graceMs): Promise<Ending> {
    // A stopped process does not see SIGTERM until it is continued.
    this.kill('SIGTERM');
    this.kill('SIGCONT');
    const timer = setTimeout(() => {
      this.kill('SIGKILL');
    }, graceMs);
    try {
      return await this.ended;
    } finally {
      clearTimeout(timer);
    }
  }

  /** What this child has printed, not what an earlier one printed to the same file. */
  async output(): Promise<string> {
    const file = await open(this.logFile, 'r');
    try {
      const { size } = await file.stat();
      const bytes = Buffer.alloc(Math.max(0, size - this.#logStart));
      const { bytesRead } = await file.read(bytes, 0, bytes.length, this.#logStart);
      return bytes.toString('utf8', 0, bytesRead);
    } finally {
      await file.close();
    }
  }

  /** The last lines it printed, for people. */
  async lastLines(): Promise<string> {
    return lastLines(await this.output(), TAIL_LINES);
  }

  /**
   * Resolves when `isReady` says so of what the child printed.
   * @throws Fault `CHILD_FAILED`, with the child's last lines, when it ends before or `limitMs` have passed
   */
  async untilReady(isReady: (output: string) => boolean | Promise<boolean>, limitMs: number): Promise<void> {
    const latest = performance.now() + limitMs;
    for (;;) {
      const { alive } = this;
      if (await isReady(await this.output())) return;
      if (!alive) throw await this.failed('ended before it was ready');
      if (performance.now() > latest) throw await this.failed(`was not ready after ${String(limitMs / 1000)} s`);
      await Promise.race([sleep(LOOK_EVERY_MS), this.ended]);
    }
  }

  /** The fault that says what happened, with the last lines. */
  async failed(what: string): Promise<Fault> {
    return new Fault('CHILD_FAILED', `${this.name} ${what}. The last lines it printed:\n${await this.lastLines()}`);
  }
}

/** The last `count` lines of `text` that are not blank. */
export function lastLines(text: string, count: number): string {
  return text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .slice(-count)
    .join('\n');
}
