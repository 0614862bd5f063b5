import { expect, test } from 'vitest';
import { type BomComponent, licenceProblems } from '../../supply-chain/licences.ts';

const ALLOWED = ['MIT', 'Apache-2.0'];
const GOOD = component('good', [{ license: { id: 'MIT' } }]);

function component(name: string, licenses?: BomComponent['licenses']): BomComponent {
  return { name, version: '1.0.0', ...(licenses === undefined ? {} : { licenses }) };
}

function problems(
  components: readonly BomComponent[],
  exceptions: Readonly<Record<string, string>> = {},
): readonly string[] {
  return licenceProblems({ bomFormat: 'CycloneDX', components: [GOOD, ...components] }, ALLOWED, exceptions);
}

test.each<[BomComponent['licenses'], string]>([
  [undefined, 'not stated'],
  [[], 'not stated'],
  [[{ license: { id: 'GPL-3.0-only' } }], 'GPL-3.0-only'],
  [[{ license: { name: 'see the file' } }], 'see the file'],
  [[{ license: { id: 'MIT' } }, { license: { id: 'SSPL-1.0' } }], 'MIT, SSPL-1.0'],
  [[{ expression: 'MIT AND GPL-2.0-only' }], 'MIT AND GPL-2.0-only'],
  [[{ expression: 'GPL-2.0-only OR AGPL-3.0-only' }], 'GPL-2.0-only OR AGPL-3.0-only'],
])('%j is refused', (licenses, text) => {
  expect(problems([component('bad', licenses)])).toEqual([`bad@1.0.0: its licence is ${text}.`]);
});

test.each<[BomComponent['licenses']]>([
  [[{ license: { id: 'Apache-2.0' } }]],
  [[{ expression: '(MIT OR GPL-3.0-only)' }]],
  [[{ expression: '(MIT AND Apache-2.0)' }]],
])('%j is taken', (licenses) => {
  expect(problems([component('fine', licenses)])).toEqual([]);
});

test('an exception holds for one version of one package, and only while it is needed', () => {
  const bad = component('bad');
  expect(problems([bad], { 'bad@1.0.0': 'looked up' })).toEqual([]);
  expect(problems([bad], { 'bad@1.0.1': 'looked up' })).toEqual([
    'bad@1.0.0: its licence is not stated.',
    'bad@1.0.1: is an exception that is not needed any more.',
  ]);
  expect(problems([], { 'good@1.0.0': 'looked up' })).toHaveLength(1);
});

test('a bill that lists nothing proves nothing', () => {
  expect(licenceProblems({ bomFormat: 'CycloneDX', components: [] }, ALLOWED, {})).toHaveLength(1);
  expect(licenceProblems({ bomFormat: 'other', components: [GOOD] }, ALLOWED, {})).toHaveLength(1);
});
