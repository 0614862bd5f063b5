import { type Command } from 'commander';
import { runDemo } from '../app/demo/demo.ts';
import { systemClock, systemDraw } from '../edges/system/clock.ts';
import { canDraw, openScreen, wantsColour } from '../edges/system/screen.ts';
import { duration, wholeNumber } from './number.ts';
import { type Cli } from './cli.ts';

const ELSEWHERE_MS = 30_000;

/** `demo`: everything on this machine, with made-up payments. */
export function addDemo(program: Command, { terminal, work }: Cli): void {
  program
    .command('demo')
    .description('show it at work: broker, registry, screening service, made-up shops and the connector')
    .option(
      '--for <time>',
      'how long, for example 30s or 5m (default: until Ctrl-C on a terminal, else 30s)',
      duration('--for'),
    )
    .option('--rate <n>', 'payments a second', wholeNumber('--rate', 1, 5000), 50)
    .option('--json', 'JSON lines on standard output, all else on standard error')
    .action(async (options: { for?: number; rate: number; json?: boolean }) => {
      const json = options.json === true;
      const forMs = options.for ?? (terminal.isInteractive && !json ? null : ELSEWHERE_MS);
      const { rate } = options;
      const node = process.execPath;
      const isLive = !json && canDraw(terminal.env, terminal.isInteractive);
      const live = isLive ? { openScreen, colour: wantsColour(terminal.env) } : null;
      await work(
        async () => await runDemo({ terminal, clock: systemClock, draw: systemDraw, node, forMs, rate, json, live }),
      );
    });
}
