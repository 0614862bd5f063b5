import { type Admin } from 'kafkajs';
import { type AssignedPartition, type LogRange, type TopicPartition } from '../../engine/ports.ts';
import { type KafkaClient } from './client.ts';
import { describing, eachTopic } from './each-topic.ts';
import { causeCode, needing, type Rights } from './errors.ts';

/** What the log of a partition holds; `high`: of all, unless a transaction is open. */
export interface Watermarks extends LogRange {
  readonly partition: number;
}

/** Reads what a group has committed and what the logs hold. Reconnects by itself; a failed reading rejects. */
export class OffsetReader {
  readonly #client: Pick<KafkaClient, 'brisk'>;
  #admin: Promise<Admin> | null = null;

  constructor(client: Pick<KafkaClient, 'brisk'>) {
    this.#client = client;
  }

  /** The topics of the list that the cluster does not know. */
  async missing(topics: readonly string[]): Promise<string[]> {
    const found = await eachTopic(topics, async (topic) => await this.#exists(topic));
    return topics.filter((_, index) => found[index] === false);
  }

  /** Committed offset, metadata and watermarks of every partition of the list, all read after the call. */
  async readBack(groupId: string, partitions: readonly TopicPartition[]): Promise<AssignedPartition[]> {
    const topics = [...new Set(partitions.map(({ topic }) => topic))];
    if (topics.length === 0) return [];
    const rights = { ...describing(...topics), group: ['Describe', groupId] } as const;
    return await this.#with(async (admin) => {
      const committed = await admin.fetchOffsets({ groupId, topics });
      const marks = new Map<string, readonly Watermarks[]>();
      for (const topic of topics) marks.set(topic, toWatermarks(await admin.fetchTopicOffsets(topic)));
      return partitions.map(({ topic, partition }) => {
        const mark = marks.get(topic)?.find((of) => of.partition === partition);
        const found = committed.find((of) => of.topic === topic)?.partitions.find((of) => of.partition === partition);
        if (mark === undefined || found === undefined) throw new Error('a partition is missing in the answer');
        const offset = BigInt(found.offset);
        const { low, high } = mark;
        // kafkajs commits -2 or -1 when an offset is out of range, if nobody keeps it from that.
        if (offset < 0n) return { topic, partition, committed: null, metadata: '', low, high };
        return { topic, partition, committed: offset, metadata: found.metadata ?? '', low, high };
      });
    }, rights);
  }

  async watermarks(topic: string): Promise<Watermarks[]> {
    return await this.#with(async (admin) => toWatermarks(await admin.fetchTopicOffsets(topic)), describing(topic));
  }

  /** What the log of one partition holds. */
  async rangeOf({ topic, partition }: TopicPartition): Promise<LogRange> {
    const found = (await this.watermarks(topic)).find((of) => of.partition === partition);
    if (found === undefined) throw new Error('a partition is missing in the answer');
    return { low: found.low, high: found.high };
  }

  async close(): Promise<void> {
    const admin = this.#admin;
    this.#admin = null;
    await admin?.then(async (open) => {
      await open.disconnect();
    }, ignore);
  }

  async #exists(topic: string): Promise<boolean> {
    return await this.#with(async (admin) => {
      try {
        const { topics } = await admin.fetchTopicMetadata({ topics: [topic] });
        return topics.some(({ name, partitions }) => name === topic && partitions.length > 0);
      } catch (error) {
        if (causeCode(error) === 'UNKNOWN_TOPIC_OR_PARTITION') return false;
        throw error;
      }
    });
  }

  async #with<T>(work: (admin: Admin) => Promise<T>, rights: Rights = {}): Promise<T> {
    this.#admin ??= this.#connect();
    const open = this.#admin;
    try {
      return await work(await open);
    } catch (error) {
      needing(error, rights);
      // A connection that failed once is not trusted again.
      if (this.#admin === open) {
        this.#admin = null;
        void open
          .then(async (admin) => {
            await admin.disconnect();
          })
          .catch(ignore);
      }
      throw error;
    }
  }

  async #connect(): Promise<Admin> {
    const admin = this.#client.brisk.admin();
    await admin.connect();
    return admin;
  }
}

/** The same, but that `high` is the offset that the next record will get, whatever transactions are open. */
export function logEndsOf({
  uncommitted,
}: Pick<KafkaClient, 'uncommitted'>): Pick<OffsetReader, 'watermarks' | 'close'> {
  return new OffsetReader({ brisk: uncommitted });
}

function toWatermarks(
  offsets: readonly { readonly partition: number; readonly low: string; readonly high: string }[],
): Watermarks[] {
  return offsets.map(({ partition, low, high }) => ({ partition, low: BigInt(low), high: BigInt(high) }));
}

function ignore(): void {}
