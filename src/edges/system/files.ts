import { readFileSync } from 'node:fs';

/** The text of a file in UTF-8; throws as Node does when it cannot be read. */
export function readTextFile(path: string): string {
  return readFileSync(path, 'utf8');
}
