import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { ROOT } from './connector-process.ts';
import { addWitness } from './witnesses.ts';

/** Of what was drawn, when somebody waited in vain. */
const LAST_CHARACTERS = 4000;

/** A command of the project on a pseudo terminal. */
export interface OnTerminal {
  /** All that it has drawn so far. */
  readonly shown: () => string;
  readonly press: (key: string) => void;
  /** Its exit code. */
  readonly ended: Promise<number | null>;
  readonly kill: () => void;
}

/**
 * Starts `fraud-connector <args>` on a pseudo terminal, as `script` makes one; its arguments are in the
 * ways of util-linux and of BSD.
 */
export function onTerminal(args: string, env: Readonly<Record<string, string | undefined>>): OnTerminal {
  const command = `exec '${process.execPath}' '${ROOT}src/bin.mjs' ${args}`;
  const started = spawn(
    'script',
    process.platform === 'linux' ? ['-qec', command, '/dev/null'] : ['-q', '/dev/null', 'sh', '-c', command],
    { env: { PATH: process.env['PATH'], TERM: 'xterm-256color', ...env }, stdio: ['pipe', 'pipe', 'inherit'] },
  );
  let shown = '';
  started.stdout.on('data', (bytes: Buffer) => {
    shown += bytes.toString('utf8');
  });
  const silence = addWitness(
    () => `fraud-connector ${args}, exit ${String(started.exitCode)}: ${JSON.stringify(shown.slice(-LAST_CHARACTERS))}`,
  );
  return {
    shown: () => shown,
    press: (key) => {
      started.stdin.write(key);
    },
    ended: once(started, 'exit').then(([code]) => code as number | null),
    kill: () => {
      silence();
      if (started.exitCode === null) started.kill('SIGKILL');
    },
  };
}
