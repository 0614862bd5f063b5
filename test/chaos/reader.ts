import { randomUUID } from 'node:crypto';
import { type EachBatchPayload, Kafka, logLevel } from 'kafkajs';
import { type Config } from '../../src/config/config.ts';
import { eventually } from '../support/eventually.ts';
import { useOwnCodecs } from './odd-records.ts';
import { type DeadLetter, type Logged, type Place, type TopicContents } from './sightings.ts';

const READ_LIMIT_MS = 120_000;

type Each = (payload: EachBatchPayload) => void;

const inOrder = (a: Logged, b: Logged): number => a.offset - b.offset;

const keep =
  (to: Logged[], unreadable: Place[] = []): Each =>
  ({ batch: { topic, partition, messages } }) => {
    for (const { key, value, offset, timestamp } of messages) {
      const at = { topic, partition, offset: Number(offset) };
      const transId = transIdIn(value);
      if (transId === null) unreadable.push(at);
      else to.push({ ...at, timestampMs: Number(timestamp), key: String(key), transId });
    }
  };

function transIdIn(value: Buffer | null): string | null {
  try {
    const { trans_id: transId } = JSON.parse(String(value)) as { trans_id?: unknown };
    return typeof transId === 'string' ? transId : null;
  } catch {
    return null;
  }
}

const keepLetters =
  (to: DeadLetter[]): Each =>
  ({ batch }) => {
    for (const { headers = {}, timestamp } of batch.messages) {
      const text = (name: string): string => String(headers[`dlq.${name}`]);
      to.push({
        topic: text('source.topic'),
        partition: Number(text('source.partition')),
        offset: Number(text('source.offset')),
        reason: text('reason'),
        timestampMs: Number(timestamp),
      });
    }
  };

/** The records of one topic of payments or statuses that are there now. */
export async function readTopic(config: Config, topic: string): Promise<readonly Logged[]> {
  const records: Logged[] = [];
  await readAll(config.kafka.brokers, { [topic]: keep(records) });
  return records.sort(inOrder);
}

/** Everything that is in the topics now, what was written in a transaction that was aborted, too. */
export async function readTopics(config: Config): Promise<TopicContents> {
  const { created, authorized, scores, reviews, deadLetterSuffix } = config.topics;
  const [scored, reviewed] = [new Set<string>(), new Set<string>()];
  const contents = {
    created: [] as Logged[],
    authorized: [] as Logged[],
    unreadable: [] as Place[],
    letters: [] as DeadLetter[],
    reviewRecords: 0,
  };
  const letters = keepLetters(contents.letters);
  const topics: Record<string, Each> = {
    [created]: keep(contents.created, contents.unreadable),
    [authorized]: keep(contents.authorized, contents.unreadable),
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
  useOwnCodecs();
  const kafka = new Kafka({ brokers: [...brokers], logLevel: logLevel.NOTHING });
  const names = Object.keys(topics);
  const left = await endsOf(kafka, names);
  const consumer = kafka.consumer({ groupId: `reader-${randomUUID()}`, maxWaitTimeInMs: 100, readUncommitted: true });
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
