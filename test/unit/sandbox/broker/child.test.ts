import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { isFault } from '../../../../src/kernel/fault.ts';
import { Child, lastLines } from '../../../../src/sandbox/broker/child.ts';
import { temporaryFolder } from './temporary.ts';

/** A child that runs `script` in Node, and has a short grace. */
async function child(script: string): Promise<Child> {
  const folder = await temporaryFolder();
  return await Child.start({
    name: 'The child',
    command: process.execPath,
    args: ['-e', script],
    cwd: folder,
    env: {},
    logFile: join(folder, 'child.log'),
    graceMs: 100,
  });
}

describe('a child that does not become ready', () => {
  test('fails with its name and the last lines it printed', async () => {
    const failing = await child('console.log("one\\n\\ntwo"); console.error("three"); process.exit(3)');
    const error: unknown = await failing.untilReady(() => false, 20_000).catch((reason: unknown) => reason);
    expect(isFault(error, 'CHILD_FAILED')).toBe(true);
    expect(String(error)).toContain('The child ended before it was ready');
    expect(String(error)).toContain('one\ntwo\nthree');
  });

  test('is not waited for any longer than told', async () => {
    const slow = await child('setInterval(() => {}, 1000)');
    await expect(slow.untilReady(() => false, 0)).rejects.toThrow('was not ready after 0 s');
    await slow.end();
  });

  test('that cannot be run at all has ended like in a shell', async () => {
    const folder = await temporaryFolder();
    const missing = await Child.start({
      name: 'The child',
      command: join(folder, 'no-such-program'),
      args: [],
      cwd: folder,
      env: {},
      logFile: join(folder, 'child.log'),
    });
    expect(await missing.ended).toEqual({ code: 127, signal: null });
    expect(missing.alive).toBe(false);
  });
});

describe('a child that is ended', () => {
  test('is killed when it does not listen', async () => {
    const deaf = await child('process.on("SIGTERM", () => {}); console.log("ready"); setInterval(() => {}, 1000)');
    await deaf.untilReady((output) => output.includes('ready'), 20_000);
    expect(await deaf.end()).toEqual({ code: null, signal: 'SIGKILL' });
  });

  test('ends although it was stopped', async () => {
    const stopped = await child('console.log("ready"); setInterval(() => {}, 1000)');
    await stopped.untilReady((output) => output.includes('ready'), 20_000);
    stopped.kill('SIGSTOP');
    expect(await stopped.end(10_000)).toEqual({ code: null, signal: 'SIGTERM' });
  });
});

test('what an earlier child printed into the same file is not taken for its own', async () => {
  const folder = await temporaryFolder();
  const logFile = join(folder, 'child.log');
  await writeFile(logFile, 'ready of yesterday\n');
  const second = await Child.start({
    name: 'The child',
    command: process.execPath,
    args: ['-e', 'console.log("today")'],
    cwd: folder,
    env: {},
    logFile,
  });
  await second.ended;
  expect(await second.output()).toBe('today\n');
  expect(await readFile(logFile, 'utf8')).toBe('ready of yesterday\ntoday\n');
});

test('the last lines are those that say something', () => {
  expect(lastLines('a\n\nb\nc\n \n', 2)).toBe('b\nc');
});
