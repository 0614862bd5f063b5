import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import kafkajs from 'kafkajs';
import { prepareTopics } from '../../src/app/demo/stage.ts';
import { type Config } from '../../src/config/config.ts';
import { loadConfig } from '../../src/config/load.ts';
import { systemClock } from '../../src/edges/system/clock.ts';
import { fetchLocalJson } from '../../src/edges/system/local-http.ts';
import { freePorts } from '../../src/sandbox/broker/ports.ts';
import { Run } from '../../src/sandbox/broker/run.ts';
import { startKafka } from '../../src/sandbox/broker/start.ts';
import { type FaultSettings } from '../../src/sandbox/service/faults.ts';
import { type ScreeningService, startScreeningService } from '../../src/sandbox/service/screening-service.ts';
import { type HealthReport } from '../../src/telemetry/ports.ts';
import { PARTITIONS } from './backlog.ts';
import { LAUNCHER, MEMORY_PROBE, type Memory, readMemory, type StageParts } from './stage.ts';
import { Till } from './till.ts';

const START_LIMIT_MS = 60_000;
const LOOK_EVERY_MS = 100;

/** A connector of scoring and sync with everything around it. */
export interface IllStage {
  readonly service: ScreeningService;
  readonly till: Till;
  readonly status: () => Promise<HealthReport | null>;
  readonly memory: () => Promise<readonly Memory[]>;
  readonly isAlive: () => boolean;
  /** Records in the dead-letter topics. */
  readonly letters: () => Promise<number>;
  /** Score records. */
  readonly scores: () => Promise<number>;
  /** SIGTERM; the exit code. */
  readonly end: () => Promise<number | null>;
}

/** What both parts of the job need. */
export interface IllRun {
  readonly stage: IllStage;
  /** The service as it is when it is well. */
  readonly well: FaultSettings;
  readonly minutes: number;
  /** Payments a second. */
  readonly rate: number;
  readonly records: number;
  readonly say: (line: string) => void;
  readonly signal: AbortSignal;
}

/** Starts a broker of its own, a registry, the service in this process, and the connector as a process. */
export async function setIllStage({ options, opened, say }: StageParts): Promise<IllStage> {
  const { KAFKA_BROKERS: _, SCHEMA_REGISTRY_URL: __, ...env } = process.env;
  const kafka = await startKafka({ env, say });
  opened.push('broker', async () => {
    await kafka.stop();
  });
  const service = await startScreeningService({ seed: 1, reviewAfterMs: 3_600_000 });
  opened.push('screening service', async () => {
    await service.close();
  });
  const [opsPort = 0] = await freePorts(1);
  const own = environmentOf({ ...kafka, service, opsPort, concurrency: options.concurrency });
  const { config } = loadConfig({ env: own, readFile: () => '' });
  await prepareTopics(config, systemClock, PARTITIONS);
  const client = new kafkajs.Kafka({ brokers: [...kafka.brokers], logLevel: kafkajs.logLevel.NOTHING });
  const till = await Till.open(client, config.topics);
  opened.push('till', async () => {
    await till.close();
  });
  const admin = client.admin();
  await admin.connect();
  opened.push('admin', async () => {
    await admin.disconnect();
  });
  const run = await Run.open();
  opened.push('connector', async () => {
    await run.close();
  });
  const memoryFile = `${run.folder}/memory`;
  const child = await run.start({
    name: 'connector',
    command: process.execPath,
    args: [...options.nodeOptions, '--import', MEMORY_PROBE, LAUNCHER, 'run'],
    cwd: run.folder,
    env: { ...own, PATH: process.env['PATH'], BENCH_MEMORY_FILE: memoryFile },
  });
  const status = async (): Promise<HealthReport | null> =>
    (await fetchLocalJson(`http://127.0.0.1:${String(opsPort)}/status`)) as HealthReport | null;
  const latestMs = performance.now() + START_LIMIT_MS;
  while (((await status())?.partitions.length ?? 0) < 2 * PARTITIONS) {
    if (!child.alive || performance.now() > latestMs)
      throw new Error(`the connector does not start:\n${await child.lastLines()}`);
    await sleep(LOOK_EVERY_MS);
  }
  const recordsIn = async (...topics: readonly string[]): Promise<number> => await countIn(admin, topics);
  const { created, authorized, deadLetterSuffix } = config.topics;
  return {
    service,
    till,
    status,
    memory: async () => await readMemory(memoryFile),
    isAlive: () => child.alive,
    letters: async () => await recordsIn(created + deadLetterSuffix, authorized + deadLetterSuffix),
    scores: async () => await recordsIn(scoresOf(config)),
    end: async () => (await child.end(45_000)).code,
  };
}

function scoresOf({ topics }: Config): string {
  return topics.scores ?? '';
}

async function countIn(admin: kafkajs.Admin, topics: readonly string[]): Promise<number> {
  let count = 0;
  for (const topic of topics)
    for (const { low, high } of await admin.fetchTopicOffsets(topic)) count += Number(high) - Number(low);
  return count;
}

function environmentOf(parts: {
  readonly brokers: readonly string[];
  readonly registryUrl: string;
  readonly service: ScreeningService;
  readonly opsPort: number;
  readonly concurrency: number;
}): Readonly<Record<string, string>> {
  const { brokers, registryUrl, service, opsPort, concurrency } = parts;
  return {
    ACCOUNT: 'bench',
    FLOWS: 'scoring,sync',
    KAFKA_BROKERS: brokers.join(','),
    KAFKA_GROUP_ID: 'bench-ill',
    SCHEMA_REGISTRY_URL: registryUrl,
    SERVICE_BASE_URL: service.baseUrl,
    SERVICE_USERNAME: service.user,
    SERVICE_PASSWORD: service.password,
    SCORING_CONCURRENCY: String(concurrency),
    OPS_PORT: String(opsPort),
    LOG_LEVEL: 'warn',
  };
}
