import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const PROGRAM = fileURLToPath(new URL('crowd-process.ts', import.meta.url));

export interface CrowdOptions {
  /** Of the webhook endpoint. */
  readonly url: string;
  readonly sockets: number;
  /** How large a body those declare that never send it. */
  readonly maxBytes: number;
  /** After a cut. */
  readonly comeBackMs: number;
}

export interface CrowdReport {
  /** Connections now. */
  readonly open: number;
  /** Connections made since the start. */
  readonly opened: number;
  /** Of these the server has ended. */
  readonly cut: number;
}

/** A crowd of slow senders in a process of its own: some say nothing, some drip a head or a body, some stay after a refusal, some do not read. */
export class Crowd {
  readonly #child: ChildProcess;

  constructor(options: CrowdOptions) {
    const child = fork(PROGRAM, [JSON.stringify(options)], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
    const kill = (): void => {
      child.kill('SIGKILL');
    };
    process.once('exit', kill);
    child.once('exit', () => process.off('exit', kill));
    this.#child = child;
  }

  async report(): Promise<CrowdReport> {
    const message = once(this.#child, 'message');
    this.#child.send('report');
    return ((await message) as [CrowdReport])[0];
  }

  async end(): Promise<void> {
    const ended = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await ended;
  }
}
