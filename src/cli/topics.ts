import { type Command } from 'commander';
import { checkTopics, makeTopics } from '../app/topics-command.ts';
import { systemClock } from '../edges/system/clock.ts';
import { readConfig } from './config.ts';
import { wholeNumber } from './number.ts';
import { type Cli } from './cli.ts';

/** `topics check` and `topics create`. */
export function addTopics(program: Command, { terminal, work }: Cli): void {
  const topics = program.command('topics').description('look at, or create, the topics that the configured flows need');
  topics
    .command('check')
    .description('say which of them exist, and with how many partitions; exit 1 if one is missing')
    .action(async () => {
      await work(
        async () =>
          await checkTopics({ config: readConfig(terminal, { requires: 'KAFKA_' }), terminal, clock: systemClock }),
      );
    });
  topics
    .command('create')
    .description('create those that are missing')
    .option('--partitions <n>', 'of each new topic', wholeNumber('--partitions', 1, 10_000), 12)
    .option(
      '--replication <n>',
      'copies of each new topic (default: 3, or the number of brokers if fewer)',
      wholeNumber('--replication', 1, 100),
    )
    .action(async ({ partitions, replication }: { partitions: number; replication?: number }) => {
      await work(
        async () =>
          await makeTopics(
            { config: readConfig(terminal, { requires: 'KAFKA_' }), terminal, clock: systemClock },
            { partitions, replication: replication ?? null },
          ),
      );
    });
}
