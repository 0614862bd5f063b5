import { type Command } from 'commander';
import { runDoctor, tell } from '../app/doctor/doctor.ts';
import { wrong } from '../app/doctor/finding.ts';
import { readMapping } from '../app/mapping.ts';
import { readWebhookCertificate } from '../app/webhook-certificate.ts';
import { loadConfig } from '../config/load.ts';
import { systemClock } from '../edges/system/clock.ts';
import { isFault } from '../kernel/fault.ts';
import { type Cli, type CliTerminal } from './cli.ts';
import { configSource } from './config.ts';

/** `check`: the doctor. */
export function addCheck(program: Command, { terminal, work }: Cli): void {
  program
    .command('check')
    .description('look at everything `run` needs, say what is wrong and what to do; writes and scores nothing')
    .option('--flows <list>', 'scoring, sync, reviews: what would run (default: FLOWS, else all)')
    .option('--json', 'one JSON object')
    .action(async ({ flows, json }: { flows?: string; json?: boolean }) => {
      await work(async () => await check(terminal, flows, json === true));
    });
}

async function check(terminal: CliTerminal, flows: string | undefined, json: boolean): Promise<number> {
  try {
    const { config, warnings } = loadConfig(configSource(terminal, flows === undefined ? {} : { flows }));
    const mapping = readMapping(config);
    const certificate = readWebhookCertificate(config);
    const all = [...warnings, ...mapping.warnings];
    const envFile = terminal.envFile() ?? null;
    return await runDoctor({ config, warnings: all, certificate, terminal, clock: systemClock, json, envFile });
  } catch (error) {
    if (!isFault(error, 'CONFIG_INVALID')) throw error;
    const [head = '', ...problems] = error.message.split('\n').map((line) => line.trim());
    const found = problems.length === 0 ? [head] : problems;
    tell(
      found.map((problem) => wrong('configuration', problem, 'docs/configuration.md')),
      { terminal, json },
    );
    return error.exit;
  }
}
