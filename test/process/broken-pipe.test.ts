import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { ROOT } from '../support/connector-process.ts';

/** Nobody listens there: the process runs and waits, and says so. */
const NOWHERE = '127.0.0.1:9';

test('ends with exit code 1 when nobody reads what it prints any more', async () => {
  const child = spawn(process.execPath, [`${ROOT}src/bin.mjs`, 'run'], {
    env: {
      ACCOUNT: 'broken-pipe',
      FLOWS: 'scoring,sync',
      KAFKA_BROKERS: NOWHERE,
      SCHEMA_REGISTRY_URL: `http://${NOWHERE}`,
      SERVICE_BASE_URL: `http://${NOWHERE}`,
      SERVICE_USERNAME: 'u',
      SERVICE_PASSWORD: 'p',
      OPS_PORT: '0',
    },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  try {
    const ended = once(child, 'exit');
    await once(child.stdout, 'data');
    // What it says next meets a closed pipe.
    child.stdout.destroy();
    expect(await ended).toEqual([1, null]);
  } finally {
    child.kill('SIGKILL');
  }
});
