import { open, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { Fault } from '../../../../src/kernel/fault.ts';
import { Archive, type ArchiveSettings } from '../../../../src/sandbox/broker/archive.ts';
import { Cache } from '../../../../src/sandbox/broker/cache.ts';
import { type Child } from '../../../../src/sandbox/broker/child.ts';
import { Run } from '../../../../src/sandbox/broker/run.ts';
import { temporaryFolder } from './temporary.ts';

const JDK = { java: '/j/bin/java', home: '/j', major: 25, version: '25.0.1' };

async function settings(): Promise<ArchiveSettings> {
  const run = await Run.open();
  onTestFinished(async () => {
    await run.close();
  });
  return { cache: new Cache(await temporaryFolder()), run, jdk: JDK, program: 'kafka', jars: await temporaryFolder() };
}

/** Starts a program that ends as a Java does; returns the options it was given. */
async function startOnce(archive: Archive, { run }: ArchiveSettings, exit = 143): Promise<readonly string[]> {
  let given: readonly string[] = [];
  await archive.starting(async ({ options }) => {
    given = options;
    return await exited(run, exit);
  });
  return given;
}

async function exited(run: Run, code: number): Promise<Child> {
  const args = ['-e', `process.exit(${String(code)})`];
  const child = await run.start({ name: 'Java', command: process.execPath, args, cwd: run.folder, env: {} });
  await child.ended;
  return child;
}

/** An archive that was recorded and kept; the file it lies in. */
async function kept(of: ArchiveSettings): Promise<string> {
  const archive = await Archive.find(of);
  const [option = ''] = await startOnce(archive, of);
  await writeFile(option.replace('-XX:ArchiveClassesAtExit=', ''), 'classes');
  await archive.keep();
  const [name = ''] = await readdir(of.cache.folder);
  return join(of.cache.folder, name, 'classes.jsa');
}

test('is recorded by the first program only', async () => {
  const of = await settings();
  const archive = await Archive.find(of);
  expect((await startOnce(archive, of))[0]).toContain('ArchiveClassesAtExit');
  expect(await startOnce(archive, of)).toEqual([]);
});

test('is not kept of a program that did not end as it was asked to', async () => {
  const of = await settings();
  const archive = await Archive.find(of);
  const [option = ''] = await startOnce(archive, of, 1);
  await writeFile(option.replace('-XX:ArchiveClassesAtExit=', ''), 'classes');
  await archive.keep();
  expect(await of.cache.find('kafka')).toBeUndefined();
  expect(await readdir(of.cache.folder)).toEqual([]);
});

test('is used once it was kept', async () => {
  const of = await settings();
  const file = await kept(of);
  expect(await startOnce(await Archive.find(of), of)).toEqual([`-XX:SharedArchiveFile=${file}`]);
});

test('is not used by another Java', async () => {
  const of = await settings();
  await kept(of);
  const other = { ...of, jdk: { ...JDK, version: '25.0.2' } };
  expect((await startOnce(await Archive.find(other), other))[0]).toContain('ArchiveClassesAtExit');
});

test('is not believed when a byte of it has changed', async () => {
  const of = await settings();
  const file = await open(await kept(of), 'r+');
  await file.write('X', 3);
  await file.close();
  expect((await startOnce(await Archive.find(of), of))[0]).toContain('ArchiveClassesAtExit');
});

test('is given up when a start with it fails, and the start is repeated without', async () => {
  const of = await settings();
  await kept(of);
  const archive = await Archive.find(of);
  const seen: (readonly string[])[] = [];
  await archive.starting(async ({ options }) => {
    seen.push(options);
    if (options.length > 0) throw new Fault('CHILD_FAILED', 'Java ended before it was ready.');
    return await exited(of.run, 0);
  });
  expect(seen.map((options) => options.length)).toEqual([1, 0]);
  expect(await readdir(of.cache.folder)).toEqual([]);
});

test('is not blamed for a port that was taken', async () => {
  const of = await settings();
  await kept(of);
  const archive = await Archive.find(of);
  const failing = archive.starting(async () => {
    return await Promise.reject(new Fault('CHILD_FAILED', 'Address already in use'));
  });
  await expect(failing).rejects.toThrow('already in use');
  expect(await readdir(of.cache.folder)).toHaveLength(1);
});
