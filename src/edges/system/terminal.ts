/** What a command may use of the process it runs in. */
export interface Terminal {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly isInteractive: boolean;
  /** One line to standard output. */
  say(line: string): void;
  /** One line to standard error. */
  complain(line: string): void;
  /** Calls back for every SIGINT and SIGTERM until the answer is called. */
  onStop(listener: (signal: string) => void): () => void;
  /** Ends the process at once. */
  exit(code: number): never;
}

/** The process itself. */
export const processTerminal: Terminal = {
  env: process.env,
  isInteractive: process.stdout.isTTY,
  say: (line) => {
    process.stdout.write(`${line}\n`);
  },
  complain: (line) => {
    process.stderr.write(`${line}\n`);
  },
  onStop: (listener) => {
    const signals = ['SIGINT', 'SIGTERM'] as const;
    for (const signal of signals) process.on(signal, listener);
    return () => {
      for (const signal of signals) process.off(signal, listener);
    };
  },
  exit: (code) => process.exit(code),
};

/** Ends the process, failed, when nobody reads its output any more (`… | head`): a broken pipe is no defect of ours. */
export function endOnBrokenPipe(): void {
  for (const stream of [process.stdout, process.stderr])
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EPIPE') process.exit(1);
      throw error;
    });
}

/** Calls back once for an error that nothing caught: the state of the process is unknown then, so it must end. */
export function onUncaught(listener: (error: unknown) => void): void {
  process.once('uncaughtException', listener);
  process.once('unhandledRejection', listener);
}
