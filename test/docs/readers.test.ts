import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { FRAUD_REVIEW_SCHEMA, FRAUD_SCORE_SCHEMA } from '../../src/screening/avro.generated.ts';
import { ROOT } from './prose.ts';

const textOf = (name: string): string => readFileSync(path.join(ROOT, name), 'utf8').trimEnd();

interface ReaderPage {
  readonly page: string;
  /** Each file that the page shows: its name stands above its block. */
  readonly shown: Readonly<Record<string, string>>;
  readonly schema: unknown;
}

const PAGES: readonly ReaderPage[] = [
  {
    page: 'docs/reading-reviews.md',
    shown: {
      'package.json': 'test/readers/typescript/package.json',
      'read-reviews.ts': 'test/readers/typescript/read-reviews.ts',
      'requirements.txt': 'test/readers/python/requirements.txt',
      'read_reviews.py': 'test/readers/python/read_reviews.py',
      'pom.xml': 'test/readers/java/pom.xml',
      'ReadReviews.java': 'test/readers/java/ReadReviews.java',
    },
    schema: FRAUD_REVIEW_SCHEMA,
  },
  {
    page: 'docs/reading-scores.md',
    shown: {
      'read-scores.ts': 'test/readers/typescript/read-scores.ts',
      'read_scores.py': 'test/readers/python/read_scores.py',
      'ReadScores.java': 'test/readers/java/ReadScores.java',
    },
    schema: FRAUD_SCORE_SCHEMA,
  },
];

const BLOCK = /^`([\w.-]+)`:\n\n(```\w*\n)([\s\S]*?)\n?```$/gm;

/** The page with the files as they are. */
function withFiles(text: string, shown: ReaderPage['shown']): string {
  return text.replaceAll(BLOCK, (whole: string, name: string, fence: string) => {
    const file = shown[name];
    return file === undefined ? whole : `\`${name}\`:\n\n${fence}${textOf(file)}\n\`\`\``;
  });
}

describe.each(PAGES)('$page', ({ page, shown, schema }) => {
  const place = path.join(ROOT, page);
  if (process.env['UPDATE_DOCS'] === '1') writeFileSync(place, withFiles(readFileSync(place, 'utf8'), shown));
  const text = readFileSync(place, 'utf8');
  const blocks = new Map([...text.matchAll(BLOCK)].map(([, name = '', , content = '']) => [name, content]));

  test.each(Object.entries(shown))('shows %s as it is tested', (name, file) => {
    expect(blocks.get(name), 'rewrite it: UPDATE_DOCS=1 npx vitest run test/docs').toBe(textOf(file));
  });

  test('shows nothing else as a file', () => {
    expect([...blocks.keys()].toSorted()).toEqual(Object.keys(shown).toSorted());
  });

  test('names every decision that the schema has', () => {
    const { fields } = schema as { fields: readonly { type: { symbols?: readonly string[] } }[] };
    const decisions = fields.flatMap(({ type }) => type.symbols ?? []);
    expect(decisions).toHaveLength(5);
    expect(decisions.filter((decision) => !text.includes(`\`${decision}\``))).toEqual([]);
  });
});

test('docs/reading-scores.md says what null means of every field that may be null', () => {
  const { fields } = FRAUD_SCORE_SCHEMA as { fields: readonly { name: string; type: unknown }[] };
  const nullable = fields.flatMap(({ name, type }) => (Array.isArray(type) && type.includes('null') ? [name] : []));
  const [, table = ''] = readFileSync(path.join(ROOT, 'docs/reading-scores.md'), 'utf8').split('## What null means');
  expect(nullable.length).toBeGreaterThan(5);
  expect(nullable.filter((name) => !table.split('\n\n')[1]?.includes(`\`${name}\``))).toEqual([]);
});

function dependenciesIn(file: string): Readonly<Record<string, string>> {
  return (JSON.parse(textOf(file)) as { dependencies: Record<string, string> }).dependencies;
}

test('the reader in TypeScript is tested with the versions that it asks for', () => {
  const asked = dependenciesIn('test/readers/typescript/package.json');
  expect(Object.keys(asked)).toHaveLength(2);
  expect(dependenciesIn('package.json')).toMatchObject(asked);
});

/** What makes a reader right: the tables, and which of two records counts. */
const STATEMENTS = {
  reviews: [
    'create table if not exists seen (account text, event_id text, primary key (account, event_id))',
    'account text, trans_id text, event_id text, decision text, reviewed_at integer, primary key (account, trans_id)',
    'set event_id = excluded.event_id, decision = excluded.decision, reviewed_at = excluded.reviewed_at',
    'where (excluded.reviewed_at, excluded.event_id) > (review.reviewed_at, review.event_id)',
  ],
  scores: [
    'account text, trans_id text, decision text, failure text, score real, position integer, primary key (account, trans_id)',
    'set decision = excluded.decision, failure = excluded.failure, score = excluded.score, position = excluded.position',
    'where excluded.position > payment.position and (excluded.failure is null or payment.failure is not null)',
  ],
};

test.each<[string, keyof typeof STATEMENTS]>([
  ['typescript/read-reviews.ts', 'reviews'],
  ['python/read_reviews.py', 'reviews'],
  ['java/ReadReviews.java', 'reviews'],
  ['typescript/read-scores.ts', 'scores'],
  ['python/read_scores.py', 'scores'],
  ['java/ReadScores.java', 'scores'],
])('the reader %s keeps what counts by the same rule as the others', (name, of) => {
  const program = textOf(`test/readers/${name}`).replaceAll(/\s+/g, ' ');
  expect(STATEMENTS[of].filter((statement) => !program.includes(statement))).toEqual([]);
});

describe('the rule of the readers of scores', () => {
  const program = textOf('test/readers/typescript/read-scores.ts');
  const [table = ''] = /create table[\s\S]*?\n {2}\)/.exec(program) ?? [];
  const [insert = ''] = /insert into payment[\s\S]*?is not null\)/.exec(program) ?? [];

  /** What is known of a payment after these records, each read as often as told. */
  function known(records: readonly (readonly [decision: string, failure: string | null])[], times: number): unknown {
    const db = new DatabaseSync(':memory:');
    db.exec(table);
    const keep = db.prepare(insert);
    for (let time = 0; time < times; time += 1)
      for (const [position, [decision, failure]] of records.entries())
        keep.run('eu', 'pay-1', decision, failure, null, position);
    const row = db.prepare('select decision, failure from payment').get();
    db.close();
    return row === undefined ? null : [row['decision'], row['failure']];
  }

  test('takes the last decision, else the last failure, however often the topic is read', () => {
    const decided = fc.constantFrom('approve', 'decline', 'manual_review').map((decision) => [decision, null] as const);
    const failed = fc.constantFrom('already_scored', 'status_400').map((failure) => ['unknown', failure] as const);
    const records = fc.array(fc.oneof(decided, failed), { maxLength: 6 });
    fc.assert(
      fc.property(records, fc.integer({ min: 1, max: 3 }), (all, times) => {
        const last = all.findLast(([, failure]) => failure === null) ?? all.at(-1) ?? null;
        expect(known(all, times)).toEqual(last === null ? null : [...last]);
      }),
    );
  });
});
