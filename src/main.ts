import { runProgram } from './cli/program.ts';
import { endOnBrokenPipe, onUncaught, processTerminal } from './edges/system/terminal.ts';
import { nameOf } from './kernel/fault.ts';

/** Everything that was opened is closed by now; should something hang all the same, the process still ends. */
const LINGER_MS = 3000;

endOnBrokenPipe();
onUncaught((error) => {
  processTerminal.complain(`INTERNAL: Something was thrown that nothing caught: ${nameOf(error)}.`);
  process.exit(1);
});
const code = await runProgram(process.argv.slice(2), processTerminal);
process.exitCode = code;
setTimeout(() => process.exit(code), LINGER_MS).unref();
