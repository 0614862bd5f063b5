import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { PAGES } from './pages.ts';

const folder = new URL('../../docs/', import.meta.url);

describe('docs', () => {
  test.each(Object.entries(PAGES))('%s says what the code says', (name, print) => {
    const file = new URL(name, folder);
    if (process.env['UPDATE_DOCS'] === '1') writeFileSync(file, print());
    expect(readFileSync(file, 'utf8'), 'rewrite it: UPDATE_DOCS=1 npx vitest run test/docs').toBe(print());
  });

  test.each(Object.entries(PAGES))('%s has tables whose rows are as wide as their head', (_, print) => {
    const tables = print()
      .trimEnd()
      .split('\n\n')
      .filter((part) => part.startsWith('|'));
    expect(tables.length).toBeGreaterThan(0);
    for (const table of tables) {
      const widths = table.split('\n').map((line) => line.split(/(?<!\\)\|/).length);
      expect(new Set(widths).size).toBe(1);
    }
  });
});
