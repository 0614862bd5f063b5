import { randomUUID } from 'node:crypto';
import { type IHeaders, Kafka, logLevel, Partitioners, type Producer } from 'kafkajs';
import { loadConfig } from '../../src/config/load.ts';
import { type Config } from '../../src/config/config.ts';
import { createTopics, neededTopics } from '../../src/app/topics.ts';
import { reckon, type Reckoning } from '../../src/app/demo/reckoning.ts';
import { kafkaOf, registryOf } from '../../src/app/parts.ts';
import { writtenSubjects } from '../../src/app/schemas.ts';
import { createKafkaAdmin, type KafkaAdmin } from '../../src/edges/kafka/admin.ts';
import { type RecordHeaders } from '../../src/engine/ports.ts';
import { type SchemaRegistryEdge } from '../../src/edges/schema-registry/registry.ts';
import { systemClock } from '../../src/edges/system/clock.ts';
import { ReleaseStack } from '../../src/lifecycle/release-stack.ts';
import { createShops, type ShopPayment } from '../../src/sandbox/shops.ts';
import {
  type ScreeningService,
  type ScreeningServiceOptions,
  startScreeningService,
} from '../../src/sandbox/service/screening-service.ts';
import { ConnectorProcess, type Environment } from './connector-process.ts';
import { eventually } from './eventually.ts';
import { TopicLog } from './topic-log.ts';
import { addWitness } from './witnesses.ts';

export const SESSION_MS = 6000;

export interface WorldOptions {
  readonly brokers: readonly string[];
  readonly registryUrl: string;
  /** Of each topic; default 1. */
  readonly partitions?: number;
  /** Over what every test has. */
  readonly env?: Environment;
  readonly service?: ScreeningServiceOptions;
}

export interface NewRecord {
  readonly key?: string | null;
  readonly value: Buffer | string | object | null;
  readonly headers?: RecordHeaders;
}

/** Everything around one connector: topics of its own on the shared broker, its schemas, and a screening service in this process. */
export class PaymentWorld {
  readonly config: Config;
  readonly env: Environment;
  readonly service: ScreeningService;
  readonly registry: SchemaRegistryEdge;
  readonly #options: WorldOptions;
  readonly #producer: Producer;
  readonly #opened: ReleaseStack;

  private constructor(parts: {
    config: Config;
    env: Environment;
    service: ScreeningService;
    registry: SchemaRegistryEdge;
    options: WorldOptions;
    producer: Producer;
    opened: ReleaseStack;
  }) {
    this.config = parts.config;
    this.env = parts.env;
    this.service = parts.service;
    this.registry = parts.registry;
    this.#options = parts.options;
    this.#producer = parts.producer;
    this.#opened = parts.opened;
  }

  static async open(options: WorldOptions): Promise<PaymentWorld> {
    const opened = new ReleaseStack();
    const service = await startScreeningService(options.service);
    opened.push('screening service', async () => {
      await service.close();
    });
    const release = addWitness(() => {
      const state = { faults: service.faults.get(), settings: service.settings.get(), ...service.ledger().summary() };
      return `screening service: ${JSON.stringify(state)}`;
    });
    opened.push('witness', async () => {
      release();
      await Promise.resolve();
    });
    const env = environmentOf(options, service);
    const { config } = loadConfig({ env, readFile: () => '' });
    const registry = registryOf(config, { clock: systemClock });
    opened.push('registry', async () => {
      await registry.close();
    });
    const admin = createKafkaAdmin(kafkaOf(config, () => undefined));
    await createTopics(admin, config, { partitions: options.partitions ?? 1, replication: 1 });
    await untilLed(admin, config);
    await admin.close();
    for (const { subject, schema } of writtenSubjects(config)) await registry.register(subject, schema);
    const kafka = new Kafka({ brokers: [...options.brokers], logLevel: logLevel.NOTHING });
    const producer = kafka.producer({ createPartitioner: Partitioners.DefaultPartitioner });
    await producer.connect();
    opened.push('producer', async () => {
      await producer.disconnect();
    });
    return new PaymentWorld({ config, env, service, registry, options, producer, opened });
  }

  get topics(): Readonly<Record<'created' | 'authorized' | 'scores' | 'reviews', string>> {
    const { created, authorized, scores, reviews } = this.config.topics;
    return { created, authorized, scores: scores ?? '', reviews };
  }

  letters(topic: string): string {
    return `${topic}${this.config.topics.deadLetterSuffix}`;
  }

  /** A topic that no schema is registered for. */
  async createTopic(topic: string): Promise<void> {
    const admin = createKafkaAdmin(kafkaOf(this.config, () => undefined));
    await admin.createTopics([{ topic, partitions: 1, replication: 1 }]);
    await admin.close();
  }

