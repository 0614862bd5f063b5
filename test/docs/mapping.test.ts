import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { readMapping } from '../../src/app/mapping.ts';
import { runExplain } from '../../src/app/explain-command.ts';
import { loadConfig } from '../../src/config/load.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { ROOT } from './prose.ts';

const FIXTURES = path.join(ROOT, 'test/fixtures/mapping');
const fixture = (name: string): string => readFileSync(path.join(FIXTURES, name), 'utf8');
const page = readFileSync(path.join(ROOT, 'docs/mapping.md'), 'utf8');

/** JSON without the white space between its parts; numbers stay as they are written. */
const tight = (json: string): string => json.replaceAll(/("(?:[^"\\]|\\.)*")|\s+/g, '$1');

describe('docs/mapping.md', () => {
  test.each([
    'harbour-pay.yaml',
    'harbour-pay-payment.in.json',
    'harbour-pay-payment.out.json',
    'harbour-pay-status.in.json',
    'harbour-pay-status.out.json',
  ])('shows %s as it is tested', (name) => {
    const kind = name.endsWith('.yaml') ? 'yaml' : 'json';
    expect(page).toContain(`\`\`\`${kind}\n${fixture(name)}\`\`\`\n`);
  });

  test.each([
    ['scoring', 'harbour-pay-payment'],
    ['sync', 'harbour-pay-status'],
  ] as const)(
    'tells the truth about %s: the mapping makes exactly that request, and nothing odd is found',
    async (flow, name) => {
      const env = { MAPPING_FILE: 'mapping' };
      const { config } = loadConfig({ env, readFile: () => fixture('harbour-pay.yaml'), requires: 'MAPPING_' });
      const { mapping, warnings } = readMapping(config);
      expect(warnings).toEqual([]);
      const said: string[] = [];
      const terminal = { say: (line: string) => void said.push(line) };
      const parts = { config, mapping, flow, version: '1.2.3', clock: new ManualClock(), draw: () => 0.5 };
      const input = Buffer.from(fixture(`${name}.in.json`));
      expect(await runExplain(input, { ...parts, terminal, json: true })).toBe(0);
      const explained = JSON.parse(said[0] ?? '') as { findings: unknown; request: { body: string } };
      expect(explained.findings).toEqual([]);
      expect(explained.request.body).toBe(tight(fixture(`${name}.out.json`)));
    },
  );

  test('lists every helper', () => {
    for (const helper of ['from', 'first_of', 'const', 'upper', 'lower', 'each', 'map', 'otherwise', 'minor_units'])
      expect(page).toMatch(new RegExp(`^\\| .*\`${helper}\`.* \\|`, 'm'));
    for (const helper of ['timestamp', 'country', 'expiry', 'to_string', 'default'])
      expect(page).toMatch(new RegExp(`^\\| \`${helper}\` \\|`, 'm'));
  });
});
