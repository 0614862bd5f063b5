import { expect, test } from 'vitest';
import { importProblems } from '../../supply-chain/imports.ts';

const MANIFEST = {
  dependencies: { '@a/b': '1.0.0', undici: '8.0.0' },
  devDependencies: { vitest: '5.0.0', oxfmt: '1.0.0', testcontainers: '12.0.0' },
  allowScripts: {},
};
const USES = { tools: ['oxfmt'], optional: ['testcontainers'] };
const FILES: Readonly<Record<string, string>> = {
  'src/a.ts':
    "import { b } from '@a/b/deep';\nimport { type Pool } from 'undici';\nimport './c.ts';\nimport 'node:fs';",
  'src/docker.ts': "const t = await import('testcontainers');",
  'test/a.test.ts': "import { test } from 'vitest';\nimport { b } from '@a/b';",
};

function problems(over: Readonly<Record<string, string>>): readonly string[] {
  const files = Object.entries({ ...FILES, ...over }).map(([path, text]) => ({ path, text }));
  return importProblems(files, MANIFEST, USES);
}

test('what is imported and declared has no problems', () => {
  expect(problems({})).toEqual([]);
});

test.each([
  ['nobody declared', { 'src/x.ts': "import x from 'left-pad';" }, 'src/x.ts: imports left-pad'],
  ['is declared for development alone', { 'src/x.ts': "import x from 'vitest';" }, 'src/x.ts: imports vitest'],
  ['tests import and nobody declared', { 'test/x.ts': "import x from '@c/d';" }, 'test/x.ts: imports @c/d'],
  ['src does not import', { 'src/a.ts': "import { b } from '@a/b';" }, 'undici: is a dependency'],
  ['nothing uses', { 'test/a.test.ts': '' }, 'vitest: is a development dependency that nothing uses'],
])('what %s is a problem', (_name, over, problem) => {
  const found = problems(over);
  expect(found).toHaveLength(1);
  expect(found[0]).toContain(problem);
});

test('a tool that is no dependency any more is a problem', () => {
  const gone = { tools: ['oxfmt', 'gone'], optional: [] };
  const files = Object.entries(FILES).map(([path, text]) => ({ path, text }));
  const found = importProblems(
    files.filter(({ path }) => path !== 'src/docker.ts'),
    MANIFEST,
    gone,
  );
  expect(found).toEqual([
    'testcontainers: is a development dependency that nothing uses.',
    'gone: is listed as used, and is no dependency.',
  ]);
});