  async deleteTopic(topic: string): Promise<void> {
    const admin = new Kafka({ brokers: [...this.#options.brokers], logLevel: logLevel.NOTHING }).admin();
    await admin.connect();
    await admin.deleteTopics({ topics: [topic] });
    await admin.disconnect();
  }

  /** Starts a connector here; it is ended with the world at the latest. */
  async start(env: Environment = {}): Promise<ConnectorProcess> {
    const connector = await ConnectorProcess.start({ ...this.env, ...env });
    this.#opened.push('connector', async () => await connector.kill());
    return connector;
  }

  async send(topic: string, ...records: readonly NewRecord[]): Promise<void> {
    const messages = records.map(({ key = null, value, headers = {} }) => ({
      key,
      value: bytesOf(value),
      // Its headers may be null, which kafkajs' types do not say.
      headers: headers as IHeaders,
    }));
    const answers = await this.#producer.send({ topic, messages });
    // Repaired as it is for the connector, kafkajs repeats nothing of a write to several partitions.
    const refused = answers.filter(({ errorCode }) => errorCode !== 0);
    if (refused.length > 0) throw new Error(`${topic} did not take what was sent: ${JSON.stringify(refused)}`);
  }

  async read(...topics: readonly string[]): Promise<TopicLog> {
    const log = await TopicLog.open(this.#options.brokers, topics);
    this.#opened.push('log', async () => {
      await log.close();
    });
    return log;
  }

  /** The value of a record as a reader with this schema finds it. */
  async decode<T>(schema: object, value: Buffer | null): Promise<T> {
    const decoder = this.registry.decoder(schema);
    let decoded = decoder.decode(value ?? Buffer.alloc(0));
    if (decoded.do === 'needs') {
      await this.registry.fetch(decoded.schema);
      decoded = decoder.decode(value ?? Buffer.alloc(0));
    }
    if (decoded.do !== 'value') throw new Error(`not decodable: ${JSON.stringify(decoded)}`);
    return decoded.value as T;
  }

  async close(): Promise<void> {
    const failures = await this.#opened.release();
    if (failures.length > 0) throw new Error(`not closed: ${JSON.stringify(failures)}`);
  }
}

/** A broker names the leaders of a new topic a little before they lead: what is written to it in between is refused. */
async function untilLed(admin: KafkaAdmin, config: Config): Promise<void> {
  for (const { topic } of neededTopics(config))
    await eventually(`${topic} has leaders`, async () => {
      try {
        return (await admin.watermarks(topic)).length > 0;
      } catch {
        return false;
      }
    });
}

function environmentOf(options: WorldOptions, service: ScreeningService): Environment {
  const own = `t${randomUUID().slice(0, 8)}`;
  return {
    ACCOUNT: 'test',
    FLOWS: 'scoring,sync',
    KAFKA_BROKERS: options.brokers.join(','),
    KAFKA_GROUP_ID: own,
    KAFKA_SESSION_TIMEOUT_MS: String(SESSION_MS),
    SCHEMA_REGISTRY_URL: options.registryUrl,
    TOPIC_CREATED: `${own}.created`,
    TOPIC_AUTHORIZED: `${own}.authorized`,
    TOPIC_SCORES: `${own}.scores`,
    TOPIC_REVIEWS: `${own}.reviews`,
    SERVICE_BASE_URL: service.baseUrl,
    SERVICE_USERNAME: service.user,
    SERVICE_PASSWORD: service.password,
    WEBHOOK_SECRETS: service.webhookSecret,
    ...options.env,
  };
}

function bytesOf(value: NewRecord['value']): Buffer | null {
  if (value === null || Buffer.isBuffer(value)) return value;
  return Buffer.from(typeof value === 'string' ? value : JSON.stringify(value));
}

/** Made-up payments whose `order_id` tells the order of their customer, so that the service can check it. */
export function somePayments(count: number, options: { seed?: number; customers?: number } = {}): ShopPayment[] {
  const shops = createShops({ seed: options.seed ?? 1, customers: options.customers ?? 40 });
  return Array.from({ length: count }, () => shops.payment(Date.UTC(2026, 0, 1)));
}

/** The records of payments: what is created, and what becomes of each. */
export function recordsOf(payments: readonly ShopPayment[]): { created: NewRecord[]; authorized: NewRecord[] } {
  const atMs = Date.UTC(2026, 0, 1, 0, 0, 5);
  return {
    created: payments.map(({ key, created }) => ({ key, value: created })),
    authorized: payments.map(({ key, authorized }) => ({ key, value: authorized(atMs) })),
  };
}

/** Sends payments in small lots, the statuses of each lot after it; resolves when all are acknowledged. */
export async function trade(world: PaymentWorld, payments: readonly ShopPayment[], lot = 20): Promise<void> {
  const { created, authorized } = world.topics;
  for (let from = 0; from < payments.length; from += lot) {
    const records = recordsOf(payments.slice(from, from + lot));
    await world.send(created, ...records.created);
    await world.send(authorized, ...records.authorized);
  }
}

/** What the service has seen of these payments: lost, doubled, out of order. */
export function reckonPayments(world: PaymentWorld, payments: readonly ShopPayment[]): Reckoning {
  const produced = new Map(payments.map(({ transId, authorized }) => [transId, String(authorized(0)['status'])]));
  return reckon({ payments: produced }, world.service.ledger(), { records: 0, events: 0 });
}
