import { randomUUID } from 'node:crypto';
import { type EachBatchPayload, Kafka, logLevel } from 'kafkajs';
import { type Config } from '../../src/config/config.ts';
import { eventually } from '../support/eventually.ts';
import { type Logged, type TopicContents } from './sightings.ts';

const READ_LIMIT_MS = 120_000;

type Each = (payload: EachBatchPayload) => void;

const inOrder = (a: Logged, b: Logged): number => a.offset - b.offset;

const keep =
  (to: Logged[]): Each =>
  ({ batch }) => {
    for (const { key, value, offset, timestamp } of batch.messages) {
      const { trans_id: transId } = JSON.parse(String(value)) as { trans_id: string };
      const at = { partition: batch.partition, offset: Number(offset), timestampMs: Number(timestamp) };
      to.push({ ...at, key: String(key), transId });
    }
  };

/** The records of one topic of payments or statuses that are there now. */
export async function readTopic(config: Config, topic: string): Promise<readonly Logged[]> {
  const records: Logged[] = [];
  await readAll(config.kafka.brokers, { [topic]: keep(records) });
  return records.sort(inOrder);
}

/** Everything that is in the topics now, as any other service would read it. */
export async function readTopics(config: Config): Promise<TopicContents> {
  const { created, authorized, scores, reviews, deadLetterSuffix } = config.topics;
  const [scored, reviewed] = [new Set<string>(), new Set<string>()];
  const contents = { created: [] as Logged[], authorized: [] as Logged[], letters: 0, reviewRecords: 0 };
  const letters: Each = ({ batch }) => {
    contents.letters += batch.messages.length;
  };
  const topics: Record<string, Each> = {
    [created]: keep(contents.created),
    [authorized]: keep(contents.authorized),
    [`${created}${deadLetterSuffix}`]: letters,
    [`${authorized}${deadLetterSuffix}`]: letters,
    [`${reviews}${deadLetterSuffix}`]: letters,
    [reviews]: ({ batch }) => {
      contents.reviewRecords += batch.messages.length;
      for (const { key } of batch.messages) reviewed.add(String(key));
    },
    [scores ?? '']: ({ batch }) => {
      for (const { key } of batch.messages) scored.add(String(key));
    },
  };
  await readAll(config.kafka.brokers, topics);
  const inTopics = { ...contents, scored, reviewed, erased: [] };
  return { ...inTopics, created: contents.created.sort(inOrder), authorized: contents.authorized.sort(inOrder) };
}

async function readAll(brokers: readonly string[], topics: Readonly<Record<string, Each>>): Promise<void> {
  const kafka = new Kafka({ brokers: [...brokers], logLevel: logLevel.NOTHING });
  const names = Object.keys(topics);
  const left = await endsOf(kafka, names);
  const consumer = kafka.consumer({ groupId: `reader-${randomUUID()}`, maxWaitTimeInMs: 100 });
  await consumer.connect();
  try {
    await consumer.subscribe({ topics: names, fromBeginning: true });
    await consumer.run({
      autoCommit: false,
      eachBatch: async (payload) => {
        const { topic, partition } = payload.batch;
        topics[topic]?.(payload);
        const place = `${topic}/${String(partition)}`;
        if (Number(payload.batch.lastOffset()) + 1 >= (left.get(place) ?? 0)) left.delete(place);
        await Promise.resolve();
      },
    });
    await eventually('every topic is read to its end', () => left.size === 0, READ_LIMIT_MS);
  } finally {
    await consumer.disconnect();
  }
}

/** The end of each partition that is not empty. */
async function endsOf(kafka: Kafka, topics: readonly string[]): Promise<Map<string, number>> {
  const admin = kafka.admin();
  await admin.connect();
  try {
    const ends = new Map<string, number>();
    for (const topic of topics) {
      for (const { partition, high } of await admin.fetchTopicOffsets(topic)) {
        if (Number(high) > 0) ends.set(`${topic}/${String(partition)}`, Number(high));
      }
    }
    return ends;
  } finally {
    await admin.disconnect();
  }
}
