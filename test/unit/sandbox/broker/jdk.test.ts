import { chmod, mkdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { compareVersions, findJdk, findMaven, majorOf, versionOfRelease } from '../../../../src/sandbox/broker/jdk.ts';
import { temporaryFolder } from './temporary.ts';

async function executable(file: string, text = '#!/bin/sh\n'): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, text);
  await chmod(file, 0o755);
}

/** A folder that looks like a Java of that version. */
async function java(home: string, version: string): Promise<void> {
  await executable(join(home, 'bin/java'));
  await writeFile(join(home, 'release'), `IMPLEMENTOR="x"\nJAVA_VERSION="${version}"\n`);
}

describe('versions of Java', () => {
  test.each([
    ['25.0.1', 25],
    ['21', 21],
    ['17.0.15', 17],
    ['1.8.0_292', 8],
    ['27-ea', 27],
  ])('%s is Java %i', (version, major) => {
    expect(majorOf(version)).toBe(major);
  });

  test('are ordered by number, not by text, and the old way of counting comes first', () => {
    const versions = ['9.0.4', '21.0.10', '1.8.0_292', '21.0.9', '25'];
    expect(versions.sort(compareVersions)).toEqual(['1.8.0_292', '9.0.4', '21.0.9', '21.0.10', '25']);
  });

  test('come from the file that each Java has', () => {
    expect(versionOfRelease('A="b"\nJAVA_VERSION="25.0.1"\nJAVA_VERSION_DATE="2025-10-21"\n')).toBe('25.0.1');
    expect(versionOfRelease('OTHER="25"\n')).toBeUndefined();
  });
});

describe('the search for Java', () => {
  test('takes the newest, wherever it was found', async () => {
    const root = await temporaryFolder();
    await java(join(root, 'old'), '17.0.1');
    await java(join(root, '.sdkman/candidates/java/99-test'), '99.0.2');
    const found = await findJdk({ JAVA_HOME: join(root, 'old'), HOME: root, PATH: '' });
    expect(found).toMatchObject({ major: 99, version: '99.0.2', home: join(root, '.sdkman/candidates/java/99-test') });
  });

  test('follows the link on the PATH to the folder it belongs to', async () => {
    const root = await temporaryFolder();
    await java(join(root, 'jdk'), '98.0.0');
    await mkdir(join(root, 'bin'));
    await symlink(join(root, 'jdk/bin/java'), join(root, 'bin/java'));
    const found = await findJdk({ HOME: root, PATH: join(root, 'bin') });
    expect(found?.home).toBe(join(root, 'jdk'));
  });

  test('asks a Java that has no such file', async () => {
    const root = await temporaryFolder();
    await executable(join(root, 'bin/java'), '#!/bin/sh\necho \'openjdk version "97.0.1" 2030-01-01\' >&2\n');
    expect((await findJdk({ JAVA_HOME: root, HOME: root, PATH: '' }))?.version).toBe('97.0.1');
  });

  test('passes over one that only says that there is none', async () => {
    const root = await temporaryFolder();
    await executable(join(root, 'bin/java'), '#!/bin/sh\necho "no Java runtime present" >&2\nexit 1\n');
    expect((await findJdk({ JAVA_HOME: root, HOME: root, PATH: '' }))?.home).not.toBe(root);
  });
});

describe('the search for Maven', () => {
  test('finds none where there is none, and does not take a file that cannot be run', async () => {
    const root = await temporaryFolder();
    await writeFile(join(root, 'mvn'), '');
    expect(await findMaven({ PATH: root })).toBeUndefined();
  });

  test('prefers MAVEN_HOME', async () => {
    const root = await temporaryFolder();
    await executable(join(root, 'a/mvn'));
    await executable(join(root, 'home/bin/mvn'));
    expect(await findMaven({ PATH: join(root, 'a') })).toBe(join(root, 'a/mvn'));
    expect(await findMaven({ PATH: join(root, 'a'), MAVEN_HOME: join(root, 'home') })).toBe(join(root, 'home/bin/mvn'));
  });
});
