import { runProgram } from './cli/program.ts';
import { endOnBrokenPipe, processTerminal } from './edges/system/terminal.ts';

/** Everything that was opened is closed by now; should something hang all the same, the process still ends. */
const LINGER_MS = 3000;

endOnBrokenPipe();
const code = await runProgram(process.argv.slice(2), processTerminal);
process.exitCode = code;
setTimeout(() => process.exit(code), LINGER_MS).unref();
