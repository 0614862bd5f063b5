import { expect, test } from 'vitest';
import { runSandbox, type SandboxOptions } from '../../../src/app/sandbox.ts';
import { type Terminal } from '../../../src/edges/system/terminal.ts';
import { isFault } from '../../../src/kernel/fault.ts';

function setUp(change: Partial<SandboxOptions> = {}) {
  const said: string[] = [];
  const complained: string[] = [];
  const ready = Promise.withResolvers<undefined>();
  const listeners = new Set<(signal: string) => void>();
  const terminal: Terminal = {
    env: {},
    isInteractive: false,
    say: (line) => said.push(line),
    complain: (line) => {
      complained.push(line);
      if (line.includes('is ready')) ready.resolve(undefined);
    },
    onStop: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    exit: (code) => {
      throw new Error(`exit ${String(code)}`);
    },
  };
  const options = { terminal, port: 0, kafka: false, webhookUrl: null, speed: 1, allowRemote: false, ...change };
  const stop = (): void => {
    for (const listener of listeners) listener('SIGINT');
  };
  return { options, said, complained, ready: ready.promise, stop, listeners };
}

test('prints what a client needs as environment, and ends with 0 when it is asked to', async () => {
  const { options, said, complained, ready, stop, listeners } = setUp();
  const ending = runSandbox(options);
  await ready;
  expect(said.map((line) => line.slice(0, line.indexOf('=')))).toEqual([
    'SERVICE_BASE_URL',
    'SERVICE_USERNAME',
    'SERVICE_PASSWORD',
    'WEBHOOK_SECRETS',
  ]);
  expect(said[0]).toMatch(/=http:\/\/127\.0\.0\.1:\d+$/u);
  expect(said.every((line) => /^[A-Z_]+=[\w:/.-]+$/u.test(line))).toBe(true);
  const baseUrl = said[0]?.split('=')[1] ?? '';
  expect((await fetch(`${baseUrl}/sandbox/ledger`)).status).toBe(200);
  stop();
  expect(await ending).toBe(0);
  expect(listeners.size).toBe(0);
  expect(complained).toHaveLength(1);
  await expect(fetch(`${baseUrl}/sandbox/ledger`)).rejects.toThrow(TypeError);
});

test('says that nothing protects its control when it listens everywhere', async () => {
  const { options, said, complained, ready, stop } = setUp({ allowRemote: true });
  const ending = runSandbox(options);
  await ready;
  expect(complained.join('\n')).toContain('nothing protects its control');
  expect(said[0]).toMatch(/=http:\/\/127\.0\.0\.1:\d+$/u);
  stop();
  expect(await ending).toBe(0);
});

test('refuses a webhook URL that is none', async () => {
  const error: unknown = await runSandbox(setUp({ webhookUrl: 'ftp://example.com' }).options).catch(
    (reason: unknown) => reason,
  );
  expect(isFault(error, 'USAGE')).toBe(true);
});
