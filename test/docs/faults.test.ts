import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { faultsPage } from './faults-page.ts';
import { ROOT } from './prose.ts';

const FILE = path.join(ROOT, 'docs/faults.md');
const page = await faultsPage();
const [, payments = []] = page
  .split(/^## /m)
  .map((section) => section.split('\n').filter((line) => line.startsWith('| ')));

describe('docs/faults.md', () => {
  test('says what the code makes of each answer', () => {
    if (process.env['UPDATE_DOCS'] === '1') writeFileSync(FILE, page);
    expect(readFileSync(FILE, 'utf8'), 'rewrite it: UPDATE_DOCS=1 npx vitest run test/docs').toBe(page);
  });

  test('has tables whose rows are as wide as their head', () => {
    for (const table of page.split('\n\n').filter((part) => part.startsWith('|')))
      expect(new Set(table.split('\n').map((row) => row.split('|').length)).size).toBe(1);
  });

  test('has dead letters at a single answer for 400, 413 and 422 alone, and a 409 ends a payment without one', () => {
    const lettered = payments.filter((row) => row.includes('letter `'));
    expect(lettered.map((row) => row.split(' | ')[0])).toEqual(['| 400, 422', '| 413']);
    const skipped = payments.filter((row) => row.includes('skipped `already_scored`'));
    expect(skipped.map((row) => row.split(' | ')[0])).toEqual(['| 409']);
  });

  test('takes nothing for a score but a 2xx with an object', () => {
    const scored = payments.filter((row) => row.includes(' | scored |'));
    expect(scored.map((row) => row.split(' | ')[0])).toEqual(['| 200 to 299']);
  });

  test('counts every failure against a payment but 429', () => {
    const free = payments.filter((row) => row.includes('waits: ') && !row.includes('; counts'));
    expect(free.map((row) => row.split(' | ')[0])).toEqual(['| 429']);
  });
});
