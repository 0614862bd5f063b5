import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { proofsIn, ROOT } from './prose.ts';

const page = readFileSync(path.join(ROOT, 'docs/kafkajs.md'), 'utf8');
/** The hazards by name: each is a heading of the third rank. */
const hazards = page
  .split(/^### /m)
  .slice(1)
  .map((text) => {
    const [name = '', ...lines] = text.split('\n');
    return [name, lines.join('\n').split(/^## /m)[0] ?? ''] as const;
  });

describe('the catalogue of hazards of kafkajs', () => {
  test('is about the version that is installed', () => {
    const file = path.join(ROOT, 'node_modules/kafkajs/package.json');
    const { version } = JSON.parse(readFileSync(file, 'utf8')) as { readonly version: string };
    expect(page).toContain(`kafkajs ${version}`);
  });

  test('has its hazards', () => {
    expect(hazards.length).toBeGreaterThan(30);
    expect(new Set(hazards.map(([name]) => name)).size).toBe(hazards.length);
  });

  test.each(hazards)('%s: says what we do, and which test shows it or why none does', (_, text) => {
    expect(text).toContain('**We:**');
    expect(proofsIn(text).length > 0 || text.includes('**No test:**')).toBe(true);
  });

  test.each(hazards)('%s: names tests that exist', (_, text) => {
    for (const { file, name } of proofsIn(text)) {
      const quoted = [`'${name}'`, `"${name}"`];
      const source = readFileSync(path.join(ROOT, file), 'utf8');
      expect(
        quoted.some((title) => source.includes(title)),
        `${file}: ${name}`,
      ).toBe(true);
    }
  });
});
