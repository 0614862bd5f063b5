import { spawnSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { parseDocument } from 'yaml';
import { readCommand as benchCommand } from '../bench/command.ts';
import { readArguments as chaosArguments, readSeriesArguments } from '../chaos/arguments.ts';
import { readArguments as fuzzArguments } from '../fuzz/arguments.ts';
import { helpOf } from '../support/command-help.ts';
import { blocksIn, scriptCallsIn } from './blocks.ts';
import { codeIn, pagesOfProse } from './prose.ts';

const SEED = 1;
const pages = pagesOfProse();
const blocks = pages.flatMap(({ path, text }) =>
  blocksIn(text).map((block) => [`${path}:${String(block.line)}`, block] as const),
);
const ofLanguage = (...languages: readonly string[]): typeof blocks =>
  blocks.filter(([, { language }]) => languages.includes(language));

/** What a program for developers says against its arguments; null: nothing. */
const PROGRAMS: Readonly<Record<string, (args: readonly string[]) => string | null | Promise<string | null>>> = {
  bench: (args) => complaintOf(benchCommand(args)),
  chaos: (args) => complaintOf(readSeriesArguments(args) ?? chaosArguments(args, SEED)),
  fuzz: (args) => complaintOf(fuzzArguments(args, SEED)),
  demo: async (args) => {
    const help = await helpOf(['demo']);
    const unknown = args.filter((arg) => arg.startsWith('--') && !new RegExp(`${arg}\\b`).test(help));
    return unknown.length === 0 ? null : unknown.join(' ');
  },
};

function complaintOf(read: unknown): string | null {
  return typeof read === 'string' ? (read.split('\n')[0] ?? read) : null;
}

/** Uses of the programs for developers with arguments, by page. */
const calls = pages.flatMap(({ path, text }) =>
  codeIn(text)
    .flatMap(scriptCallsIn)
    .filter(({ script, args }) => script in PROGRAMS && args.length > 0)
    .map(({ script, args }) => [path, script, args.join(' ')] as const),
);

describe('blocks of code in the pages', () => {
  test('are there, of every kind that is looked at', () => {
    expect(ofLanguage('sh').length).toBeGreaterThan(20);
    expect(ofLanguage('json').length).toBeGreaterThan(3);
    expect(ofLanguage('yaml').length).toBeGreaterThan(0);
    expect(calls.length).toBeGreaterThan(10);
  });

  test.each(ofLanguage('json'))('%s is JSON', (_at, { text }) => {
    expect(() => JSON.parse(text) as unknown).not.toThrow();
  });

  test.each(ofLanguage('yaml'))('%s is YAML', (_at, { text }) => {
    expect(parseDocument(text, { merge: true }).errors.map(({ message }) => message)).toEqual([]);
  });

  test.each(ofLanguage('sh'))('%s is what a shell takes', (_at, { text }) => {
    const { status, stderr } = spawnSync('bash', ['-n'], { input: text, encoding: 'utf8' });
    expect([status, stderr]).toEqual([0, '']);
  });

  test.each(calls)('%s: npm run %s -- %s is taken by the program', async (_page, script, args) => {
    expect(await PROGRAMS[script]?.(args.split(' '))).toBeNull();
  });
});

test('finds blocks in lists, and where they begin', () => {
  expect(blocksIn('a\n\n1. b\n\n   ```sh\n   echo 1\n   ```\n\n```json\n{}\n```\n')).toEqual([
    { language: 'sh', text: 'echo 1\n', line: 6 },
    { language: 'json', text: '{}\n', line: 10 },
  ]);
});

test('finds calls of scripts without what follows them in the shell', () => {
  expect(scriptCallsIn('npm ci && npm run demo -- --for 10s > out # npm run x')).toEqual([
    { script: 'demo', args: ['--for', '10s'] },
    { script: 'x', args: [] },
  ]);
});
