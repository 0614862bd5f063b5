import { Kafka, logLevel } from 'kafkajs';
import { leadersOf } from './leaders.ts';

const OFFSETS = '__consumer_offsets';

export interface ClusterViewParts {
  readonly brokers: readonly string[];
  readonly groupId: string;
  readonly topics: readonly string[];
}

/** What the brokers say of the cluster, and what an operator may do to its topics. The harness's own way leads around all wires. */
export class ClusterView {
  readonly parts: ClusterViewParts;

  constructor(parts: ClusterViewParts) {
    this.parts = parts;
  }

  /** Which node leads each partition of the topics; asked again while nobody answers. */
  async leaders(): Promise<ReadonlyMap<string, number>> {
    for (let tries = 1; ; tries += 1) {
      const leaders = await leadersOf(this.parts.brokers, this.parts.topics);
      if (leaders.size > 0 || tries === 5) return leaders;
    }
  }

  /** The `choice`-th of the nodes that lead partitions now. */
  async leader(choice: number): Promise<number> {
    const leading = [...new Set((await this.leaders()).values())].sort((a, b) => a - b);
    return leading[(choice - 1) % leading.length] ?? choice;
  }

  /** The node that coordinates the group. */
  async coordinator(): Promise<number> {
    const leaders = await leadersOf(this.parts.brokers, [OFFSETS]);
    return leaders.get(`${OFFSETS}/${String(coordinatorPartition(this.parts.groupId, leaders.size))}`) ?? 1;
  }

  /** Makes partitions more in every topic; answers how many one has then. */
  async grow(by: number): Promise<number> {
    return await this.#asAdmin(async (admin) => {
      const { topics } = await admin.fetchTopicMetadata({ topics: [...this.parts.topics] });
      const count = (topics[0]?.partitions.length ?? 0) + by;
      await admin.createPartitions({
        topicPartitions: this.parts.topics.map((topic) => ({ topic, count })),
      });
      return count;
    });
  }

  /** Deletes the records of a partition below this offset. */
  async erase(topic: string, partition: number, offset: number): Promise<void> {
    await this.#asAdmin(async (admin) => {
      // Nothing is deleted of a topic that this client has not heard of.
      await admin.fetchTopicOffsets(topic);
      await admin.deleteTopicRecords({ topic, partitions: [{ partition, offset: String(offset) }] });
    });
  }

  async #asAdmin<T>(work: (admin: ReturnType<Kafka['admin']>) => Promise<T>): Promise<T> {
    const admin = new Kafka({ brokers: [...this.parts.brokers], logLevel: logLevel.NOTHING }).admin();
    await admin.connect();
    try {
      return await work(admin);
    } finally {
      await admin.disconnect();
    }
  }
}

/** The partition of `__consumer_offsets` that a group's commits are in, as the brokers reckon: Java's hash of the name. */
export function coordinatorPartition(groupId: string, partitions: number): number {
  let hash = 0;
  for (let index = 0; index < groupId.length; index += 1) hash = (Math.imul(31, hash) + groupId.charCodeAt(index)) | 0;
  return (hash & 0x7fffffff) % Math.max(1, partitions);
}
