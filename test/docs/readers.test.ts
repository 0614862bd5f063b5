import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { FRAUD_REVIEW_SCHEMA } from '../../src/screening/avro.generated.ts';
import { ROOT } from './prose.ts';

const PAGE = path.join(ROOT, 'docs/reading-reviews.md');
const textOf = (name: string): string => readFileSync(path.join(ROOT, name), 'utf8').trimEnd();

/** Each file that the page shows: its name stands above its block. */
const SHOWN: Readonly<Record<string, string>> = {
  'package.json': 'test/readers/typescript/package.json',
  'read-reviews.ts': 'test/readers/typescript/read-reviews.ts',
  'requirements.txt': 'test/readers/python/requirements.txt',
  'read_reviews.py': 'test/readers/python/read_reviews.py',
  'pom.xml': 'test/readers/java/pom.xml',
  'ReadReviews.java': 'test/readers/java/ReadReviews.java',
};

const BLOCK = /^`([\w.-]+)`:\n\n(```\w*\n)([\s\S]*?)\n```$/gm;

/** The page with the files as they are. */
function withFiles(page: string): string {
  return page.replaceAll(BLOCK, (whole: string, name: string, fence: string) => {
    const file = SHOWN[name];
    return file === undefined ? whole : `\`${name}\`:\n\n${fence}${textOf(file)}\n\`\`\``;
  });
}

describe('docs/reading-reviews.md', () => {
  if (process.env['UPDATE_DOCS'] === '1') writeFileSync(PAGE, withFiles(readFileSync(PAGE, 'utf8')));
  const page = readFileSync(PAGE, 'utf8');
  const blocks = new Map([...page.matchAll(BLOCK)].map(([, name = '', , text = '']) => [name, text]));

  test.each(Object.entries(SHOWN))('shows %s as it is tested', (name, file) => {
    expect(blocks.get(name), 'rewrite it: UPDATE_DOCS=1 npx vitest run test/docs').toBe(textOf(file));
  });

  test('shows nothing else as a file', () => {
    expect([...blocks.keys()].toSorted()).toEqual(Object.keys(SHOWN).toSorted());
  });

  test('names every decision that the schema has', () => {
    const { fields } = FRAUD_REVIEW_SCHEMA as { fields: readonly { type: { symbols?: readonly string[] } }[] };
    const decisions = fields.flatMap(({ type }) => type.symbols ?? []);
    expect(decisions).toHaveLength(5);
    expect(decisions.filter((decision) => !page.includes(`\`${decision}\``))).toEqual([]);
  });
});

function dependenciesIn(file: string): Readonly<Record<string, string>> {
  return (JSON.parse(textOf(file)) as { dependencies: Record<string, string> }).dependencies;
}

test('the reader in TypeScript is tested with the versions that it asks for', () => {
  const asked = dependenciesIn('test/readers/typescript/package.json');
  expect(Object.keys(asked)).toHaveLength(2);
  expect(dependenciesIn('package.json')).toMatchObject(asked);
});

/** What makes a reader right: the tables, and which of two reviews is the newer. */
const STATEMENTS = [
  'create table if not exists seen (account text, event_id text, primary key (account, event_id))',
  'account text, trans_id text, event_id text, decision text, reviewed_at integer, primary key (account, trans_id)',
  'set event_id = excluded.event_id, decision = excluded.decision, reviewed_at = excluded.reviewed_at',
  'where (excluded.reviewed_at, excluded.event_id) > (review.reviewed_at, review.event_id)',
];

test.each(['typescript/read-reviews.ts', 'python/read_reviews.py', 'java/ReadReviews.java'])(
  'the reader %s keeps the newest by the same rule as the others',
  (name) => {
    const program = textOf(`test/readers/${name}`).replaceAll(/\s+/g, ' ');
    expect(STATEMENTS.filter((statement) => !program.includes(statement))).toEqual([]);
  },
);
