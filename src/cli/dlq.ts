import { type Command } from 'commander';
import { letterTopicOf } from '../app/dead-letters/letter-topic.ts';
import { listLetters, type LookCommandOptions, rangeOfPlace, showOne } from '../app/dead-letters/look-commands.ts';
import { type RedriveArguments, runRedrive } from '../app/dead-letters/redrive-command.ts';
import { readMapping } from '../app/mapping.ts';
import { type Config } from '../config/config.ts';
import { loadConfig } from '../config/load.ts';
import { systemClock, systemDraw } from '../edges/system/clock.ts';
import { canDraw, wantsColour } from '../edges/system/screen.ts';
import { createStatusLine } from '../edges/system/status-line.ts';
import { systemUser } from '../edges/system/user.ts';
import { Fault } from '../kernel/fault.ts';
import { isLetterCode } from '../kernel/outcome.ts';
import { type Cli, type CliTerminal } from './cli.ts';
import { configSource } from './config.ts';
import { wholeNumber } from './number.ts';

interface Range {
  readonly from?: string;
  readonly to?: string;
}

interface Filter extends Range {
  readonly reason?: string;
  readonly transId?: readonly string[];
  readonly limit?: number;
  readonly json?: true;
}

interface GivenList extends Filter {
  readonly topic: string;
}

interface GivenShow {
  readonly topic: string;
  readonly offset: string;
  readonly json?: true;
}

interface GivenRedrive extends Filter {
  readonly topic: readonly string[];
  readonly offset?: string;
  readonly rate?: number;
  readonly id?: string;
  readonly dryRun?: true;
  readonly operator?: string;
}

const MOST_LETTERS = 1_000_000;
const TOPIC = ['--topic <topic>', 'a dead-letter topic, or the topic that its letters come from'] as const;

const EPILOGUE = `
First see what would be sent; then send one; then the rest:
  fraud-connector dlq redrive --topic payments.authorized --reason status_400 --dry-run
  fraud-connector dlq redrive --topic payments.authorized --reason status_400 --limit 1
  fraud-connector dlq redrive --topic payments.authorized --reason status_400
A letter that was sent is still in its topic: leave out with --from what an earlier redrive has sent.
TIME: 2026-01-31T12:00:00Z, or back from now: -30s, -15m, -24h, -7d; OFFSETS: partition:offset, by comma (0:12,1:40).
docs/dead-letters.md says how to read a letter and what to do about it.`;

/** `dlq list`, `dlq show` and `dlq redrive`. */
export function addDlq(program: Command, { terminal, work }: Cli): void {
  const dlq = program.command('dlq').description('look into a dead-letter topic, or send letters again');
  filtered(
    dlq
      .command('list')
      .description('count letters by reason, with an example of each')
      .requiredOption(...TOPIC),
    'count at most so many letters',
  )
    .option('--json', 'one JSON object')
    .action(async (given: GivenList) => {
      await work(async () => await list(terminal, given));
    });
  dlq
    .command('show')
    .description('show one letter: why it is there, and what it is about; values are masked')
    .requiredOption(...TOPIC)
    .requiredOption('--offset <partition:offset>', 'where the letter is, as `dlq list` says')
    .option('--json', 'one JSON object')
    .action(async (given: GivenShow) => {
      await work(async () => await showOne(lookOptions(terminal, given.json), given));
    });
  filtered(
    dlq
      .command('redrive')
      .description('send letters through their flow again; begin with --dry-run')
      .requiredOption('--topic <topic>', `${TOPIC[1]}; may be given again`, several('--topic')),
    'send the oldest ones only, at most so many',
  )
    .option('--offset <partition:offset>', 'only the letter at this place')
    .option('--rate <n>', 'at most so many letters per second (default: no limit)', wholeNumber('--rate', 1, 100_000))
    .option('--id <name>', 'names the redrive; the same name and options resume it (default: made up)')
    .option('--dry-run', 'count what would be sent, per day and reason; send nothing')
    .option('--json', 'the report as JSON')
    .option('--operator <name>', 'who, for the audit line (default: the name of the system user)')
    .addHelpText('after', EPILOGUE)
    .action(async (given: GivenRedrive) => {
      await work(async () => await redrive(terminal, given));
    });
}

/** The options that choose letters. */
function filtered(command: Command, limit: string): Command {
  return command
    .option('--reason <code>', 'only letters with this dlq.reason')
    .option('--from <start>', 'by when letters were written: earliest, latest, TIME or OFFSETS (default: earliest)')
    .option('--to <end>', 'the same; not included itself (default: latest)')
    .option('--trans-id <id>', 'only letters of this transaction; may be given again', several('--trans-id'))
    .option('--limit <n>', limit, wholeNumber('--limit', 1, MOST_LETTERS));
}

async function list(terminal: CliTerminal, given: GivenList): Promise<number> {
  return await listLetters(lookOptions(terminal, given.json), {
    topic: given.topic,
    ...filterOf(given),
    ...rangeOf(given),
  });
}

async function redrive(terminal: CliTerminal, given: GivenRedrive): Promise<number> {
  const { config: names } = loadConfig(configSource(terminal, { requires: 'KAFKA_' }));
  const topics = given.topic.map((topic) => letterTopicOf(names, topic));
  if (given.offset !== undefined && (given.from !== undefined || given.to !== undefined || topics.length > 1))
    throw new Fault(
      'USAGE',
      '--offset names one letter of one topic: it goes without --from, --to and a second --topic.',
    );
  const range = given.offset === undefined ? rangeOf(given) : rangeOfPlace(given.offset);
  const flows = [...new Set(topics.map(({ flow }) => flow))].join(',');
  const { config } = loadConfig(configSource(terminal, { flows }));
  const args: RedriveArguments = {
    topics,
    ...filterOf(given),
    ...range,
    id: given.id ?? null,
    rate: given.rate ?? null,
    dryRun: given.dryRun === true,
    operator: given.operator ?? systemUser(),
  };
  const bar = canDraw(terminal.env, process.stderr.isTTY)
    ? { line: createStatusLine(process.stderr), colour: wantsColour(terminal.env) }
    : null;
  return await runRedrive({ ...partsOf(terminal, config), bar, json: given.json === true, arguments: args });
}

function lookOptions(terminal: CliTerminal, json: true | undefined): LookCommandOptions {
  const { config } = loadConfig(configSource(terminal, { requires: 'KAFKA_' }));
  return { ...partsOf(terminal, config), json: json === true };
}

function partsOf(terminal: CliTerminal, config: Config): Omit<LookCommandOptions, 'json'> {
  const { mapping, warnings } = readMapping(config);
  for (const warning of warnings) terminal.complain(`warning: ${warning}`);
  return { config, mapping, terminal, clock: systemClock, draw: systemDraw };
}

function rangeOf({ from = 'earliest', to = 'latest' }: Range): { readonly from: string; readonly to: string } {
  return { from, to };
}

function filterOf({ reason, transId, limit }: Filter): Pick<RedriveArguments, 'reason' | 'transIds' | 'limit'> {
  if (reason !== undefined && !isLetterCode(reason))
    throw new Fault('USAGE', `--reason: ${JSON.stringify(reason)} is no reason; docs/codes.md has them all.`);
  return { reason: reason ?? null, transIds: new Set(transId), limit: limit ?? null };
}

function several(option: string): (value: string, before?: readonly string[]) => readonly string[] {
  return (value, before = []) => {
    if (value === '') throw new Fault('USAGE', `${option}: nothing is given.`);
    return [...before, value];
  };
}
