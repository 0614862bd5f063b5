import kafkajs, { type Admin } from 'kafkajs';
import { Fault } from '../../kernel/fault.ts';
import { type Asked, createGroupAdmin, type GroupAdmin } from './group-admin.ts';
import { type KafkaClient } from './client.ts';
import { describing, eachTopic } from './each-topic.ts';
import { causeCode, kafkaErrorName, needing } from './errors.ts';
import { type Watermarks } from './offset-reader.ts';

const { ConfigResourceTypes } = kafkajs;

const WAIT_TRIES = 5;

export interface TopicInfo {
  readonly name: string;
  readonly exists: boolean;
  /** 0 where the topic does not exist; so with the others. */
  readonly partitions: number;
  /** The smallest number of replicas of any partition. */
  readonly replicas: number;
  /** `min.insync.replicas`; null: not known (no right to read it). */
  readonly minInsync: number | null;
}

export interface BrokerInfo {
  readonly id: number;
  readonly host: string;
  readonly port: number;
}

export interface TopicToCreate {
  readonly topic: string;
  readonly partitions: number;
  readonly replication: number;
  readonly config?: Readonly<Record<string, string>>;
}

/** What commands ask of the cluster. Connects at its first question; every failure is a Fault `KAFKA_FAILED`. */
export interface KafkaAdmin extends GroupAdmin {
  topics(names: readonly string[]): Promise<TopicInfo[]>;
  /** Creates those that do not exist yet and returns their names once all have leaders. */
  createTopics(topics: readonly TopicToCreate[]): Promise<string[]>;
  clusterId(): Promise<string>;
  brokerCount(): Promise<number>;
  /** The brokers as the cluster itself names them: what clients are sent to. */
  brokers(): Promise<readonly BrokerInfo[]>;
  /** Options of a topic by name; empty: not known (no right to read them). */
  topicConfig(topic: string, names: readonly string[]): Promise<ReadonlyMap<string, string>>;
  /** The same of a broker. */
  brokerConfig(id: number, names: readonly string[]): Promise<ReadonlyMap<string, string>>;
  watermarks(topic: string): Promise<Watermarks[]>;
  /** For each partition the first offset whose record is of this time (milliseconds since 1970) or later; its end where there is none. */
  offsetsAt(topic: string, timestampMs: number): Promise<ReadonlyMap<number, bigint>>;
  close(): Promise<void>;
}

export function createKafkaAdmin(client: KafkaClient): KafkaAdmin {
  let connecting: Promise<Admin> | null = null;
  const asked: Asked = async (what, work, rights = {}) => {
    try {
      return await work(await (connecting ??= connect(client)));
    } catch (error) {
      needing(error, rights);
      // A connection that failed once is not trusted again.
      const failed = connecting;
      connecting = null;
      await disconnect(failed);
      const where = client.settings.brokers.join(',');
      throw new Fault('KAFKA_FAILED', `Kafka at ${where}: ${what} failed: ${kafkaErrorName(error)}.`, { cause: error });
    }
  };
  return {
    topics: async (names) =>
      await asked('reading topics', async (admin) => await eachTopic(names, async (name) => await look(admin, name))),
    createTopics: async (topics) =>
      await asked('creating topics', async (admin) => await create(admin, topics), {
        topic: ['Create', ...topics.map(({ topic }) => topic)],
      }),
    clusterId: async () =>
      await asked('reading the cluster id', async (admin) => (await admin.describeCluster()).clusterId),
    brokerCount: async () =>
      await asked('counting brokers', async (admin) => (await admin.describeCluster()).brokers.length),
    brokers: async () =>
      await asked('reading the brokers', async (admin) =>
        (await admin.describeCluster()).brokers.map(({ nodeId, host, port }) => ({ id: nodeId, host, port })),
      ),
    topicConfig: async (topic, names) =>
      await asked(`reading options of ${topic}`, async (admin) => await configOf(admin, 'TOPIC', topic, names)),
    brokerConfig: async (id, names) =>
      await asked('reading options of a broker', async (admin) => await configOf(admin, 'BROKER', String(id), names)),
    watermarks: async (topic) =>
      await asked(
        `reading the ends of ${topic}`,
        async (admin) =>
          (await admin.fetchTopicOffsets(topic)).map(({ partition, low, high }) => ({
            partition,
            low: BigInt(low),
            high: BigInt(high),
          })),
        describing(topic),
      ),
    offsetsAt: async (topic, timestampMs) =>
      await asked(
        `reading the offsets of ${topic} at a time`,
        async (admin) => {
          const found = await admin.fetchTopicOffsetsByTimestamp(topic, timestampMs);
          return new Map(found.map(({ partition, offset }) => [partition, BigInt(offset)]));
        },
        describing(topic),
      ),
    ...createGroupAdmin(asked, client),
    close: async () => {
      const open = connecting;
      connecting = null;
      await disconnect(open);
    },
  };
}

async function disconnect(open: Promise<Admin> | null): Promise<void> {
  try {
    await (await open)?.disconnect();
  } catch {
    // It was on its way out.
  }
}

async function connect(client: KafkaClient): Promise<Admin> {
  const admin = client.brisk.admin();
  await admin.connect();
  return admin;
}

async function look(admin: Admin, name: string): Promise<TopicInfo> {
  try {
    const { topics } = await admin.fetchTopicMetadata({ topics: [name] });
    const partitions = topics.find((of) => of.name === name)?.partitions ?? [];
    if (partitions.length > 0)
      return {
        name,
        exists: true,
        partitions: partitions.length,
        replicas: Math.min(...partitions.map(({ replicas }) => replicas.length)),
        minInsync: await minInsync(admin, name),
      };
  } catch (error) {
    if (causeCode(error) !== 'UNKNOWN_TOPIC_OR_PARTITION') throw error;
  }
  return { name, exists: false, partitions: 0, replicas: 0, minInsync: null };
}

async function minInsync(admin: Admin, name: string): Promise<number | null> {
  const config = await configOf(admin, 'TOPIC', name, ['min.insync.replicas']);
  const value = Number(config.get('min.insync.replicas'));
  return config.size > 0 && Number.isInteger(value) ? value : null;
}

async function configOf(
  admin: Admin,
  kind: 'TOPIC' | 'BROKER',
  name: string,
  configNames: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  try {
    const { resources } = await admin.describeConfigs({
      includeSynonyms: false,
      resources: [{ type: ConfigResourceTypes[kind], name, configNames: [...configNames] }],
    });
    const entries = resources[0]?.configEntries ?? [];
    return new Map(entries.map(({ configName, configValue }) => [configName, configValue]));
  } catch {
    return new Map();
  }
}

async function create(admin: Admin, topics: readonly TopicToCreate[]): Promise<string[]> {
  const known = await eachTopic(
    topics.map(({ topic }) => topic),
    async (topic) => await look(admin, topic),
  );
  const missing = topics.filter((_, index) => known[index]?.exists === false);
  if (missing.length === 0) return [];
  const request = {
    waitForLeaders: true,
    topics: missing.map(({ topic, partitions, replication, config = {} }) => ({
      topic,
      numPartitions: partitions,
      replicationFactor: replication,
      configEntries: Object.entries(config).map(([name, value]) => ({ name, value })),
    })),
  };
  for (let tries = 1; ; tries += 1) {
    try {
      await admin.createTopics(request);
      return missing.map(({ topic }) => topic);
    } catch (error) {
      // A broker that lags does not know the topic that another has just made: asking again is enough.
      if (causeCode(error) !== 'UNKNOWN_TOPIC_OR_PARTITION' || tries === WAIT_TRIES) throw error;
    }
  }
}
