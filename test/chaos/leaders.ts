import { Kafka, logLevel } from 'kafkajs';

/** Which node leads each partition of the topics, by `topic/partition`; empty where nobody answers. */
export async function leadersOf(
  brokers: readonly string[],
  topics: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const kafka = new Kafka({
    brokers: [...brokers],
    logLevel: logLevel.NOTHING,
    connectionTimeout: 1000,
    requestTimeout: 3000,
    retry: { initialRetryTime: 100, retries: 3 },
  });
  const admin = kafka.admin();
  try {
    await admin.connect();
    const found = await admin.fetchTopicMetadata({ topics: [...topics] });
    return new Map(
      found.topics.flatMap(({ name, partitions }) =>
        partitions.map(({ partitionId, leader }) => [`${name}/${String(partitionId)}`, leader] as const),
      ),
    );
  } catch {
    return new Map();
  } finally {
    await admin.disconnect().catch(() => undefined);
  }
}

/** How many partitions are led by another node than before. */
export function movedBetween(before: ReadonlyMap<string, number>, after: ReadonlyMap<string, number>): number {
  return [...after].filter(([place, leader]) => before.has(place) && before.get(place) !== leader).length;
}
