import { expect, test } from 'vitest';
import { lockProblems, scriptProblems, versionProblems } from '../../supply-chain/lockfile.ts';
import { type Lock, type Locked, type Manifest } from '../../supply-chain/manifest.ts';

const MANIFEST: Manifest = {
  dependencies: { kafkajs: '2.2.4' },
  devDependencies: { node: '26.10.0' },
  allowScripts: { node: true, protobufjs: false },
};
const SHA512 = `sha512-${'A'.repeat(86)}==`;
const { dependencies, devDependencies } = MANIFEST;
const LOCK: Lock = {
  lockfileVersion: 3,
  packages: {
    '': { dependencies, devDependencies },
    'node_modules/kafkajs': { version: '2.2.4', integrity: SHA512 },
    'node_modules/node': { version: '26.10.0', integrity: SHA512, hasInstallScript: true },
    'node_modules/a/node_modules/protobufjs': { version: '7.0.0-rc.1', integrity: SHA512, hasInstallScript: true },
  },
};

function withEntry(folder: string, entry: Locked): Lock {
  return { ...LOCK, packages: { ...LOCK.packages, [folder]: entry } };
}

test.each([
  '^2.2.4',
  '~2.2.4',
  '2',
  '2.x',
  'latest',
  '*',
  '',
  'file:../x',
  'git+https://host/x.git',
  'npm:other@2.2.4',
])('%j is no exact version', (version) => {
  const problems = versionProblems({ ...MANIFEST, dependencies: { kafkajs: version } });
  expect(problems).toEqual([`package.json: kafkajs is ${JSON.stringify(version)}, which is no exact version.`]);
});

test.each<[string, string, Locked, string]>([
  ['without a hash', 'node_modules/x', { version: '1.0.0' }, 'has no SHA-512'],
  [
    'with a weak hash',
    'node_modules/x',
    { version: '1.0.0', integrity: 'sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwk=' },
    'has no SHA-512',
  ],
  [
    'with the address of a host',
    'node_modules/x',
    { version: '1.0.0', integrity: SHA512, resolved: 'https://h/x.tgz' },
    '(resolved)',
  ],
  ['of a repository', 'node_modules/x', { version: 'git+ssh://git@h/x.git#1', integrity: SHA512 }, 'no exact version'],
  ['that is a link', 'node_modules/x', { version: '1.0.0', integrity: SHA512, link: true }, 'is a link'],
  ['of this checkout', 'packages/x', { version: '1.0.0', integrity: SHA512 }, 'no package of a registry'],
])('an entry %s is refused', (_name, folder, entry, problem) => {
  const problems = lockProblems(withEntry(folder, entry), MANIFEST);
  expect(problems).toHaveLength(1);
  expect(problems[0]).toContain(folder);
  expect(problems[0]).toContain(problem);
});

test('a lockfile of other dependencies than those of package.json is refused', () => {
  const other = { ...MANIFEST, dependencies: { kafkajs: '2.2.5' } };
  expect(lockProblems(LOCK, other)).toEqual([
    'package-lock.json: its dependencies are not those of package.json; run npm install.',
  ]);
  expect(lockProblems({ ...LOCK, lockfileVersion: 2 }, MANIFEST)).toHaveLength(1);
});

test('an install script that nobody has decided about is refused', () => {
  const lock = withEntry('node_modules/x', { version: '1.0.0', integrity: SHA512, hasInstallScript: true });
  expect(scriptProblems(lock, MANIFEST, ['node'])).toEqual([
    'x: has an install script that allowScripts says nothing of.',
  ]);
});

test('a decision about a script that is not there, or against this check, is refused', () => {
  const decided = (allowScripts: Manifest['allowScripts']): readonly string[] =>
    scriptProblems(LOCK, { ...MANIFEST, allowScripts }, ['node']);
  expect(decided({ ...MANIFEST.allowScripts, gone: false })).toEqual([
    'gone: allowScripts names it, and it has no install script.',
  ]);
  expect(decided({ node: true, protobufjs: true })).toHaveLength(1);
  expect(decided({ node: false, protobufjs: false })).toHaveLength(1);
});

test('what is as it should be has no problems', () => {
  expect(versionProblems(MANIFEST)).toEqual([]);
  expect(lockProblems(LOCK, MANIFEST)).toEqual([]);
  expect(scriptProblems(LOCK, MANIFEST, ['node'])).toEqual([]);
});
