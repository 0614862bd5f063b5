import { expect, test } from 'vitest';
import { runProgram } from '../../../src/cli/program.ts';
import { type Terminal } from '../../../src/edges/system/terminal.ts';

/** Complete, so that nothing else is wrong; of nobody who answers. */
const ENV = {
  KAFKA_BROKERS: '127.0.0.1:1',
  SCHEMA_REGISTRY_URL: 'http://127.0.0.1:1',
  SERVICE_BASE_URL: 'http://127.0.0.1:1',
  SERVICE_USERNAME: 'shop',
  SERVICE_PASSWORD: 'x',
  WEBHOOK_SECRETS: 'whsec-0123456789-0123456789',
};

async function run(argv: readonly string[], env: Readonly<Record<string, string>>): Promise<[number, string]> {
  const lines: string[] = [];
  const terminal: Terminal = {
    env,
    isInteractive: false,
    say: (line) => lines.push(line),
    complain: (line) => lines.push(line),
    onStop: () => () => undefined,
    exit: (code) => {
      throw new Error(`exit ${String(code)}`);
    },
  };
  return [await runProgram(argv, terminal), lines.join('\n')];
}

test.each(
  [
    'run',
    'check',
    'replay --dry-run',
    'dlq list --topic payments.created',
    'dlq show --topic payments.created --offset 0:0',
    'dlq redrive --topic payments.created',
    'topics check',
    'topics create',
    'schemas check',
    'schemas register',
    'config print',
  ].map((command) => [command]),
)('%s ends with 2 where the check of certificates is turned off, and connects to nobody', async (command) => {
  const [code, said] = await run(command.split(' '), { ...ENV, NODE_TLS_REJECT_UNAUTHORIZED: '0' });
  expect(code).toBe(2);
  expect(said).toContain('NODE_TLS_REJECT_UNAUTHORIZED: certificates are always checked here');
});

test('without that nothing is wrong with this configuration', async () => {
  const [code, said] = await run(['config', 'print'], { ...ENV, NODE_TLS_REJECT_UNAUTHORIZED: '1' });
  expect(code).toBe(0);
  expect(said).not.toContain('wrong:');
});
