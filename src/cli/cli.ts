import { type Terminal } from '../edges/system/terminal.ts';

/** What a command needs to work: the process it runs in, and where its exit code goes. */
export interface Cli {
  readonly terminal: Terminal;
  /** Runs the work of a command and keeps its exit code; a `Fault` becomes its message and its code. */
  readonly work: (work: () => Promise<number>) => Promise<void>;
}
