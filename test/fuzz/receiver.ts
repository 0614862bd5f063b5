import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const PROGRAM = fileURLToPath(new URL('receiver-process.ts', import.meta.url));
/** For an answer of a process that is busy; what takes longer hangs. */
const ANSWER_LIMIT_MS = 60_000;

export interface ReceiverOptions {
  readonly secrets: readonly string[];
  /** What the receiver takes for now, for ever; milliseconds since 1970. */
  readonly nowMs: number;
  readonly maxBytes: number;
  readonly requestTimeoutMs: number;
  /** As it is run, unless told. */
  readonly maxConnections?: number;
  /** How long the writer takes to acknowledge; 0: one turn of the loop. */
  readonly ackMs: number;
  /** Fills what remembers acknowledged events before it begins, so that the heap can be watched. */
  readonly fillMemory: boolean;
}

export type Order = 'report' | 'close';

export interface Report {
  /** Ids of what was written since the last report, in order. */
  readonly written: readonly string[];
  /** Since the start. */
  readonly results: Readonly<Record<string, number>>;
  readonly statuses: Readonly<Record<string, number>>;
  readonly sockets: number;
  /** After a collection of garbage. */
  readonly heapBytes: number;
  readonly rssBytes: number;
  /** Names of Node's own warnings, and of errors that the receiver tells a person of, since the last report. */
  readonly warnings: readonly string[];
  readonly broken: readonly string[];
}

type Message = { readonly url: string } | { readonly report: Report } | { readonly closed: true };

/** The real receiver in a process of its own, with a writer that counts; never more than a crash can end it. */
export class Receiver {
  readonly url: string;
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess, url: string) {
    this.#child = child;
    this.url = url;
  }

  /** Rejects when it does not start. */
  static async start(options: ReceiverOptions): Promise<Receiver> {
    const child = fork(PROGRAM, [JSON.stringify(options)], {
      execArgv: ['--expose-gc'],
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    const kill = (): void => {
      child.kill('SIGKILL');
    };
    process.once('exit', kill);
    child.once('exit', () => process.off('exit', kill));
    const message = await messageOf(child);
    if (!('url' in message)) throw new Error('the receiver did not say where it listens');
    return new Receiver(child, message.url);
  }

  /** False: it has ended by itself. */
  get isAlive(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  async report(): Promise<Report> {
    const message = await this.#ask('report');
    if (!('report' in message)) throw new Error('the receiver said something else');
    return message.report;
  }

  /** Rejects when it does not end by itself: something is still open. */
  async close(): Promise<void> {
    try {
      await this.#ask('close');
    } finally {
      this.#child.kill('SIGKILL');
    }
  }

  async #ask(order: Order): Promise<Message> {
    if (!this.isAlive || !this.#child.connected) throw new Error('the receiver has ended');
    const answer = messageOf(this.#child);
    this.#child.send(order, () => {});
    return await answer;
  }
}

async function messageOf(child: ChildProcess): Promise<Message> {
  return await new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      end(() => {
        reject(new Error('the receiver gave no answer'));
      });
    }, ANSWER_LIMIT_MS);
    const onMessage = (message: Message): void => {
      end(() => {
        resolve(message);
      });
    };
    const onExit = (code: number | null, signal: string | null): void => {
      end(() => {
        reject(new Error(`the receiver ended: ${signal ?? `exit ${String(code)}`}`));
      });
    };
    const end = (settle: () => void): void => {
      clearTimeout(timer);
      child.off('message', onMessage).off('exit', onExit);
      settle();
    };
    child.once('message', onMessage).once('exit', onExit);
  });
}
