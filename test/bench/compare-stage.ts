import { readFile } from 'node:fs/promises';
import kafkajs from 'kafkajs';
import { registryOf } from '../../src/app/parts.ts';
import { writtenSubjects } from '../../src/app/schemas.ts';
import { loadConfig } from '../../src/config/load.ts';
import { systemClock } from '../../src/edges/system/clock.ts';
import { type ReleaseStack } from '../../src/lifecycle/release-stack.ts';
import { type Child } from '../../src/sandbox/broker/child.ts';
import { Run } from '../../src/sandbox/broker/run.ts';
import { type KafkaAndRegistry, startKafka } from '../../src/sandbox/broker/start.ts';
import { type CompareArguments } from './compare-arguments.ts';
import { type CompareJob } from './compare-jobs.ts';
import { type Command, NOTES, PREPARE, type Rival } from './rivals/roster.ts';
import { cpuSecondsOf, OTHERS_CORE, pinTo } from './stage.ts';

const MEASURED_CORE = '1';
const SCORES = 'bench.scores';
const SCORES_PARTITIONS = 12;
/** What each of them commits after: the connector's default. */
const COMMIT_MS = 250;
const END_MS = 6_000;

/** A program under measurement. */
export interface Contestant {
  readonly child: Child;
  /** User and system time of all its threads so far. */
  readonly cpuSeconds: () => Promise<number>;
  /** What of its memory is resident, in MB. */
  readonly residentMb: () => Promise<number>;
  readonly end: () => Promise<void>;
}

/** What a contestant is to do, and for which service. */
interface Work {
  readonly topic: string;
  readonly sinkPort: number;
  readonly job: CompareJob;
  /** A group of its own unless told. */
  readonly group?: string;
}

/** A broker, and the contestants, one at a time. */
export interface CompareStage {
  readonly kafka: KafkaAndRegistry;
  readonly broker: string;
  /** Those that can be had here. */
  readonly rivals: ReadonlySet<Rival>;
  readonly createTopic: (topic: string, partitions: number) => Promise<void>;
  readonly start: (rival: Rival, work: Work) => Promise<Contestant>;
}

/** Starts a broker and a registry of its own and prepares the rivals; with `pin` the contestants have a core for themselves. */
export async function setCompareStage({
  options,
  opened,
  say,
}: {
  readonly options: Pick<CompareArguments, 'jobs' | 'pin'>;
  readonly opened: ReleaseStack;
  readonly say: (line: string) => void;
}): Promise<CompareStage> {
  const wanted = new Set(options.jobs.flatMap(({ rivals }) => rivals));
  const commands = await prepare(wanted, say);
  const pin = options.pin && pinTo(OTHERS_CORE, process.pid);
  if (options.pin && !pin) say('There is no taskset, or only one core: nothing is pinned.');
  const { KAFKA_BROKERS: _, SCHEMA_REGISTRY_URL: __, ...env } = process.env;
  const kafka = await startKafka({ env, say });
  opened.push('broker', async () => {
    await kafka.stop();
  });
  const [broker = ''] = kafka.brokers;
  const admin = new kafkajs.Kafka({ brokers: [broker], logLevel: kafkajs.logLevel.NOTHING }).admin();
  await admin.connect();
  opened.push('admin', async () => {
    await admin.disconnect();
  });
  const run = await Run.open();
  opened.push('contestants', async () => {
    await run.close();
  });
  const createTopic = async (topic: string, partitions: number): Promise<void> => {
    const topics = [
      { topic, numPartitions: partitions, replicationFactor: 1 },
      { topic: `${topic}.dlq`, numPartitions: 1, replicationFactor: 1 },
    ];
    await admin.createTopics({ waitForLeaders: true, topics });
  };
  if (wanted.has('connector-scores')) {
    await createTopic(SCORES, SCORES_PARTITIONS);
    await registerSchemas(kafka);
  }
  let started = 0;
  return {
    kafka,
    broker,
    rivals: new Set(commands.keys()),
    createTopic,
    start: async (rival, { topic, sinkPort, job, group = null }) => {
      started += 1;
      const { program, args, env: own = {} } = commands.get(rival) ?? { program: 'false', args: [] };
      const ownGroup = `bench-${String(process.pid)}-${String(started)}`;
      const given = { broker, topic, sinkPort, group: group ?? ownGroup };
      const child = await run.start({
        name: `${rival} ${String(started)}`,
        command: pin ? 'taskset' : program,
        args: pin ? ['-c', MEASURED_CORE, program, ...args] : args,
        cwd: run.folder,
        env: {
          PATH: process.env['PATH'],
          ...own,
          ...(NOTES[rival].ours
            ? connectorEnv(rival, job, { ...given, registryUrl: kafka.registryUrl })
            : rivalEnv(job, given)),
        },
      });
      return {
        child,
        cpuSeconds: async () => await cpuSecondsOf(child.pid ?? 0),
        residentMb: async () => await residentMbOf(child.pid ?? 0),
        end: async () => {
          await child.end(END_MS);
        },
      };
    },
  };
}

