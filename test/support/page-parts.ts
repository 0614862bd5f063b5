import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The text of a page of docs/, by its name. */
export function pageNamed(name: string): string {
  return readFileSync(fileURLToPath(new URL(`../../docs/${name}`, import.meta.url)), 'utf8');
}

/** The cells of the table whose first heading is this one, row by row. Throws where the page has no such table. */
export function tableIn(page: string, heading: string): readonly (readonly string[])[] {
  const lines = page.split('\n');
  const at = lines.findIndex((line) => line.startsWith(`| ${heading} |`));
  if (at === -1) throw new Error(`no table begins with ${heading}`);
  const below = lines.slice(at + 2);
  const end = below.findIndex((line) => !line.startsWith('|'));
  return below.slice(0, end === -1 ? undefined : end).map((line) => line.split('|').slice(1, -1).map(trimmed));
}

const trimmed = (cell: string): string => cell.trim();

/** The one block of code that has these words in it. Throws where there is none, or more than one. */
export function blockWith(page: string, words: string): string {
  const blocks = [...page.matchAll(/^```\w*\n([\s\S]*?)^```$/gm)].map(([, text = '']) => text);
  const [block, ...more] = blocks.filter((text) => text.includes(words));
  if (block === undefined || more.length > 0) throw new Error(`${String(more.length)} more blocks with ${words}`);
  return block;
}
