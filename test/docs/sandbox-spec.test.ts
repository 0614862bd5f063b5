import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { BROKEN_ANSWERS } from '../../src/sandbox/service/broken-answers.ts';
import { FAULT_NAMES } from '../../src/sandbox/service/faults.ts';
import { zeroCounters } from '../../src/sandbox/service/ledger-counters.ts';
import { RULES } from '../../src/sandbox/service/rules.ts';
import { SETTING_NAMES } from '../../src/sandbox/service/settings.ts';
import { NO_WEBHOOK_FAULTS } from '../../src/sandbox/service/webhook-faults.ts';
import { ROOT } from './prose.ts';

interface Row {
  readonly section: string;
  readonly says: string;
  readonly tests?: readonly { readonly file: string; readonly name: string }[];
  /** Why no test can hold it. */
  readonly none?: string;
}

interface Sentences {
  /** The headings of the interface's description, and the section here that is about each. */
  readonly headings: readonly { readonly heading: string; readonly section: string }[];
  readonly rows: readonly Row[];
}

const read = (name: string): string => readFileSync(path.join(ROOT, name), 'utf8');
const { headings, rows } = JSON.parse(read('test/fixtures/sandbox/spec-sentences.json')) as Sentences;
const sections = [...new Set(rows.map(({ section }) => section))];

function line({ says, tests = [], none = '' }: Row): string {
  const proofs = tests.map(({ file, name }) => `[\`${file}\`](../${file}): *${name}*`);
  return `| ${says.replaceAll('|', '\\|')} | ${proofs.length > 0 ? proofs.join('<br>') : `No test: ${none}`} |`;
}

function print(): string {
  const tables = sections.map((section) => {
    const lines = rows.filter((row) => row.section === section).map(line);
    return [`## ${section}`, '', '| The interface says | held by |', '| --- | --- |', ...lines].join('\n');
  });
  return `${[
    '# The interface and the sandbox, sentence by sentence',
    '<!-- Printed from test/fixtures/sandbox/spec-sentences.json; a test compares. Rewrite with: UPDATE_DOCS=1 npx vitest run test/docs -->',
    'Look here for what the [sandbox](sandbox.md) holds of the interface of the screening service: a short paraphrase of each sentence, and the test that holds it. A sentence that demands nothing of a server says so.',
    ...tables,
  ].join('\n\n')}\n`;
}

describe('docs/sandbox-spec.md', () => {
  test('says what its fixture says', () => {
    const file = path.join(ROOT, 'docs/sandbox-spec.md');
    if (process.env['UPDATE_DOCS'] === '1') writeFileSync(file, print());
    expect(readFileSync(file, 'utf8'), 'rewrite it: UPDATE_DOCS=1 npx vitest run test/docs').toBe(print());
  });

  test('leaves no heading of the interface out, and has no section of another', () => {
    expect(headings).toHaveLength(21);
    expect(new Set(headings.map(({ section }) => section))).toEqual(new Set(sections));
  });

  test('has each sentence once, held by a test or with the reason why not', () => {
    const sentences = rows.map(({ section, says }) => `${section}: ${says}`);
    expect(new Set(sentences).size).toBe(sentences.length);
    const neither = rows.filter(({ tests = [], none = '' }) => tests.length > 0 === (none !== ''));
    expect(neither).toEqual([]);
  });

  test.each(rows.flatMap(({ says, tests = [] }) => tests.map(({ file, name }) => [says, file, name] as const)))(
    '%s names a test that exists: %s, %s',
    (_says, file, name) => {
      const source = read(file);
      expect([`'${name}'`, `"${name}"`, `\`${name}\``].some((each) => source.includes(each))).toBe(true);
    },
  );
});

describe('docs/sandbox.md', () => {
  const page = read('docs/sandbox.md');

  test.each([
    ['fault', FAULT_NAMES],
    ['fault of webhooks', Object.keys(NO_WEBHOOK_FAULTS)],
    ['broken answer', Object.keys(BROKEN_ANSWERS)],
    ['setting', SETTING_NAMES],
    ['counter of the ledger', Object.keys(zeroCounters())],
    ['signal', RULES.map(({ id }) => id)],
  ])('has every %s', (_, names) => {
    expect(names.filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
  });

  test.each(Object.entries(BROKEN_ANSWERS))('says of the broken answer %s what the code says', (name, kind) => {
    expect(page).toContain(`| \`${name}\` | ${kind.means} | ${kind.carriedOut ? 'yes' : 'no'} |`);
  });
});
