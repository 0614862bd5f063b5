import { runProgram } from './cli/program.ts';
import { processTerminal } from './edges/system/terminal.ts';

process.exitCode = await runProgram(process.argv.slice(2), processTerminal);
