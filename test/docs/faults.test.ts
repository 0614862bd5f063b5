import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { faultsPage } from './faults-page.ts';
import { ROOT } from './prose.ts';

const FILE = path.join(ROOT, 'docs/faults.md');
const page = await faultsPage();
const rows = page.split('\n').filter((line) => line.startsWith('| '));

describe('docs/faults.md', () => {
  test('says what the code makes of each answer', () => {
    if (process.env['UPDATE_DOCS'] === '1') writeFileSync(FILE, page);
    expect(readFileSync(FILE, 'utf8'), 'rewrite it: UPDATE_DOCS=1 npx vitest run test/docs').toBe(page);
  });

  test('has tables whose rows are as wide as their head', () => {
    for (const table of page.split('\n\n').filter((part) => part.startsWith('|')))
      expect(new Set(table.split('\n').map((row) => row.split('|').length)).size).toBe(1);
  });

  test('has letters for refusals of the record alone: 400, 413, 422, and 409 after an attempt that may have been carried out', () => {
    const lettered = rows.filter((row) => row.includes('letter `status_') || row.includes('`ambiguous_then_refused`'));
    expect(new Set(lettered.map((row) => row.split(' | ')[0]))).toEqual(new Set(['| 400', '| 409', '| 413', '| 422']));
  });

  test('takes nothing for a score but a 200 with an object', () => {
    expect(rows.filter((row) => row.includes(' | scored |')).map((row) => row.split(' | ')[0])).toEqual(['| 200']);
  });
});
