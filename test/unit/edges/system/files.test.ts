import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openLineFile, readTextFileLater, writeNewFile } from '../../../../src/edges/system/files.ts';

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

test('a file of lines replaces what was there, is for its owner alone when it is made, and keeps every line', () => {
  const path = join(folder, 'lines');
  const first = openLineFile(path);
  first.line('of before');
  first.close();
  expect(statSync(path).mode & 0o777).toBe(0o600);
  const lines = Array.from({ length: 2500 }, (_, index) => `line ${String(index)}`);
  const file = openLineFile(path);
  for (const line of lines) file.line(line);
  file.close();
  expect(readFileSync(path, 'utf8')).toBe(`${lines.join('\n')}\n`);
  openLineFile(path).close();
  expect(readFileSync(path, 'utf8')).toBe('');
});

test('a file of lines is refused at once where it cannot be written', () => {
  expect(() => openLineFile(join(folder, 'no', 'such', 'folder'))).toThrow('ENOENT');
});
