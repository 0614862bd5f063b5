import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { BUG_NAMES, BUGS } from '../chaos/bugs/bugs.ts';
import { SCENARIOS } from '../chaos/schedule.ts';
import { ROOT } from './prose.ts';

const page = readFileSync(path.join(ROOT, 'docs/chaos.md'), 'utf8');
const [scenarios = '', judge = ''] = page.split('## Is the judge any good?');

test('docs/chaos.md has every scenario', () => {
  expect(SCENARIOS.filter((scenario) => !scenarios.includes(`\`${scenario}\``))).toEqual([]);
});

test('docs/chaos.md has every bug, its campaign and how it is found', () => {
  for (const name of BUG_NAMES) {
    const row = judge.split('\n').find((line) => line.startsWith(`| \`${name}\``)) ?? '';
    expect(row).toContain(`| \`${BUGS[name].scenario}\` |`);
    for (const figure of BUGS[name].foundAs) expect(row).toContain(`\`${figure}\``);
  }
});
