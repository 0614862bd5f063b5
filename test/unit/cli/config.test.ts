import { expect, test } from 'vitest';
import { type CliTerminal } from '../../../src/cli/cli.ts';
import { readConfig } from '../../../src/cli/config.ts';

/** What is complained of beside a configuration that is read for a command. */
function complaints(how: Parameters<typeof readConfig>[1], env: Readonly<Record<string, string>>): readonly string[] {
  const said: string[] = [];
  const terminal = {
    env: { KAFKA_BROKERS: 'localhost:1', ...env },
    envFile: () => undefined,
    complain: (line: string) => void said.push(line),
  } as unknown as CliTerminal;
  readConfig(terminal, how);
  return said;
}

test('a replay warns where it may end an update otherwise than the connector did, whatever flows run', () => {
  const env = { SYNC_CHARGEBACK_PROTECTION: 'true', SYNC_CARD_METHODS: 'card', FLOWS: 'reviews' };
  const warning = /^warning: SYNC_UNKNOWN_METHOD: .* in a replay it counts as a card/;
  // What `replay` reads its configuration with.
  expect(complaints({ requires: 'KAFKA_' }, env)).toEqual([expect.stringMatching(warning)]);
  expect(complaints({ requires: 'KAFKA_' }, { ...env, SYNC_UNKNOWN_METHOD: 'send' })).toEqual([]);
});
