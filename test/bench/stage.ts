import { spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import kafkajs from 'kafkajs';
import { type ReleaseStack } from '../../src/lifecycle/release-stack.ts';
import { type Child } from '../../src/sandbox/broker/child.ts';
import { Run } from '../../src/sandbox/broker/run.ts';
import { startKafka } from '../../src/sandbox/broker/start.ts';
import { type BenchArguments } from './arguments.ts';
import { PARTITIONS, TOPIC } from './backlog.ts';

/** What starts a connector. */
export const LAUNCHER: string = fileURLToPath(new URL('../../src/bin.mjs', import.meta.url));
/** To be loaded into a connector whose memory is measured. */
export const MEMORY_PROBE: string = new URL('memory-probe.ts', import.meta.url).href;
/** Where everything that is not measured runs with `--pin`. */
export const OTHERS_CORE = '0';
const CONNECTOR_CORE = '1';
/** Of `/proc`: clock ticks a second on every Linux of today. */
const TICKS = 100;
const MB = 1024 * 1024;

/** The connector's memory at one moment, in MB. */
export interface Memory {
  /** Milliseconds since 1970. */
  readonly atMs: number;
  readonly rssMb: number;
  readonly heapMb: number;
  readonly heapUsedMb: number;
  readonly externalMb: number;
  readonly buffersMb: number;
}

/** A connector under measurement. */
export interface Measured {
  readonly child: Child;
  /** User and system time of all its threads so far. */
  readonly cpuSeconds: () => Promise<number>;
  readonly memory: () => Promise<readonly Memory[]>;
}

export interface StageParts {
  readonly options: BenchArguments;
  readonly opened: ReleaseStack;
  readonly say: (line: string) => void;
}

/** A broker with empty topics, and connectors on demand. */
export interface Stage {
  readonly broker: string;
  /** Starts a connector that scores what is in the topic from its beginning; without `group` as a group of its own; `more`: options. */
  readonly connect: (sinkPort: number, group?: string, more?: Readonly<Record<string, string>>) => Promise<Measured>;
}

/**
 * Starts a broker of one node and a registry, always of its own: nobody's cluster is filled with made-up payments.
 * With `--pin` this process and all that it starts are kept on one core, the connector on another.
 */
export async function setStage({ options, opened, say }: StageParts): Promise<Stage> {
  const pin = options.pin && pinTo(OTHERS_CORE, process.pid);
  if (options.pin && !pin) say('There is no taskset, or only one core: nothing is pinned.');
  const { KAFKA_BROKERS: _, SCHEMA_REGISTRY_URL: __, ...env } = process.env;
  const kafka = await startKafka({ env, say });
  opened.push('broker', async () => {
    await kafka.stop();
  });
  const [broker = ''] = kafka.brokers;
  await createTopics(broker);
  const run = await Run.open();
  opened.push('connectors', async () => {
    await run.close();
  });
  let started = 0;
  return {
    broker,
    connect: async (sinkPort, group, more = {}) => {
      started += 1;
      const memoryFile = join(run.folder, `memory-${String(started)}`);
      const args = [...options.nodeOptions, '--import', MEMORY_PROBE, LAUNCHER, 'run', '--flows', 'scoring'];
      const child = await run.start({
        name: `connector ${String(started)}`,
        ...pinnedCommand(pin, args),
        cwd: run.folder,
        env: {
          PATH: process.env['PATH'],
          BENCH_MEMORY_FILE: memoryFile,
          KAFKA_BROKERS: broker,
          KAFKA_GROUP_ID: group ?? `bench-${String(process.pid)}-${String(started)}`,
          KAFKA_START_FROM: 'earliest',
          TOPIC_CREATED: TOPIC,
          TOPIC_SCORES: '',
          SCHEMA_REGISTRY_URL: kafka.registryUrl,
          SERVICE_BASE_URL: `http://127.0.0.1:${String(sinkPort)}`,
          SERVICE_USERNAME: 'bench',
          SERVICE_PASSWORD: 'bench',
          SCORING_CONCURRENCY: String(options.concurrency),
          OPS_PORT: '0',
          LOG_LEVEL: 'warn',
          ...ofTracing(process.env),
          ...more,
        },
      });
      return {
        child,
        cpuSeconds: async () => await cpuSecondsOf(child.pid ?? 0),
        memory: async () => await readMemory(memoryFile),
      };
    },
  };
}

/** So that a run can be measured with traces that are told to somebody. */
function ofTracing(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => name.startsWith('OTEL_')));
}

/** How Node is started with these arguments, on the core of what is measured if `pin`. */
export function pinnedCommand(
  pin: boolean,
  args: readonly string[],
): { readonly command: string; readonly args: readonly string[] } {
  if (!pin) return { command: process.execPath, args };
  return { command: 'taskset', args: ['-c', CONNECTOR_CORE, process.execPath, ...args] };
}

/** Keeps all threads of a process, and what it starts from now on, on one core; false: that is not possible here. */
export function pinTo(core: string, pid: number): boolean {
  return spawnSync('taskset', ['-a', '-p', '-c', core, String(pid)], { stdio: 'ignore' }).status === 0;
}

async function createTopics(broker: string): Promise<void> {
  const admin = new kafkajs.Kafka({ brokers: [broker], logLevel: kafkajs.logLevel.NOTHING }).admin();
  await admin.connect();
  try {
    const topics = [TOPIC, `${TOPIC}.dlq`].map((topic) => ({
      topic,
      numPartitions: PARTITIONS,
      replicationFactor: 1,
    }));
    await admin.createTopics({ waitForLeaders: true, topics });
  } finally {
    await admin.disconnect();
  }
}

/** User and system time of all threads of a process so far. */
export async function cpuSecondsOf(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${String(pid)}/stat`, 'utf8');
  // The name before may hold anything, spaces too.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS;
}

/** What the memory probe has written so far. */
export async function readMemory(file: string): Promise<readonly Memory[]> {
  const lines = await readFile(file, 'utf8').catch(() => '');
  return lines.split('\n').flatMap((line) => {
    if (!line.endsWith('}')) return [];
    const found = JSON.parse(line) as NodeJS.MemoryUsage & { readonly atMs: number };
    return [
      {
        atMs: found.atMs,
        rssMb: found.rss / MB,
        heapMb: found.heapTotal / MB,
        heapUsedMb: found.heapUsed / MB,
        externalMb: found.external / MB,
        buffersMb: found.arrayBuffers / MB,
      },
    ];
  });
}
