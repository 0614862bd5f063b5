import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Fault } from '../../kernel/fault.ts';
import { sizes, type Cache } from './cache.ts';
import { type Child, lastLines } from './child.ts';
import { type Jdk } from './jdk.ts';
import { type Run } from './run.ts';

export type KafkaVersion = '4.3.1' | '3.9.2';

export const REGISTRY_VERSION = '3.3.3';

/** What is fetched at the first start, in MB, for messages. */
export const DOWNLOAD_MB = { kafka: 44, registry: 159 } as const;

export interface Fetching {
  readonly cache: Cache;
  readonly run: Run;
  readonly jdk: Jdk;
  /** Absent when the machine has none: what is in the cache can be used all the same. */
  readonly maven: string | undefined;
  readonly say: (line: string) => void;
  readonly env: Readonly<Record<string, string | undefined>>;
}

interface Wanted {
  readonly title: string;
  readonly megabytes: number;
  readonly goal: readonly string[];
  readonly draft: string;
}

const PLUGIN = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1';
const SAY_EVERY_MS = 3000;
const DOWNLOAD_LIMIT_MS = 15 * 60_000;

/** Kafka alone speaks to no logger: each version is fetched with the one it was built for. */
const KAFKA_PARTS: Record<KafkaVersion, readonly string[]> = {
  '4.3.1': [
    'org.apache.kafka:kafka_2.13:4.3.1',
    'org.apache.logging.log4j:log4j-api:2.25.4',
    'org.apache.logging.log4j:log4j-core:2.25.4',
    'org.apache.logging.log4j:log4j-slf4j-impl:2.25.4',
  ],
  '3.9.2': ['org.apache.kafka:kafka_2.13:3.9.2', 'ch.qos.reload4j:reload4j:1.2.25', 'org.slf4j:slf4j-reload4j:1.7.36'],
};

/** The names under which the cache keeps what is fetched. */
export function cacheName(part: 'kafka' | 'registry', version: string): string {
  return part === 'kafka' ? `kafka-${version}` : `apicurio-registry-${version}`;
}

/** The folder with Kafka's jars, fetched by Maven when the cache has none. */
export async function fetchKafka(version: KafkaVersion, fetching: Fetching): Promise<string> {
  return await fetching.cache.obtain(cacheName('kafka', version), async (draft) => {
    const pom = join(draft, 'pom.xml');
    await writeFile(pom, pomOf(KAFKA_PARTS[version]));
    await maven(fetching, {
      title: `Kafka ${version}`,
      megabytes: DOWNLOAD_MB.kafka,
      goal: [`${PLUGIN}:copy-dependencies`, '-DincludeScope=runtime', `-DoutputDirectory=${draft}`, '-f', pom],
      draft,
    });
    await rm(pom);
  });
}

/** The folder with the registry, fetched by Maven and unpacked when the cache has none. */
export async function fetchRegistry(fetching: Fetching): Promise<string> {
  return await fetching.cache.obtain(cacheName('registry', REGISTRY_VERSION), async (draft) => {
    const archive = join(draft, `apicurio-registry-app-${REGISTRY_VERSION}-all.tar.gz`);
    await maven(fetching, {
      title: `Apicurio Registry ${REGISTRY_VERSION}`,
      megabytes: DOWNLOAD_MB.registry,
      goal: [
        `${PLUGIN}:copy`,
        `-Dartifact=io.apicurio:apicurio-registry-app:${REGISTRY_VERSION}:tar.gz:all`,
        `-DoutputDirectory=${draft}`,
      ],
      draft,
    });
    const unpacking = await fetching.run.start({
      name: 'tar',
      command: 'tar',
      args: ['-xzf', archive, '-C', draft],
      cwd: draft,
      env: { PATH: fetching.env['PATH'] },
    });
    const { code } = await unpacking.ended;
    if (code !== 0)
      throw new Fault('DOWNLOAD_FAILED', `The registry could not be unpacked: ${await unpacking.lastLines()}`);
    await rm(archive);
  });
}

/** The project that Maven resolves, with the parts as its dependencies (`group:artifact:version`). */
export function pomOf(parts: readonly string[]): string {
  const dependencies = parts.map((part) => {
    const [group = '', artifact = '', version = ''] = part.split(':');
    return `<dependency><groupId>${group}</groupId><artifactId>${artifact}</artifactId><version>${version}</version></dependency>`;
  });
  return `<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>local</groupId><artifactId>fetch</artifactId><version>1</version><packaging>pom</packaging>
<dependencies>
${dependencies.join('\n')}
</dependencies></project>
`;
}

/**
 * Runs one goal of Maven's, with the user's own settings (mirrors, proxies). Its local repository lies in the draft: two
 * Mavens at once do not share one, and its growth is what can be told while waiting.
 */
async function maven(fetching: Fetching, wanted: Wanted): Promise<void> {
  const { run, jdk, say, env } = fetching;
  if (fetching.maven === undefined) throw new Fault('DOWNLOAD_FAILED', `Maven is needed to fetch ${wanted.title}.`);
  say(`${wanted.title}: downloading about ${String(wanted.megabytes)} MB`);
  const repository = join(wanted.draft, '.m2');
  await mkdir(repository);
  const child = await run.start({
    name: `Maven for ${wanted.title}`,
    command: fetching.maven,
    args: ['-B', '-q', `-Dmaven.repo.local=${repository}`, ...wanted.goal],
    cwd: wanted.draft,
    env: { ...env, JAVA_HOME: jdk.home },
  });
  const timer = setInterval(() => {
    void megabytesIn(repository).then((megabytes) => {
      // Maven's copies and its own plugins make the folder larger than what is wanted.
      const fetched = Math.min(megabytes, wanted.megabytes);
      if (child.alive) say(`${wanted.title}: ${String(fetched)} of about ${String(wanted.megabytes)} MB`);
    });
  }, SAY_EVERY_MS);
  const latest = setTimeout(() => {
    child.kill('SIGKILL');
  }, DOWNLOAD_LIMIT_MS);
  try {
    const { code } = await child.ended;
    if (code !== 0) throw await failed(wanted.title, child);
  } finally {
    clearInterval(timer);
    clearTimeout(latest);
  }
  await rm(repository, { recursive: true, force: true });
}

async function failed(title: string, child: Child): Promise<Fault> {
  return new Fault('DOWNLOAD_FAILED', `Maven could not fetch ${title}:\n${worstOf(await child.output())}`);
}

/** Maven's errors, or else its last lines. */
export function worstOf(output: string): string {
  const errors = output.split('\n').filter((line) => line.startsWith('[ERROR]'));
  return lastLines((errors.length > 0 ? errors.slice(0, 5).join('\n') : output) || 'It printed nothing.', 10);
}

async function megabytesIn(folder: string): Promise<number> {
  const found = await sizes(folder).catch(() => ({}));
  return Math.round(Object.values(found).reduce((sum, size) => sum + size, 0) / 1_000_000);
}
