import { type Command } from 'commander';
import { runSandbox } from '../app/sandbox.ts';
import { wholeNumber } from './number.ts';
import { type Cli } from './cli.ts';

interface SandboxArguments {
  readonly port: number;
  readonly kafka?: boolean;
  readonly webhookUrl?: string;
  readonly speed: number;
  readonly allowRemote?: boolean;
}

/** `sandbox`: the screening service itself, for tests and trials. */
export function addSandbox(program: Command, { terminal, work }: Cli): void {
  program
    .command('sandbox')
    .description('run the screening service itself, for tests and trials; prints how to reach it')
    .option('--port <n>', 'to listen on, 0: any free one', wholeNumber('--port', 0, 65_535), 8090)
    .option('--kafka', 'start a broker and a registry, too')
    .option('--webhook-url <url>', 'where reviews are sent')
    .option('--speed <n>', 'retries of webhooks come this many times sooner', wholeNumber('--speed', 1, 1_000_000), 1)
    .option('--allow-remote', 'listen on every address; there is no protection on its control')
    .action(async ({ port, kafka, webhookUrl, speed, allowRemote }: SandboxArguments) => {
      await work(
        async () =>
          await runSandbox({
            terminal,
            port,
            kafka: kafka === true,
            webhookUrl: webhookUrl ?? null,
            speed,
            allowRemote: allowRemote === true,
          }),
      );
    });
}