interface Given {
  readonly broker: string;
  readonly topic: string;
  readonly sinkPort: number;
  readonly group: string;
}

function rivalEnv(job: CompareJob, { broker, topic, sinkPort, group }: Given): Record<string, string> {
  return {
    BROKER: broker,
    TOPIC: topic,
    GROUP: group,
    PARTITIONS: String(job.partitions),
    URL: `http://127.0.0.1:${String(sinkPort)}/api/v2/transaction`,
    CONCURRENCY: String(job.concurrency),
    COMMIT_MS: String(COMMIT_MS),
  };
}

function connectorEnv(
  rival: Rival,
  { flow, concurrency }: CompareJob,
  { broker, topic, sinkPort, group, registryUrl }: Given & { readonly registryUrl: string },
): Record<string, string> {
  return {
    KAFKA_BROKERS: broker,
    KAFKA_GROUP_ID: group,
    KAFKA_START_FROM: 'earliest',
    ...(flow === 'sync'
      ? { TOPIC_AUTHORIZED: topic, SYNC_BATCHES_IN_FLIGHT: String(concurrency) }
      : { TOPIC_CREATED: topic, SCORING_CONCURRENCY: String(concurrency) }),
    TOPIC_SCORES: rival === 'connector-scores' ? SCORES : '',
    SCHEMA_REGISTRY_URL: registryUrl,
    SERVICE_BASE_URL: `http://127.0.0.1:${String(sinkPort)}`,
    SERVICE_USERNAME: 'bench',
    SERVICE_PASSWORD: 'bench',
    COMMIT_INTERVAL_MS: String(COMMIT_MS),
    OPS_PORT: '0',
    LOG_LEVEL: 'warn',
  };
}

/** What has to be installed is, and who cannot be had here is left out, aloud. */
async function prepare(rivals: ReadonlySet<Rival>, say: (line: string) => void): Promise<ReadonlyMap<Rival, Command>> {
  const commands = new Map<Rival, Command>();
  for (const rival of rivals) {
    try {
      commands.set(rival, await PREPARE[rival]());
    } catch (error) {
      say(`${NOTES[rival].title} is left out: ${error instanceof Error ? error.message : 'it cannot be had here'}.`);
    }
  }
  return commands;
}

async function registerSchemas({ brokers, registryUrl }: KafkaAndRegistry): Promise<void> {
  const { config } = loadConfig({
    env: {
      FLOWS: 'scoring',
      KAFKA_BROKERS: brokers.join(','),
      SCHEMA_REGISTRY_URL: registryUrl,
      TOPIC_SCORES: SCORES,
      SERVICE_BASE_URL: 'http://127.0.0.1:1',
      SERVICE_USERNAME: 'bench',
      SERVICE_PASSWORD: 'bench',
    },
    readFile: () => '',
  });
  const registry = registryOf(config, { clock: systemClock });
  for (const { subject, schema } of writtenSubjects(config)) await registry.register(subject, schema);
  await registry.close();
}

async function residentMbOf(pid: number): Promise<number> {
  const status = await readFile(`/proc/${String(pid)}/status`, 'utf8').catch(() => '');
  return Number(/^VmRSS:\s+(\d+)/mu.exec(status)?.[1] ?? 0) / 1024;
}
