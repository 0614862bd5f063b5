import { mkdir, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { Cache, cacheFolder } from '../../../../src/sandbox/broker/cache.ts';
import { temporaryFolder } from './temporary.ts';

/** Makes a folder with two files, and counts how often it was asked to. */
function maker(): { make: (empty: string) => Promise<void>; calls: () => number } {
  let calls = 0;
  const make = async (empty: string): Promise<void> => {
    calls += 1;
    await mkdir(join(empty, 'sub'));
    await writeFile(join(empty, 'a.jar'), 'aaaa');
    await writeFile(join(empty, 'sub/b.jar'), 'bb');
  };
  return { make, calls: () => calls };
}

describe('the folder of the cache', () => {
  test.each([
    [{ HOME: '/h' }, '/h/.cache/fraud-screening-connector'],
    [{ HOME: '/h', XDG_CACHE_HOME: '/x' }, '/x/fraud-screening-connector'],
    [{ HOME: '/h', XDG_CACHE_HOME: 'relative' }, '/h/.cache/fraud-screening-connector'],
    [{ HOME: '/h', XDG_CACHE_HOME: '/x', FRAUD_CONNECTOR_CACHE_DIR: '/own' }, '/own'],
  ])('with %o is %s', (env, folder) => {
    expect(cacheFolder(env)).toBe(folder);
  });
});

describe('what is kept', () => {
  test('nothing of a making that failed', async () => {
    const cache = new Cache(await temporaryFolder());
    const failing = cache.obtain('kafka', async (empty) => {
      await writeFile(join(empty, 'half.jar'), 'x');
      throw new Error('interrupted');
    });
    await expect(failing).rejects.toThrow('interrupted');
    expect(await readdir(cache.folder)).toEqual([]);
  });

  test('is not believed when a file is shorter than it was, and made again', async () => {
    const cache = new Cache(await temporaryFolder());
    const { make, calls } = maker();
    const folder = await cache.obtain('kafka', make);
    await truncate(join(folder, 'sub/b.jar'), 1);
    expect(await cache.find('kafka')).toBeUndefined();
    await cache.obtain('kafka', make);
    expect(calls()).toBe(2);
    expect(await readFile(join(folder, 'sub/b.jar'), 'utf8')).toBe('bb');
  });

  test('is not believed when a file is missing', async () => {
    const cache = new Cache(await temporaryFolder());
    const folder = await cache.obtain('kafka', maker().make);
    await rm(join(folder, 'a.jar'));
    expect(await cache.find('kafka')).toBeUndefined();
  });

  test('is not believed when it came about another way', async () => {
    const cache = new Cache(await temporaryFolder());
    await mkdir(join(cache.folder, 'kafka'));
    await writeFile(join(cache.folder, 'kafka/a.jar'), 'aaaa');
    expect(await cache.find('kafka')).toBeUndefined();
  });

  test('is made once', async () => {
    const cache = new Cache(await temporaryFolder());
    const { make, calls } = maker();
    const first = await cache.obtain('kafka', make);
    expect(await cache.obtain('kafka', make)).toBe(first);
    expect(calls()).toBe(1);
  });

  test('is whole when two make it at once', async () => {
    const cache = new Cache(await temporaryFolder());
    const { make } = maker();
    const [one, other] = await Promise.all([cache.obtain('kafka', make), cache.obtain('kafka', make)]);
    expect(one).toBe(other);
    expect(await cache.find('kafka')).toBe(one);
    expect(await readdir(cache.folder)).toEqual(['kafka']);
  });

  test('drafts of a process that has died go at the next making, those of a living one stay', async () => {
    const cache = new Cache(await temporaryFolder());
    await mkdir(join(cache.folder, '.draft-999999999-abc'));
    await mkdir(join(cache.folder, `.draft-${String(process.pid)}-abc`));
    await cache.obtain('kafka', maker().make);
    expect((await readdir(cache.folder)).sort()).toEqual([`.draft-${String(process.pid)}-abc`, 'kafka']);
  });
});
