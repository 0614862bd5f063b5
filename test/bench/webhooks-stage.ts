import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { kafkaOf, registryOf } from '../../src/app/parts.ts';
import { writtenSubjects } from '../../src/app/schemas.ts';
import { createTopics } from '../../src/app/topics.ts';
import { loadConfig } from '../../src/config/load.ts';
import { createKafkaAdmin } from '../../src/edges/kafka/admin.ts';
import { systemClock } from '../../src/edges/system/clock.ts';
import { freePorts } from '../../src/sandbox/broker/ports.ts';
import { Run } from '../../src/sandbox/broker/run.ts';
import { startKafka } from '../../src/sandbox/broker/start.ts';
import { cpuSecondsOf, OTHERS_CORE, pinTo, pinnedCommand, type StageParts } from './stage.ts';
import { type LoadTarget } from './webhooks-load.ts';

const LAUNCHER = fileURLToPath(new URL('../../src/bin.mjs', import.meta.url));
const BARE = fileURLToPath(new URL('bare-receiver.ts', import.meta.url));
const SECRET = 'whsec-made-up-4f9c2d71e8b3a650';
const PATH = '/webhooks/fraud';
const PARTITIONS = 12;
const READY_MS = 20_000;

/** A process that takes webhooks. */
export interface Receiver extends LoadTarget {
  readonly cpuSeconds: () => Promise<number>;
  readonly end: () => Promise<void>;
}

/** A broker with the topic of reviews, and those who write to it, one at a time. */
export interface WebhooksStage {
  readonly connector: () => Promise<Receiver>;
  readonly bare: () => Promise<Receiver>;
}

/** As `setStage`, for webhooks: everything but the receiver on one core with `--pin`. */
export async function setWebhooksStage({ options, opened, say }: StageParts): Promise<WebhooksStage> {
  const pin = options.pin && pinTo(OTHERS_CORE, process.pid);
  if (options.pin && !pin) say('There is no taskset, or only one core: nothing is pinned.');
  const { KAFKA_BROKERS: _, SCHEMA_REGISTRY_URL: __, ...own } = process.env;
  const kafka = await startKafka({ env: own, say });
  opened.push('broker', async () => {
    await kafka.stop();
  });
  const [broker = ''] = kafka.brokers;
  const env = {
    FLOWS: 'reviews',
    KAFKA_BROKERS: broker,
    SCHEMA_REGISTRY_URL: kafka.registryUrl,
    WEBHOOK_SECRETS: SECRET,
    WEBHOOK_PATH: PATH,
    WEBHOOK_HOST: '127.0.0.1',
    LOG_LEVEL: 'warn',
  };
  const { config } = loadConfig({ env, readFile: () => '' });
  const admin = createKafkaAdmin(kafkaOf(config, () => undefined));
  await createTopics(admin, config, { partitions: PARTITIONS, replication: 1 });
  await admin.close();
  const registry = registryOf(config, { clock: systemClock });
  for (const { subject, schema } of writtenSubjects(config)) await registry.register(subject, schema);
  await registry.close();
  const run = await Run.open();
  opened.push('receivers', async () => {
    await run.close();
  });
  let started = 0;
  const start = async (name: string, port: number, args: readonly string[], more = {}): Promise<Receiver> => {
    started += 1;
    const child = await run.start({
      name: `${name} ${String(started)}`,
      ...pinnedCommand(pin, [...options.nodeOptions, ...args]),
      cwd: run.folder,
      env: { PATH: process.env['PATH'], ...more },
    });
    await child.untilReady(async () => await answers(port), READY_MS);
    return {
      port,
      path: PATH,
      secret: SECRET,
      cpuSeconds: async () => await cpuSecondsOf(child.pid ?? 0),
      end: async () => {
        await child.end(READY_MS);
      },
    };
  };
  return {
    bare: async () => {
      const [port = 0] = await freePorts(1);
      return await start('bare', port, [BARE, String(port), broker, config.topics.reviews, SECRET]);
    },
    connector: async () => {
      const [port = 0] = await freePorts(1);
      const given = { ...env, WEBHOOK_PORT: String(port), OPS_PORT: '0' };
      return await start('connector', port, [LAUNCHER, 'run'], given);
    },
  };
}

/** Any answer at all. */
async function answers(port: number): Promise<boolean> {
  try {
    const answer = await fetch(`http://127.0.0.1:${String(port)}/`, { method: 'POST', body: '{}' });
    await answer.body?.cancel();
    // Kafka and the registry may not be known yet; the warm-up is not counted.
    await sleep(500);
    return true;
  } catch {
    return false;
  }
}
