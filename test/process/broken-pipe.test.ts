import { execFileSync, spawn, type StdioOptions } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, openSync, readSync, writeSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test } from 'vitest';
import { freePorts } from '../../src/sandbox/broker/ports.ts';
import { ROOT } from '../support/connector-process.ts';
import { eventually } from '../support/eventually.ts';

/** Nobody listens there: the process runs and waits, and says so. */
const NOWHERE = '127.0.0.1:9';

function start(opsPort: number, stdio: StdioOptions) {
  return spawn(process.execPath, [`${ROOT}src/bin.mjs`, 'run'], {
    env: {
      ACCOUNT: 'broken-pipe',
      FLOWS: 'scoring,sync',
      KAFKA_BROKERS: NOWHERE,
      SCHEMA_REGISTRY_URL: `http://${NOWHERE}`,
      SERVICE_BASE_URL: `http://${NOWHERE}`,
      SERVICE_USERNAME: 'u',
      SERVICE_PASSWORD: 'p',
      OPS_PORT: String(opsPort),
    },
    stdio,
  });
}

test('ends with exit code 1 when nobody reads what it prints any more', async () => {
  const child = start(0, ['ignore', 'pipe', 'ignore']);
  try {
    const ended = once(child, 'exit');
    const { stdout } = child;
    if (stdout === null) throw new Error('no pipe');
    await once(stdout, 'data');
    // What it says next meets a closed pipe.
    stdout.destroy();
    expect(await ended).toEqual([1, null]);
  } finally {
    child.kill('SIGKILL');
  }
});

test('works on while the pipe of its output is full, and what it had to say comes when somebody reads again', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'full-pipe-'));
  const fifo = path.join(folder, 'output');
  execFileSync('mkfifo', [fifo]);
  const reader = openSync(fifo, constants.O_RDWR | constants.O_NONBLOCK);
  fill(reader);
  const writer = openSync(fifo, constants.O_WRONLY);
  const [opsPort = 0] = await freePorts(1);
  const child = start(opsPort, ['ignore', writer, 'ignore']);
  try {
    const get = async (where: string): Promise<Response | null> =>
      await fetch(`http://127.0.0.1:${String(opsPort)}${where}`).catch(() => null);
    await eventually('it has found out that Kafka is away', async () =>
      ((await (await get('/status'))?.text()) ?? '').includes('"cause":"kafka"'),
    );
    expect((await get('/livez'))?.status).toBe(200);
    let said = '';
    await eventually('its first lines come', () => {
      said += drain(reader);
      return said.includes('"event":"starting"') && said.includes('"event":"hold_started"');
    });
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    expect(await ended).toEqual([0, null]);
  } finally {
    child.kill('SIGKILL');
    closeSync(writer);
    closeSync(reader);
    await rm(folder, { recursive: true });
  }
});

/** Until it takes no more. */
function fill(pipe: number): void {
  const junk = Buffer.alloc(4096, '.');
  for (;;)
    try {
      writeSync(pipe, junk);
    } catch {
      return;
    }
}

function drain(pipe: number): string {
  const found = Buffer.alloc(65_536);
  try {
    return found.toString('latin1', 0, readSync(pipe, found));
  } catch {
    return '';
  }
}
