import { type TopicPartition } from '../../src/engine/ports.ts';
import { encodeMap } from '../../src/engine/offset-map.ts';
import { type InMemoryBroker } from './in-memory-broker.ts';
import { type Expiry, type Incident, type Plan } from './world-plan.ts';

export function isExpiry(incident: Incident): incident is Expiry {
  return incident.startsWith('expire');
}

/**
 * Retention takes what lies below, at or above `next`, up to which a partition was read. Only of what the group has
 * committed something: what a new group misses before its first commit is nobody's to report.
 */
export function expire(
  broker: InMemoryBroker,
  group: string,
  { topic, partition, next }: TopicPartition & { readonly next: bigint },
  expiry: Expiry,
): void {
  if (broker.committed(group, topic, partition) === null) return;
  const { low, high } = broker.watermarks(topic, partition);
  const wanted = { 'expire below': next - 1n, 'expire at': next, 'expire above': next + 2n }[expiry];
  const least = wanted > low ? wanted : low;
  broker.expire(topic, partition, least < high ? least : high);
}

/** Commits what another process might have left behind, with a map that must not be believed. */
export function leaveBehind(
  broker: InMemoryBroker,
  what: Exclude<Plan['inherited'], 'nothing'>,
  { group, topic, cluster }: { readonly group: string; readonly topic: string; readonly cluster: string },
): void {
  const offset = what === 'another offset' ? 7n : 0n;
  const clusterHash = what === 'another cluster' ? 'BBBBBB' : cluster;
  const ranges = [{ from: 1, length: 1000 }];
  const { text } = encodeMap({ clusterHash, nonce: 'elder', offset, timestampMs: null, ranges });
  const metadata = what === 'damaged' ? `${text.slice(0, -1)}${text.endsWith('A') ? 'B' : 'A'}` : text;
  for (let partition = 0; partition < broker.partitions(topic); partition += 1)
    broker.commitAs(group, { topic, partition, offset: 0n, metadata });
}
