import { setTimeout as sleep } from 'node:timers/promises';
import { Kafka, logLevel } from 'kafkajs';
import { encodeMap } from '../../src/engine/offset-map.ts';
import { type ClusterViewParts } from './cluster-view.ts';

const UNREAD_MS = 3000;
/** Six digits, as the hash of a cluster has; of none that is here. */
const OTHER_CLUSTER = 'mirror';

/**
 * Leaves what a tool leaves that copies the group's commits from another cluster: the committed offsets, and beside them
 * maps of what was finished there, which says nothing of the records here. To be called while no connector runs.
 */
export async function mirrorMaps({ brokers, groupId, topics }: ClusterViewParts): Promise<number> {
  const [topic = ''] = topics;
  await sleep(UNREAD_MS);
  const kafka = new Kafka({ brokers: [...brokers], logLevel: logLevel.NOTHING });
  const commits = await commitsOf(kafka, groupId, topic);
  const consumer = kafka.consumer({ groupId });
  await consumer.connect();
  try {
    const joined = new Promise<void>((resolve) => {
      consumer.on(consumer.events.GROUP_JOIN, () => {
        resolve();
      });
    });
    await consumer.subscribe({ topics: [topic] });
    await consumer.run({ autoCommit: false, eachMessage: async () => await Promise.resolve() });
    consumer.pause([{ topic }]);
    await joined;
    await consumer.commitOffsets(
      commits.map(({ partition, offset, metadata }) => ({ topic, partition, offset, metadata })),
    );
  } finally {
    await consumer.disconnect();
  }
  return commits.reduce((sum, { claimed }) => sum + claimed, 0);
}

interface Mirrored {
  readonly partition: number;
  readonly offset: string;
  readonly metadata: string;
  /** Records that the map says were finished, and that nobody has read. */
  readonly claimed: number;
}

async function commitsOf(kafka: Kafka, groupId: string, topic: string): Promise<readonly Mirrored[]> {
  const admin = kafka.admin();
  await admin.connect();
  try {
    const [found] = await admin.fetchOffsets({ groupId, topics: [topic] });
    const ends = await admin.fetchTopicOffsets(topic);
    return (found?.partitions ?? []).flatMap(({ partition, offset }) => {
      const committed = BigInt(offset);
      const end = BigInt(ends.find((each) => each.partition === partition)?.high ?? '0');
      const length = Number(end - committed) - 1;
      if (committed < 0n || length < 1) return [];
      const map = { clusterHash: OTHER_CLUSTER, nonce: 'mirrored', offset: committed, timestampMs: null };
      const { text } = encodeMap({ ...map, ranges: [{ from: 1, length }] });
      return [{ partition, offset, metadata: text, claimed: length }];
    });
  } finally {
    await admin.disconnect();
  }
}
