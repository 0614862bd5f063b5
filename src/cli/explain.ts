import { type Command } from 'commander';
import { runExplain } from '../app/explain-command.ts';
import { readMapping } from '../app/mapping.ts';
import { systemClock, systemDraw } from '../edges/system/clock.ts';
import { ownVersion } from '../edges/system/package-info.ts';
import { readStandardInput } from '../edges/system/standard-input.ts';
import { Fault } from '../kernel/fault.ts';
import { type Cli } from './cli.ts';
import { readConfig } from './config.ts';

/** `explain`: what becomes of a record, without sending it. */
export function addExplain(program: Command, { terminal, work }: Cli): void {
  program
    .command('explain')
    .description('show what becomes of a record on standard input (JSON): mapping, findings, request; sends nothing')
    .requiredOption('--flow <flow>', 'scoring or sync')
    .option('--json', 'one JSON object a record')
    .action(async ({ flow, json }: { flow: string; json?: boolean }) => {
      await work(async () => {
        if (flow !== 'scoring' && flow !== 'sync')
          throw new Fault('USAGE', `--flow: ${JSON.stringify(flow)} is not accepted; give scoring or sync.`);
        const config = readConfig(terminal, { requires: 'MAPPING_' });
        const { mapping, warnings } = readMapping(config);
        for (const warning of warnings) terminal.complain(`warning: ${warning}`);
        const parts = { config, mapping, flow, version: ownVersion(), clock: systemClock, draw: systemDraw } as const;
        return await runExplain(await readStandardInput(), { ...parts, terminal, json: json === true });
      });
    });
}
