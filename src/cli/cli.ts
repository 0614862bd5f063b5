import { type Terminal } from '../edges/system/terminal.ts';

/** The process a command runs in, with the file of options that its command line named. */
export interface CliTerminal extends Terminal {
  /** The value of `--env-file`; undefined: not given. */
  readonly envFile: () => string | undefined;
}

/** What a command needs to work: the process it runs in, and where its exit code goes. */
export interface Cli {
  readonly terminal: CliTerminal;
  /** Runs the work of a command and keeps its exit code; a `Fault` becomes its message and its code. */
  readonly work: (work: () => Promise<number>) => Promise<void>;
}
