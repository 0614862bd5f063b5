import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { type EventName } from '../../src/kernel/emit.ts';
import { type FaultCode } from '../../src/kernel/fault.ts';
import { HOLDS, LETTERS, SKIPS } from '../../src/kernel/outcome.ts';
import { METRICS } from '../../src/telemetry/catalogue.ts';
import { EVENTS } from '../../src/telemetry/events.ts';
import { proofsIn, ROOT } from './prose.ts';
import { SECTIONS, whenPage } from './when/page.ts';

const FILE = path.join(ROOT, 'docs/when-things-go-wrong.md');
const page = whenPage();
const ROWS = SECTIONS.flatMap(({ rows }) => rows);

/** Faults that end `run`; the others end commands, whose own message says what to do. */
const OF_RUN = [
  'CONFIG_INVALID',
  'TOPIC_MISSING',
  'SCHEMA_MISSING',
  'PORT_TAKEN',
  'DRAIN_INCOMPLETE',
  'INTERNAL',
] as const satisfies FaultCode[];

/** Said as holds, with their letters, or of every record that has a row of its own. */
const NOT_ROWS: ReadonlySet<EventName> = new Set(['hold_started', 'letter_written']);

const loud = (Object.keys(EVENTS) as EventName[]).filter(
  (name) => ['warn', 'error', 'fatal'].includes(EVENTS[name].level) && !NOT_ROWS.has(name),
);

const metrics: ReadonlySet<string> = new Set(METRICS.map(({ name }) => name));

describe('docs/when-things-go-wrong.md', () => {
  test('is the table', () => {
    if (process.env['UPDATE_DOCS'] === '1') writeFileSync(FILE, page);
    expect(readFileSync(FILE, 'utf8'), 'rewrite it: UPDATE_DOCS=1 npx vitest run test/docs').toBe(page);
  });

  test('has a row for every hold, letter and skip, for every event that is a warning or worse, for every fault that ends run', () => {
    const named = new Set<string>(
      ROWS.flatMap(({ holds = [], letters = [], skips = [], events = [], faults = [] }) =>
        [holds, letters, skips, faults, events.map((each) => `event ${each}`)].flat(),
      ),
    );
    const wanted = [
      ...Object.keys({ ...HOLDS, ...LETTERS, ...SKIPS }),
      ...loud.map((name) => `event ${name}`),
      ...OF_RUN,
    ];
    // A replay says these of itself, in its report.
    const ofReplays = new Set(['newer_exists', 'out_of_range']);
    expect(wanted.filter((each) => !named.has(each) && !ofReplays.has(each))).toEqual([]);
  });

  test('names metrics that exist', () => {
    const found = page.match(/fraud_connector_\w+/g) ?? [];
    expect(found.length).toBeGreaterThan(3);
    expect(found.filter((name) => !metrics.has(name))).toEqual([]);
  });

  test('has a test for each row, in a file that exists', () => {
    expect(ROWS.filter(({ shown }) => shown.length === 0).map(({ happens }) => happens)).toEqual([]);
    expect(proofsIn(page)).toHaveLength(ROWS.flatMap(({ shown }) => shown).length);
    expect(proofsIn(page).filter(({ file }) => !existsSync(path.join(ROOT, file)))).toEqual([]);
  });

  test('has tables whose rows are as wide as their head, and no row twice', () => {
    for (const table of page.split('\n\n').filter((part) => part.startsWith('|')))
      expect(new Set(table.split('\n').map((row) => row.split('|').length)).size).toBe(1);
    expect(new Set(ROWS.map(({ happens }) => happens)).size).toBe(ROWS.length);
    expect(new Set(SECTIONS.map(({ title }) => title)).size).toBe(SECTIONS.length);
  });

  test('begins with the questions, and each leads to rows', () => {
    const [, questions = ''] = page.split(/^## /m);
    expect(questions).toMatch(/^At three in the morning/);
    for (const question of questions.split(/^### /m).slice(1)) expect(question).toMatch(/^Rows: .*\d/m);
  });
});
