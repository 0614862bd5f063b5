import { runProgram } from '../../src/cli/program.ts';
import { type Terminal } from '../../src/edges/system/terminal.ts';

/** What `fraud-connector <words> --help` prints, and what it complains about where there is no such command. */
export async function helpOf(words: readonly string[]): Promise<string> {
  const said: string[] = [];
  const terminal: Terminal = {
    env: {},
    isInteractive: false,
    say: (line) => said.push(line),
    complain: (line) => said.push(line),
    onStop: () => () => undefined,
    exit: (code) => {
      throw new Error(`exit ${String(code)}`);
    },
  };
  await runProgram([...words, '--help'], terminal);
  return said.join('\n');
}
