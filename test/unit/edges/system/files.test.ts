import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readTextFileLater, writeNewFile } from '../../../../src/edges/system/files.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'files-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

test('refuses a file that is larger than was said, one that is missing, and a folder', async () => {
  const path = join(folder, 'a');
  writeFileSync(path, 'ä'.repeat(5));
  await expect(readTextFileLater(path, 9)).rejects.toThrow(RangeError);
  await expect(readTextFileLater(join(folder, 'b'), 9)).rejects.toThrow('ENOENT');
  await expect(readTextFileLater(folder, 9)).rejects.toThrow('EISDIR');
});

test('reads a file of just that size, and an empty one', async () => {
  const path = join(folder, 'a');
  writeFileSync(path, 'ä'.repeat(5));
  expect(await readTextFileLater(path, 10)).toBe('äääää');
  writeFileSync(path, '');
  expect(await readTextFileLater(path, 10)).toBe('');
});

test('writes no file where there is one', async () => {
  const path = join(folder, 'a');
  expect(writeNewFile(path, 'first')).toBe(true);
  expect(writeNewFile(path, 'second')).toBe(false);
  expect(await readTextFileLater(path, 100)).toBe('first');
});
