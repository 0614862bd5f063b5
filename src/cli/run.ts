import { type Command } from 'commander';
import { configHash } from '../app/config-hash.ts';
import { runConnector } from '../app/connector.ts';
import { readMapping } from '../app/mapping.ts';
import { readWebhookCertificate } from '../app/webhook-certificate.ts';
import { systemClock, systemDraw } from '../edges/system/clock.ts';
import { showConfig } from '../config/print.ts';
import { configSource, readConfig } from './config.ts';
import { type Cli } from './cli.ts';

/** `run`: the service itself. */
export function addRun(program: Command, { terminal, work }: Cli): void {
  program
    .command('run')
    .description('run the connector until SIGTERM or SIGINT')
    .option('--flows <list>', 'scoring, sync, reviews: what runs in this process (default: FLOWS, else all)')
    .action(async ({ flows }: { flows?: string }) => {
      await work(async () => {
        const how = flows === undefined ? {} : { flows };
        const config = readConfig(terminal, how);
        const { mapping, warnings } = readMapping(config);
        for (const warning of warnings) terminal.complain(`warning: ${warning}`);
        const certificate = readWebhookCertificate(config);
        return await runConnector({
          config,
          configHash: configHash(showConfig(configSource(terminal, how)), config.mapping),
          mapping,
          certificate,
          terminal,
          clock: systemClock,
          draw: systemDraw,
        });
      });
    });
}
