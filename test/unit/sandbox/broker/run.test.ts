import { access, mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { isAlive, ownerOf, Run } from '../../../../src/sandbox/broker/run.ts';

const sleeper = {
  name: 'A sleeper',
  command: process.execPath,
  args: ['-e', 'setInterval(() => {}, 1000)'],
  cwd: tmpdir(),
  env: {},
  graceMs: 5000,
};

test('a closed run starts nothing', async () => {
  const run = await Run.open();
  await run.close();
  await expect(run.start(sleeper)).rejects.toThrow('its run is being ended');
});

test('the end of a run is the end of its programs and its folder', async () => {
  const run = await Run.open();
  const [one, other] = await Promise.all([run.start(sleeper), run.start(sleeper)]);
  await run.close();
  expect([one.alive, other.alive]).toEqual([false, false]);
  await expect(access(run.folder)).rejects.toThrow('ENOENT');
  await run.close();
});

test('what is to be kept is saved after the programs have ended and before the folder goes', async () => {
  const run = await Run.open();
  const child = await run.start(sleeper);
  let seen: unknown;
  await run.close(async () => {
    await access(run.folder);
    seen = child.alive;
  });
  expect(seen).toBe(false);
});

test('the folder goes although saving failed', async () => {
  const run = await Run.open();
  await expect(run.close(async () => await Promise.reject(new Error('disk full')))).rejects.toThrow('disk full');
  await expect(access(run.folder)).rejects.toThrow('ENOENT');
});

test('the folder of a run whose process has died goes at the next one', async () => {
  const left = join(tmpdir(), 'fraud-screening-connector-run-999999999-test');
  await mkdir(left, { recursive: true });
  const run = await Run.open();
  await run.close();
  await expect(access(left)).rejects.toThrow('ENOENT');
});

test.each([
  ['fraud-screening-connector-run-123-abc', 123],
  ['fraud-screening-connector-run-0-abc', undefined],
  ['fraud-screening-connector-run-x', undefined],
  ['something-else-123', undefined],
])('the owner of %s is %s', (name, pid) => {
  expect(ownerOf(name)).toBe(pid);
});

test('this process is alive', () => {
  expect(isAlive(process.pid)).toBe(true);
  expect(isAlive(999_999_999)).toBe(false);
});
