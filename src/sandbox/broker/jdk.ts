import { execFile } from 'node:child_process';
import { access, constants, readdir, readFile, realpath } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';

type Env = Readonly<Record<string, string | undefined>>;

/** A Java that was found on this machine. */
export interface Jdk {
  readonly java: string;
  /** Its folder, as JAVA_HOME names it. */
  readonly home: string;
  /** For example 25. */
  readonly major: number;
  /** For example `25.0.1`. */
  readonly version: string;
}

/** The oldest Java that runs both Kafka 4 (17) and the registry (21). */
export const OLDEST_JAVA = 21;

/** The newest Java of this machine: of JAVA_HOME, the PATH, and the usual folders of Linux, SDKMAN and macOS. */
export async function findJdk(env: Env): Promise<Jdk | undefined> {
  const homes = new Set<string>();
  for (const java of await candidates(env)) {
    const real = await realpath(java).catch(() => undefined);
    if (real !== undefined) homes.add(dirname(dirname(real)));
  }
  const found = await Promise.all([...homes].map(inspect));
  return found.filter((jdk) => jdk !== undefined).sort((a, b) => compareVersions(b.version, a.version))[0];
}

async function candidates(env: Env): Promise<string[]> {
  const home = env['HOME'] ?? homedir();
  const parents: [folder: string, below: string][] = [
    ['/usr/lib/jvm', ''],
    [join(home, '.sdkman/candidates/java'), ''],
    ['/Library/Java/JavaVirtualMachines', 'Contents/Home'],
    [join(home, 'Library/Java/JavaVirtualMachines'), 'Contents/Home'],
  ];
  const listed = await Promise.all(
    parents.map(async ([folder, below]) => {
      const names = await readdir(folder).catch(() => []);
      return names.map((name) => join(folder, name, below, 'bin/java'));
    }),
  );
  const javaHome = env['JAVA_HOME'];
  return [
    ...(javaHome === undefined || javaHome === '' ? [] : [join(javaHome, 'bin/java')]),
    ...onPath('java', env),
    ...listed.flat(),
  ];
}

async function inspect(home: string): Promise<Jdk | undefined> {
  const java = join(home, 'bin/java');
  if (!(await isExecutable(java))) return undefined;
  const release = await readFile(join(home, 'release'), 'utf8').catch(() => '');
  const version = versionOfRelease(release) ?? (await ask(java));
  return version === undefined ? undefined : { java, home, version, major: majorOf(version) };
}

/** The version that the file `release` of a Java folder tells. */
export function versionOfRelease(text: string): string | undefined {
  return /^JAVA_VERSION="([^"]+)"/m.exec(text)?.[1];
}

/** 21 of `21.0.4`, and 8 of `1.8.0_292`, the way it was once counted. */
export function majorOf(version: string): number {
  const [first = 0, second = 0] = numbersOf(version);
  return first === 1 ? second : first;
}

/** Which of two versions is newer, number by number. */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [numbersOf(a), numbersOf(b)];
  if (majorOf(a) !== majorOf(b)) return majorOf(a) - majorOf(b);
  for (let place = 0; place < Math.max(left.length, right.length); place += 1) {
    const difference = (left[place] ?? 0) - (right[place] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

function numbersOf(version: string): number[] {
  return version
    .split(/[._+-]/)
    .map(Number)
    .filter((number) => Number.isSafeInteger(number));
}

/** Asks a Java without a `release` file. macOS's stand-in for a missing Java fails here, as it should. */
async function ask(java: string): Promise<string | undefined> {
  const answer = await promisify(execFile)(java, ['-version'], { timeout: 10_000 }).catch(() => undefined);
  return /version "([^"]+)"/.exec(answer?.stderr ?? '')?.[1];
}

/** Maven's command, of MAVEN_HOME or the PATH. */
export async function findMaven(env: Env): Promise<string | undefined> {
  const home = env['MAVEN_HOME'];
  const places = [...(home === undefined || home === '' ? [] : [join(home, 'bin/mvn')]), ...onPath('mvn', env)];
  for (const place of places) if (await isExecutable(place)) return place;
  return undefined;
}

function onPath(command: string, env: Env): string[] {
  return (env['PATH'] ?? '')
    .split(delimiter)
    .filter((folder) => folder !== '')
    .map((folder) => join(folder, command));
}

async function isExecutable(file: string): Promise<boolean> {
  return await access(file, constants.X_OK).then(
    () => true,
    () => false,
  );
}
