import { Command, CommanderError } from 'commander';
import { ownVersion } from '../edges/system/package-info.ts';
import { type Terminal } from '../edges/system/terminal.ts';
import { Fault, isFault, nameOf } from '../kernel/fault.ts';
import { type Cli } from './cli.ts';
import { addCheck } from './check.ts';
import { addConfig } from './config-command.ts';
import { addDemo } from './demo.ts';
import { addDlq } from './dlq.ts';
import { addExplain } from './explain.ts';
import { addReplay } from './replay.ts';
import { addRun } from './run.ts';
import { addSandbox } from './sandbox.ts';
import { addSchemas } from './schemas.ts';
import { addTopics } from './topics.ts';

const EPILOGUE = `
All else is configured by environment variables, or by a file of them (--env-file): docs/configuration.md.
Exit codes: 0 done, 1 failed, 2 wrong usage or configuration (docs/codes.md).`;

/** The command line of `fraud-connector`. Answers the exit code: 0 done, 1 failed, 2 wrong usage or configuration. */
export async function runProgram(argv: readonly string[], terminal: Terminal): Promise<number> {
  let exit = 0;
  const program = new Command('fraud-connector');
  const cli: Cli = {
    terminal: { ...terminal, envFile: () => program.opts<{ envFile?: string }>().envFile },
    work: async (work) => {
      exit = await work();
    },
  };
  program
    .description('Joins Kafka payment topics to an HTTP fraud screening service.')
    .version(ownVersion())
    .option('--env-file <file>', 'NAME=value lines, behind the environment; before or after the command')
    .configureHelp({ showGlobalOptions: true })
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
  for (const add of [
    addRun,
    addReplay,
    addDlq,
    addDemo,
    addSandbox,
    addTopics,
    addSchemas,
    addConfig,
    addCheck,
    addExplain,
  ])
    add(program, cli);
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
