import { type Command, Option } from 'commander';
import { checkSchemas, LEVELS, registerSchemas } from '../app/schemas-command.ts';
import { systemClock } from '../edges/system/clock.ts';
import { readConfig } from './config.ts';
import { type Cli } from './cli.ts';

/** `schemas check` and `schemas register`. */
export function addSchemas(program: Command, { terminal, work }: Cli): void {
  const schemas = program.command('schemas').description('look at, or register, the Avro schemas of the topics');
  const inputs = ['--inputs', 'also the schemas of the topics that are read; they belong to the producers'] as const;
  schemas
    .command('check')
    .description('say which are registered, and whether ours fit; exit 1 if one is missing or does not')
    .option(...inputs)
    .action(async (options: { inputs?: boolean }) => {
      await work(
        async () =>
          await checkSchemas(
            { config: readConfig(terminal, { requires: 'SCHEMA_REGISTRY_' }), terminal, clock: systemClock },
            options.inputs === true,
          ),
      );
    });
  schemas
    .command('register')
    .description('register those this connector writes with')
    .option(...inputs)
    .addOption(
      new Option(
        '--compatibility <level>',
        'also set the compatibility level of these subjects; FULL_TRANSITIVE keeps old and new readers working',
      ).choices(LEVELS),
    )
    .action(async (options: { inputs?: boolean; compatibility?: string }) => {
      await work(
        async () =>
          await registerSchemas(
            { config: readConfig(terminal, { requires: 'SCHEMA_REGISTRY_' }), terminal, clock: systemClock },
            {
              inputs: options.inputs === true,
              compatibility: LEVELS.find((each) => each === options.compatibility) ?? null,
            },
          ),
      );
    });
}
