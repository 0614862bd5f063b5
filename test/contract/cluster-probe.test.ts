import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { BrokerTraffic } from '../../src/edges/kafka/broker-traffic.ts';
import { createKafkaClient } from '../../src/edges/kafka/client.ts';
import { ClusterProbe } from '../../src/edges/kafka/cluster-probe.ts';
import { OffsetReader } from '../../src/edges/kafka/offset-reader.ts';
import { systemClock } from '../../src/edges/system/clock.ts';
import { type KafkaNode } from '../../src/sandbox/broker/node.ts';
import { type KafkaAndRegistry, startKafka } from '../../src/sandbox/broker/start.ts';
import { eventually } from '../support/eventually.ts';
import { type KafkaWorld, kafkaWorld, SESSION_MS } from './worlds.ts';

/** Java's hash of a string: so a group finds its partition of the offsets topic. */
function hashOf(text: string): number {
  let hash = 0;
  for (const unit of text) hash = (Math.imul(31, hash) + (unit.codePointAt(0) ?? 0)) | 0;
  return Math.abs(hash);
}

describe('a probe of a cluster of three', { timeout: 150_000 }, () => {
  let kafka: KafkaAndRegistry;
  let world: KafkaWorld;
  let frozen: KafkaNode | null = null;
  const probes: ClusterProbe[] = [];

  beforeAll(async () => {
    kafka = await startKafka({ nodes: 3, registry: false, env: process.env, say: () => undefined });
  });
  beforeEach(async () => {
    world = await kafkaWorld(kafka.brokers, 3);
  });
  afterEach(async () => {
    await frozen?.kill('SIGCONT');
    frozen = null;
    for (const probe of probes.splice(0)) await probe.close();
    await eventually('every node leads again', async () => {
      const { brokers } = await world.raw.describeCluster();
      return brokers.length === 3;
    });
    await world.close();
  });
  afterAll(async () => {
    await kafka.stop();
  });

  function node(id: number): KafkaNode {
    const found = kafka.nodes.find((each) => each.id === id);
    if (found === undefined) throw new Error(`there is no node ${String(id)}`);
    return found;
  }

  async function freeze(id: number): Promise<void> {
    frozen = node(id);
    await frozen.kill('SIGSTOP');
  }

  /** A topic of one partition with one replica, on this node. */
  async function topicOn(id: number): Promise<string> {
    const topic = `probed-${randomUUID()}`;
    await world.raw.createTopics({ topics: [{ topic, replicaAssignment: [{ partition: 0, replicas: [id] }] }] });
    await eventually('it has a leader', async () => {
      const { topics } = await world.raw.fetchTopicMetadata({ topics: [topic] });
      return topics[0]?.partitions[0]?.leader === id;
    });
    return topic;
  }

  /** A group that this node coordinates. */
  async function groupOn(id: number): Promise<string> {
    const { topics } = await world.raw.fetchTopicMetadata({ topics: ['__consumer_offsets'] });
    const offsets = topics[0]?.partitions ?? [];
    for (;;) {
      const groupId = randomUUID();
      const partition = hashOf(groupId) % offsets.length;
      if (offsets.find(({ partitionId }) => partitionId === partition)?.leader === id) return groupId;
    }
  }

  function probing(topics: readonly string[], groupId: string | null): ClusterProbe {
    const traffic = new BrokerTraffic(systemClock);
    const settings = { brokers: kafka.brokers, clientId: 'probe', sessionTimeoutMs: SESSION_MS, heard: traffic.heard };
    const probe = new ClusterProbe({ client: createKafkaClient(settings, () => undefined), topics, groupId, traffic });
    probes.push(probe);
    return probe;
  }

  test('is answered while the one node that nothing depends on is frozen, each time', async () => {
    const probe = probing([await topicOn(1)], await groupOn(2));
    expect(await probe.probe()).toBeNull();
    await freeze(3);
    for (let n = 0; n < 4; n += 1) expect(await probe.probe()).toBeNull();
  });

  test('names the silence of the one node that leads a topic, and its end', async () => {
    const probe = probing([await topicOn(3)], await groupOn(1));
    expect(await probe.probe()).toBeNull();
    await freeze(3);
    expect(await probe.probe()).toMatch(/Timeout/);
    expect(await probe.probe()).not.toBeNull();
    await frozen?.kill('SIGCONT');
    await eventually('it is answered', async () => (await probe.probe()) === null, 15_000);
  });

  test('names the silence of the one node that coordinates the group, until another one does', async () => {
    const probe = probing([await topicOn(1)], await groupOn(2));
    expect(await probe.probe()).toBeNull();
    await freeze(2);
    expect(await probe.probe()).toMatch(/Timeout/);
    await eventually('another one coordinates', async () => (await probe.probe()) === null);
  });

  test('knows when the client itself was last answered by those that are needed, and by no others', async () => {
    const traffic = new BrokerTraffic(systemClock);
    const settings = { brokers: kafka.brokers, clientId: 'probe', sessionTimeoutMs: SESSION_MS, heard: traffic.heard };
    const client = createKafkaClient(settings, () => undefined);
    const [one, other] = [await topicOn(1), await topicOn(2)];
    const probe = new ClusterProbe({ client, topics: [one], groupId: null, traffic });
    probes.push(probe);
    expect(probe.answeredAtMs()).toBeNull();
    expect(await probe.probe()).toBeNull();
    expect(probe.answeredAtMs()).toBeNull();
    const reader = new OffsetReader(client);
    await reader.watermarks(one);
    const atMs = probe.answeredAtMs();
    expect(atMs).not.toBeNull();
    await reader.close();
    const elsewhere = new OffsetReader(client);
    await elsewhere.watermarks(other);
    await elsewhere.close();
    const sinceMs = systemClock.monotonicMs();
    const again = new OffsetReader(client);
    await again.watermarks(one);
    expect(probe.answeredAtMs()).toBeGreaterThanOrEqual(sinceMs);
    await again.close();
  });

  test('names a topic that is missing', async () => {
    expect(await probing([`missing-${randomUUID()}`], null).probe()).toContain('UNKNOWN_TOPIC_OR_PARTITION');
  });
});
