import { type Config } from '../config/config.ts';
import { type KafkaAdmin } from '../edges/kafka/admin.ts';
import { Fault } from '../kernel/fault.ts';

/** A topic that the configured flows read or write. */
export interface NeededTopic {
  readonly topic: string;
  readonly for: string;
}

/** The topics of a configuration, inputs first. */
export function neededTopics({ topics, flows }: Config): readonly NeededTopic[] {
  const needed: NeededTopic[] = [];
  const add = (topic: string, use: string): void => {
    needed.push({ topic, for: use });
  };
  const letters = (topic: string): string => `${topic}${topics.deadLetterSuffix}`;
  if (flows.has('scoring')) {
    add(topics.created, 'payments to be scored');
    add(letters(topics.created), 'payments that cannot be scored');
    if (topics.scores !== null) add(topics.scores, 'scores');
  }
  if (flows.has('sync')) {
    add(topics.authorized, 'status updates');
    add(letters(topics.authorized), 'status updates that cannot be sent');
  }
  if (flows.has('reviews')) {
    add(topics.reviews, 'manual reviews');
    add(letters(topics.reviews), 'webhooks this version does not understand');
  }
  return needed;
}

export interface TopicFinding {
  readonly topic: string;
  readonly for: string;
  /** 0: it does not exist. */
  readonly partitions: number;
}

/** What is there of the needed topics. Throws `KAFKA_FAILED`. */
export async function findTopics(admin: KafkaAdmin, config: Config): Promise<readonly TopicFinding[]> {
  const needed = neededTopics(config);
  const found = await admin.topics(needed.map(({ topic }) => topic));
  return needed.map(({ topic, for: use }) => {
    const info = found.find(({ name }) => name === topic);
    return { topic, for: use, partitions: info?.exists === true ? info.partitions : 0 };
  });
}

/** What was found, when every needed topic exists; throws `TOPIC_MISSING` naming each that does not, or `KAFKA_FAILED`. */
export async function requireTopics(admin: KafkaAdmin, config: Config): Promise<readonly TopicFinding[]> {
  const found = await findTopics(admin, config);
  const missing = found.filter(({ partitions }) => partitions === 0);
  if (missing.length === 0) return found;
  const lines = missing.map(({ topic, for: use }) => `  ${topic} (${use})`);
  throw new Fault(
    'TOPIC_MISSING',
    ['These topics do not exist; run `fraud-connector topics create` or create them your way:', ...lines].join('\n'),
  );
}

/** Creates what is missing and answers what it created. Topics that exist are left as they are. */
export async function createTopics(
  admin: KafkaAdmin,
  config: Config,
  { partitions, replication }: { readonly partitions: number; readonly replication: number },
): Promise<readonly TopicFinding[]> {
  const missing = (await findTopics(admin, config)).filter((finding) => finding.partitions === 0);
  if (missing.length > 0) await admin.createTopics(missing.map(({ topic }) => ({ topic, partitions, replication })));
  return missing.map(({ topic, for: use }) => ({ topic, for: use, partitions }));
}
