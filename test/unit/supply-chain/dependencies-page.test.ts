import { expect, test } from 'vitest';
import { pageProblems, pageRows } from '../../supply-chain/dependencies-page.ts';

const MANIFEST = {
  dependencies: { '@a/b': '1.2.3', pino: '10.4.0' },
  devDependencies: { node: '26.10.0' },
  allowScripts: {},
};
const PAGE = ['| package | for |', '| --- | --- |', '| @a/b 1.2.3, pino 10 | x 1 |', '', '| node 26 | y |'].join('\n');

test('rows are the packages of first columns, several with commas between', () => {
  expect(pageRows(PAGE)).toEqual([
    { name: '@a/b', version: '1.2.3' },
    { name: 'pino', version: '10' },
    { name: 'node', version: '26' },
  ]);
});

test('a page that has each once, with its version, has no problems', () => {
  expect(pageProblems(PAGE, MANIFEST)).toEqual([]);
});

test.each([
  ['a missing row', PAGE.replace('| node 26 | y |', ''), 'node: has no row'],
  ['a row too many', `${PAGE}\n| left-pad 1 | z |`, 'left-pad: has a row'],
  ['another version', PAGE.replace('pino 10', 'pino 1'), 'pino: docs/decisions/dependencies.md says 1'],
  ['two rows', `${PAGE}\n| pino 10 | z |`, 'pino: has two rows'],
])('%s is a problem', (_name, page, problem) => {
  const problems = pageProblems(page, MANIFEST);
  expect(problems).toHaveLength(1);
  expect(problems[0]).toContain(problem);
});
