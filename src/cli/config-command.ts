import { type Command } from 'commander';
import { envTemplate, optionTable, printConfig, showConfig } from '../config/print.ts';
import { writeNewFile } from '../edges/system/files.ts';
import { Fault, nameOf } from '../kernel/fault.ts';
import { type Cli, type CliTerminal } from './cli.ts';
import { configSource } from './config.ts';

/** `config print`, `config docs` and `config init`. */
export function addConfig(program: Command, { terminal, work }: Cli): void {
  const config = program.command('config').description('show the options in effect, or all there are');
  config
    .command('print')
    .description('say of each option what is in effect and where it comes from; exit 2 if something is wrong')
    .option('--json', 'one JSON object')
    .action(async ({ json }: { json?: boolean }) => {
      await work(async () => await Promise.resolve(print(terminal, json === true)));
    });
  config
    .command('docs')
    .description('print the table of all options, in Markdown')
    .action(async () => {
      await work(async () => {
        terminal.say(optionTable().trimEnd());
        return await Promise.resolve(0);
      });
    });
  config
    .command('init')
    .description('write a commented file of all options, to be filled in and given as --env-file')
    .argument('[file]', 'what is there already is left as it is', '.env')
    .action(async (file: string) => {
      await work(async () => await Promise.resolve(init(terminal, file)));
    });
}

/** What could be read goes to standard output even where something is wrong; what is wrong to standard error. */
function print(terminal: CliTerminal, json: boolean): number {
  const config = showConfig(configSource(terminal));
  if (json) terminal.say(JSON.stringify(config, null, 2));
  else {
    for (const line of printConfig(config)) terminal.say(line);
    for (const warning of config.warnings) terminal.complain(`warning: ${warning}`);
    for (const problem of config.problems) terminal.complain(`wrong: ${problem}`);
  }
  return config.problems.length > 0 ? 2 : 0;
}

function init(terminal: CliTerminal, file: string): number {
  let written: boolean;
  try {
    written = writeNewFile(file, envTemplate());
  } catch (error) {
    throw new Fault('USAGE', `${JSON.stringify(file)} cannot be written (${nameOf(error)}).`);
  }
  if (!written) throw new Fault('USAGE', `${JSON.stringify(file)} is there already and is left as it is.`);
  terminal.say(`✓ ${file} is written, readable by you alone: fill in what is required.`);
  terminal.say(`→ npx fraud-connector check --env-file ${file}`);
  return 0;
}
