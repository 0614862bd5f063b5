import { Command, CommanderError } from 'commander';
import { ownVersion } from '../edges/system/package-info.ts';
import { type Terminal } from '../edges/system/terminal.ts';
import { Fault, isFault, nameOf } from '../kernel/fault.ts';
import { type Cli } from './cli.ts';
import { addDemo } from './demo.ts';
import { addRun } from './run.ts';
import { addSandbox } from './sandbox.ts';
import { addSchemas } from './schemas.ts';
import { addTopics } from './topics.ts';

const EPILOGUE = `
All else is configured by environment variables: docs/configuration.md.
Exit codes: 0 done, 1 failed, 2 wrong usage or configuration (docs/codes.md).`;

/** The command line of `fraud-connector`. Answers the exit code: 0 done, 1 failed, 2 wrong usage or configuration. */
export async function runProgram(argv: readonly string[], terminal: Terminal): Promise<number> {
  let exit = 0;
  const cli: Cli = {
    terminal,
    work: async (work) => {
      exit = await work();
    },
  };
  const program = new Command('fraud-connector')
    .description('Joins Kafka payment topics to an HTTP fraud screening service.')
    .version(ownVersion())
    .exitOverride()
    .configureOutput({
      writeOut: (text) => {
        terminal.say(text.trimEnd());
      },
      writeErr: (text) => {
        terminal.complain(text.trimEnd());
      },
    })
    .showHelpAfterError('(`fraud-connector --help` shows the commands)')
    .addHelpText('after', EPILOGUE);
  for (const add of [addRun, addDemo, addSandbox, addTopics, addSchemas]) add(program, cli);
  try {
    await program.parseAsync([...argv], { from: 'user' });
    return exit;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    const fault = isFault(error) ? error : new Fault('INTERNAL', `Unexpected: ${nameOf(error)}.`, { cause: error });
    terminal.complain(`${fault.code}: ${fault.message}`);
    return fault.exit;
  }
}
