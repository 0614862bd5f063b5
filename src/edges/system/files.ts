import { closeSync, openSync, readFileSync, writeFileSync, writeSync } from 'node:fs';
import { open } from 'node:fs/promises';

/** The text of a file in UTF-8; throws as Node does when it cannot be read. */
export function readTextFile(path: string): string {
  return readFileSync(path, 'utf8');
}

/** Writes a file that only its owner may read; false: there is one already, which is left as it is. Throws as Node does. */
export function writeNewFile(path: string, text: string): boolean {
  try {
    writeFileSync(path, text, { flag: 'wx', mode: 0o600 });
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw error;
  }
}

/** The text of a file in UTF-8, without holding up the process. Rejects as Node does, and where it is larger than `mostBytes`. */
export async function readTextFileLater(path: string, mostBytes: number): Promise<string> {
  const file = await open(path, 'r');
  try {
    const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(mostBytes + 1), position: 0 });
    if (bytesRead > mostBytes) throw new RangeError('the file is too large');
    return buffer.toString('utf8', 0, bytesRead);
  } finally {
    await file.close();
  }
}

/** A file that is written line by line. */
export interface LineFile {
  line(text: string): void;
  close(): void;
}

const LINES_AT_ONCE = 1000;

/** Empties or makes a file that only its owner may read. Throws as Node does. */
export function openLineFile(path: string): LineFile {
  const file = openSync(path, 'w', 0o600);
  let lines: string[] = [];
  const flush = (): void => {
    if (lines.length > 0) writeSync(file, `${lines.join('\n')}\n`);
    lines = [];
  };
  return {
    line: (text) => {
      lines.push(text);
      if (lines.length >= LINES_AT_ONCE) flush();
    },
    close: () => {
      flush();
      closeSync(file);
    },
  };
}
