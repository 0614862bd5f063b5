import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { ROOT } from './prose.ts';
import { syncRulesPage } from './sync-rules.ts';

const FILE = path.join(ROOT, 'docs/sync-rules.md');
const page = syncRulesPage();

describe('docs/sync-rules.md', () => {
  test('says what the rules do', () => {
    if (process.env['UPDATE_DOCS'] === '1') writeFileSync(FILE, page);
    expect(readFileSync(FILE, 'utf8'), 'rewrite it: UPDATE_DOCS=1 npx vitest run test/docs').toBe(page);
  });

  test('has at most 100 lines, and tables whose rows are as wide as their head', () => {
    expect(page.split('\n').length).toBeLessThanOrEqual(100);
    for (const table of page.split('\n\n').filter((part) => part.startsWith('|')))
      expect(new Set(table.split('\n').map((row) => row.split('|').length)).size).toBe(1);
  });

  test('never sends both reasons, and declined never without one', () => {
    const rows = page.split('\n').filter((row) => row.includes('`issuer_reason_code`: '));
    expect(rows.length).toBeGreaterThan(0);
    for (const cell of rows.flatMap((row) => row.split(' | ')))
      expect(cell.includes('`issuer_reason_code`: ') && cell.includes('`issuer_decline_reason`: ')).toBe(false);
    expect(page).toContain('| any | neither | dead letter `decline_reason_missing` | sent | sent |');
  });
});
