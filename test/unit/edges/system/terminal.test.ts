import { Writable } from 'node:stream';
import { expect, test } from 'vitest';
import { writeLine } from '../../../../src/edges/system/terminal.ts';

test('lines that nobody reads wait up to 8 MiB, and come when somebody does', () => {
  const read: string[] = [];
  const dones: (() => void)[] = [];
  const stuck = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      read.push(chunk.toString());
      dones.push(done);
    },
  });
  const line = 'x'.repeat(1_048_575);
  for (let count = 0; count < 100; count += 1) writeLine(stuck, line);
  expect(stuck.writableLength).toBe(9 * 1_048_576);
  for (let count = 0; count < 9; count += 1) dones.shift()?.();
  writeLine(stuck, 'later');
  expect(read).toHaveLength(10);
  expect(read.at(-1)).toBe('later\n');
});
