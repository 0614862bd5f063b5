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

/** What waits in memory where a pipe is full because nobody reads it, at most: 8 MiB; lines that come then are lost. */
const MOST_WAITING_BYTES = 8_388_608;

/** Writes a line, unless too many wait already. */
export function writeLine(
  to: Pick<NodeJS.WritableStream, 'write'> & { readonly writableLength: number },
  line: string,
): void {
  if (to.writableLength <= MOST_WAITING_BYTES) to.write(`${line}\n`);
}

/** The process itself. */
export const processTerminal: Terminal = {
  env: process.env,
  isInteractive: process.stdout.isTTY,
  say: (line) => {
    writeLine(process.stdout, line);
  },
  complain: (line) => {
    writeLine(process.stderr, line);
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

/**
 * Calls back once for an error that nothing caught, before those who asked for it earlier: the state of the process is
 * unknown then, so it must end. Node by itself would print the error with its text, which may hold anything.
 */
export function onUncaught(listener: (error: unknown) => void): void {
  process.prependOnceListener('uncaughtException', listener);
  process.prependOnceListener('unhandledRejection', listener);
}
