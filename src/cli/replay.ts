import { type Command } from 'commander';
import { readMapping } from '../app/mapping.ts';
import { removeReplay, type ReplayArguments, runReplay } from '../app/replay/command.ts';
import { type Config } from '../config/config.ts';
import { loadConfig } from '../config/load.ts';
import { systemClock, systemDraw } from '../edges/system/clock.ts';
import { canDraw, wantsColour } from '../edges/system/screen.ts';
import { createStatusLine } from '../edges/system/status-line.ts';
import { systemUser } from '../edges/system/user.ts';
import { Fault } from '../kernel/fault.ts';
import { type Cli, type CliTerminal } from './cli.ts';
import { configSource, readConfig } from './config.ts';
import { wholeNumber } from './number.ts';

interface Given {
  readonly flow: string;
  readonly topic?: string;
  readonly from: string;
  readonly to: string;
  readonly everyUpdate?: true;
  readonly force?: true;
  readonly transId: readonly string[];
  readonly rate?: number;
  readonly dryRun?: true;
  readonly ids?: string;
  readonly id?: string;
  readonly report?: string;
  readonly operator?: string;
  readonly remove?: string;
}

const EPILOGUE = `
TIME: 2026-01-31T12:00:00Z, or back from now: -30s, -15m, -24h, -7d.
OFFSETS: partition:offset, by comma (0:12,1:40); partitions that are not named are left out.
Begin with --dry-run. docs/replay.md has the usual cases, one after the other.`;

/** `replay`: the newest status of each transaction in a bounded range, once more. */
export function addReplay(program: Command, { terminal, work }: Cli): void {
  program
    .command('replay')
    .description('send the newest status update of each transaction in a range of the topic once more')
    .option('--flow <flow>', 'sync is the only one that can be replayed', 'sync')
    .option('--topic <topic>', 'where the updates are (default: TOPIC_AUTHORIZED)')
    .option('--from <start>', 'earliest, latest, TIME or OFFSETS', 'earliest')
    .option('--to <end>', 'the same; fixed when the replay begins, and not sent itself', 'latest')
    .option('--trans-id <id>', 'only this transaction; may be given again', collect, [])
    .option('--every-update', 'whole histories, not the newest update alone; needs --force')
    .option('--force', 'go on although updates of a transaction lie in several partitions; allows --every-update')
    .option('--rate <n>', 'at most so many updates per second (default: no limit)', wholeNumber('--rate', 1, 100_000))
    .option('--dry-run', 'count what would be sent, per day and status; send nothing')
    .option('--ids <file>', 'with --dry-run: write the trans_ids that would be sent, one a line')
    .option('--id <name>', 'names the replay; the same name and options resume it (default: made up)')
    .option('--report <file>', 'write the report as JSON, too')
    .option('--operator <name>', 'who, for the audit line (default: the name of the system user)')
    .option('--remove <name>', 'forget a replay, so that its name can be used again; sends nothing')
    .addHelpText('after', EPILOGUE)
    .action(async (given: Given) => {
      await work(async () => await replay(terminal, given));
    });
}

async function replay(terminal: CliTerminal, given: Given): Promise<number> {
  const operator = given.operator ?? systemUser();
  const clock = systemClock;
  if (given.remove !== undefined) {
    const config = readConfig(terminal, { requires: 'KAFKA_' });
    return await removeReplay({ config, terminal, clock, id: given.remove, operator });
  }
  if (given.flow !== 'sync')
    throw new Fault('USAGE', `--flow: ${JSON.stringify(given.flow)} is not accepted; sync is the only flow to replay.`);
  if (given.ids !== undefined && given.dryRun !== true)
    throw new Fault('USAGE', '--ids belongs to --dry-run: the ids of a real replay are in the topic.');
  const loaded = loadConfig(configSource(terminal, { flows: 'sync' }));
  const { config } = loaded;
  const { mapping, warnings } = readMapping(config);
  // That sync runs without scoring is meant so here.
  const told = [...loaded.warnings.filter((warning) => !warning.startsWith('FLOWS:')), ...warnings];
  for (const warning of told) terminal.complain(`warning: ${warning}`);
  const bar = canDraw(terminal.env, process.stderr.isTTY)
    ? { line: createStatusLine(process.stderr), colour: wantsColour(terminal.env) }
    : null;
  const args = argumentsOf(given, config, operator);
  return await runReplay({ config, mapping, terminal, clock, draw: systemDraw, bar, arguments: args });
}

function argumentsOf(given: Given, config: Config, operator: string): ReplayArguments {
  const { topic = config.topics.authorized, from, to, transId, rate, id, report, ids } = given;
  return {
    parameters: { topic, from, to, everyUpdate: given.everyUpdate === true, transIds: transId },
    id: id ?? null,
    force: given.force === true,
    dryRun: given.dryRun === true,
    rate: rate ?? null,
    reportFile: report ?? null,
    idsFile: ids ?? null,
    operator,
  };
}

function collect(value: string, before: readonly string[]): readonly string[] {
  if (value === '') throw new Fault('USAGE', '--trans-id: give an id.');
  return [...before, value];
}
