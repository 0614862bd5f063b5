import kafkajs, { type Cluster } from 'kafkajs';
import { type KafkaClient } from './client.ts';

const { PartitionAssigners } = kafkajs;

/** What a commit says that is no member's. The brokers take it while the group has no members. */
const NO_GENERATION = -1;
const NO_MEMBER = '';

/**
 * Commits offsets of a topic for a group without joining it. The brokers refuse it (`UNKNOWN_MEMBER_ID`) while the group
 * has members. kafkajs' own way to do this joins the group, waits 5 s for a fetch that brings nothing, and never answers
 * where its join fails.
 */
export async function commitWithoutMember(
  client: KafkaClient,
  groupId: string,
  topic: string,
  offsets: ReadonlyMap<number, bigint>,
): Promise<void> {
  let cluster: Cluster | null = null;
  const consumer = client.brisk.consumer({
    groupId,
    allowAutoTopicCreation: false,
    partitionAssigners: [
      (parts) => {
        // kafkajs shows its connection to the cluster here alone.
        ({ cluster } = parts);
        return PartitionAssigners.roundRobin(parts);
      },
    ],
  });
  try {
    await consumer.connect();
    await consumer.subscribe({ topics: [topic] });
    const coordinator = await found(cluster).findGroupCoordinator({ groupId });
    const partitions = [...offsets].map(([partition, offset]) => ({ partition, offset: String(offset) }));
    const commit = { groupGenerationId: NO_GENERATION, memberId: NO_MEMBER, topics: [{ topic, partitions }] };
    await coordinator.offsetCommit({ groupId, ...commit });
  } finally {
    await consumer.disconnect().catch(() => undefined);
  }
}

function found(cluster: Cluster | null): Cluster {
  if (cluster === null) throw new Error('kafkajs shows its connection to the cluster no more');
  return cluster;
}
