import { fileURLToPath } from 'node:url';
import { loadConfig } from '../../config/load.ts';
import { type Config } from '../../config/config.ts';
import { createKafkaAdmin } from '../../edges/kafka/admin.ts';
import { readTextFile } from '../../edges/system/files.ts';
import { type Terminal } from '../../edges/system/terminal.ts';
import { type Clock } from '../../kernel/clock.ts';
import { type ReleaseStack } from '../../lifecycle/release-stack.ts';
import { freePorts } from '../../sandbox/broker/ports.ts';
import { type KafkaAndRegistry, startKafka } from '../../sandbox/broker/start.ts';
import { type ScreeningService, startScreeningService } from '../../sandbox/service/screening-service.ts';
import { kafkaOf, registryOf } from '../parts.ts';
import { writtenSubjects } from '../schemas.ts';
import { createTopics } from '../topics.ts';

/** From the package's root on: in a package that is installed this file is below `dist`, the launcher is not. */
const LAUNCHER = fileURLToPath(new URL('../../../src/bin.mjs', import.meta.url));
const PARTITIONS = 6;
/** Short, so that a connector that was killed is succeeded soon. */
const SESSION_MS = 10_000;
const LATENCY_MS = 20;
/** The service as it is in a demo: it takes a moment to answer. */
const WELL = { latencyMs: LATENCY_MS, latencyJitterMs: LATENCY_MS };

export interface StageParts {
  readonly terminal: Terminal;
  readonly clock: Clock;
  readonly opened: ReleaseStack;
  readonly say: (line: string) => void;
}

/** Everything that the connector of a demo needs around it, running. */
export interface Stage {
  readonly kafka: KafkaAndRegistry;
  readonly service: ScreeningService;
  readonly config: Config;
  /** The environment that the connector is started with. */
  readonly env: Readonly<Record<string, string>>;
  readonly launcher: string;
  readonly opsUrl: string;
  /** Before the name of every topic; empty unless the Kafka is somebody's own. */
  readonly topicPrefix: string;
}

/** Starts the broker, the registry and the screening service, and makes topics and schemas. */
export async function setStage({ terminal, clock, opened, say }: StageParts): Promise<Stage> {
  const [kafka, service] = await Promise.all([
    startKafka({ say, env: terminal.env }).then((started) => {
      opened.push('broker and registry', async () => {
        await started.stop();
      });
      return started;
    }),
    startScreeningService().then((started) => {
      opened.push('screening service', async () => {
        await started.close();
      });
      return started;
    }),
  ]);
  service.faults.set(WELL);
  const [webhookPort = 0, opsPort = 0] = await freePorts(2);
  const run = clock.nowMs().toString(36);
  // On somebody's own Kafka a demo keeps to topics of its own.
  const topicPrefix = kafka.how === 'given' ? `fraud-demo-${run}.` : '';
  const env = environment(kafka, service, { webhookPort, opsPort, run, topicPrefix });
  service.setWebhookUrl(`http://127.0.0.1:${String(webhookPort)}/webhooks/fraud`);
  const { config } = loadConfig({ env, readFile: readTextFile });
  await prepareTopics(config, clock, PARTITIONS);
  const opsUrl = `http://127.0.0.1:${String(opsPort)}`;
  return { kafka, service, config, env, launcher: LAUNCHER, opsUrl, topicPrefix };
}

interface Named {
  readonly webhookPort: number;
  readonly opsPort: number;
  /** Of this run, so that two on one Kafka do not meet. */
  readonly run: string;
  readonly topicPrefix: string;
}

/** Makes the service answer 503 for so long; then it is well again by itself. */
export function makeIll({ service }: Pick<Stage, 'service'>, forMs: number): void {
  service.faults.set({ ...WELL, rules: [{ status: { code: 503 }, forMs }] });
}

function environment(
  kafka: KafkaAndRegistry,
  service: ScreeningService,
  { webhookPort, opsPort, run, topicPrefix: own }: Named,
): Record<string, string> {
  return {
    ACCOUNT: 'demo',
    KAFKA_BROKERS: kafka.brokers.join(','),
    KAFKA_ALLOW_PLAINTEXT: 'true',
    KAFKA_GROUP_ID: `fraud-demo-${run}`,
    KAFKA_SESSION_TIMEOUT_MS: String(SESSION_MS),
    SCHEMA_REGISTRY_URL: kafka.registryUrl,
    TOPIC_CREATED: `${own}payments.created`,
    TOPIC_AUTHORIZED: `${own}payments.authorized`,
    TOPIC_REVIEWS: `${own}fraud.reviews`,
    TOPIC_SCORES: `${own}fraud.scores`,
    SERVICE_BASE_URL: service.baseUrl,
    SERVICE_USERNAME: service.user,
    SERVICE_PASSWORD: service.password,
    WEBHOOK_HOST: '127.0.0.1',
    WEBHOOK_PORT: String(webhookPort),
    WEBHOOK_SECRETS: service.webhookSecret,
    OPS_PORT: String(opsPort),
  };
}

/** Makes every topic of a configuration, in up to three replicas, and registers the schemas that are written. */
export async function prepareTopics(config: Config, clock: Clock, partitions: number): Promise<void> {
  const admin = createKafkaAdmin(kafkaOf(config, () => undefined));
  const registry = registryOf(config, { clock });
  try {
    const replication = Math.min(3, await admin.brokerCount());
    await createTopics(admin, config, { partitions, replication });
    for (const { subject, schema } of writtenSubjects(config)) await registry.register(subject, schema);
  } finally {
    await Promise.all([admin.close(), registry.close()]);
  }
}
