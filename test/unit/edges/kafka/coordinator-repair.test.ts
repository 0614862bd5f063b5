import { describe, expect, test } from 'vitest';
import {
  beatsOf,
  followCoordinator,
  membershipOf,
  onUnknownTopic,
} from '../../../../src/edges/kafka/coordinator-repair.ts';
import { type ConsumerGroup, type GroupBroker } from '../../../../src/edges/kafka/group-internals.ts';
import { settled } from '../../../support/manual-clock.ts';

const failing = (name: string, type?: string): Error => Object.assign(new Error('x'), { name, type });

/** A member of a group over three brokers, coordinated by the first; each says who it thinks coordinates. */
const member = async ({ says = 2, error = failing('KafkaJSConnectionError'), ill = [1] } = {}) => {
  const rejected: string[] = [];
  const beaten: number[] = [];
  const synced: unknown[] = [];
  const committed: unknown[] = [];
  const broker = (nodeId: number): GroupBroker => ({
    nodeId,
    connectionPool: {
      host: 'h',
      port: nodeId,
      pool: [{ rejectRequests: ({ name }) => rejected.push(`${String(nodeId)} ${name}`) }],
    },
    isConnected: () => true,
    syncGroup: async (of) => {
      synced.push([nodeId, of]);
      await Promise.resolve();
    },
    findGroupCoordinator: async () => await Promise.resolve({ coordinator: { nodeId: says } }),
  });
  const brokers = { 1: broker(1), 2: broker(2), 3: broker(3) };
  let refreshed = 0;
  let lastRequest = 0;
  const group: ConsumerGroup = {
    groupId: 'g',
    get lastRequest() {
      return lastRequest;
    },
    cluster: {
      brokerPool: {
        brokers,
        findBroker: async ({ nodeId }) => {
          const found = Object.values(brokers).find((of) => of.nodeId === nodeId);
          return found === undefined
            ? await Promise.reject(failing('KafkaJSBrokerNotFound'))
            : await Promise.resolve(found);
        },
      },
      refreshMetadata: async () => {
        refreshed += 1;
        await Promise.resolve();
      },
    },
    generationId: null,
    memberId: null,
    retrier: async () => await Promise.resolve(),
    coordinator: brokers[1],
    offsetManager: { coordinator: brokers[1] },
    connect: async () => await Promise.resolve(),
    commitOffsets: async ({ topics }) => {
      committed.push(topics);
      await Promise.resolve();
    },
    joinAndSync: async () => await Promise.resolve(),
    recoverFromFetch: async (failure) =>
      await Promise.reject(failure instanceof Error ? failure : new Error('not an error')),
    heartbeat: async function heartbeat() {
      const { nodeId } = this.coordinator ?? { nodeId: 0 };
      beaten.push(nodeId);
      if (ill.includes(nodeId)) await Promise.reject(error);
      lastRequest += 1;
    },
  };
  followCoordinator(group);
  await group.connect();
  return { group, brokers, rejected, beaten, synced, committed, refreshed: () => refreshed };
};

describe('a member', () => {
  test('commits without a batch to ask for it', async () => {
    const { group, committed } = await member();
    const offsets = [{ topic: 't', partitions: [{ partition: 0, offset: '5', metadata: 'm' }] }];
    await membershipOf(group.cluster)?.commit(offsets);
    expect(committed).toEqual([offsets]);
  });
});

describe('a member whose coordinator is gone', () => {
  test('keeps to it after an error that says nothing of the coordinator', async () => {
    const { group, brokers } = await member({ error: failing('KafkaJSProtocolError', 'REBALANCE_IN_PROGRESS') });
    await expect(group.heartbeat({ interval: 1 })).rejects.toMatchObject({ type: 'REBALANCE_IN_PROGRESS' });
    expect(group.coordinator).toBe(brokers[1]);
  });

  test('keeps to it, and tells the error, while the others know no other one', async () => {
    const { group, brokers, beaten } = await member({ says: 1 });
    await expect(group.heartbeat({ interval: 1 })).rejects.toMatchObject({ name: 'KafkaJSConnectionError' });
    expect(group.coordinator).toBe(brokers[1]);
    expect(beaten).toEqual([1]);
  });

  test('has the metadata read again for one that is not in them', async () => {
    const { group, refreshed } = await member({ says: 9 });
    await expect(group.heartbeat({ interval: 1 })).rejects.toMatchObject({ name: 'KafkaJSConnectionError' });
    expect(refreshed()).toBe(1);
  });

  test.each([
    failing('KafkaJSConnectionError'),
    failing('KafkaJSConnectionClosedError'),
    failing('KafkaJSRequestTimeoutError'),
    Object.assign(failing('KafkaJSConnectionError'), { code: 'ECONNREFUSED' }),
    failing('KafkaJSProtocolError', 'NOT_COORDINATOR_FOR_GROUP'),
  ])('goes on with the new one, heartbeats and commits alike: $name $type', async (error) => {
    const { group, brokers, beaten } = await member({ error });
    await group.heartbeat({ interval: 1 });
    expect(beaten).toEqual([1, 2]);
    expect(group.offsetManager?.coordinator).toBe(brokers[2]);
    expect(beatsOf(group)).toBe(1);
  });

  test.each(['NOT_COORDINATOR_FOR_GROUP', 'GROUP_LOAD_IN_PROGRESS'])(
    'neither joins nor ends while the new one says %s: it has not read the group yet',
    async (type) => {
      const { group, brokers, beaten } = await member({ error: failing('KafkaJSProtocolError', type), ill: [1, 2] });
      await group.heartbeat({ interval: 1 });
      await group.heartbeat({ interval: 1 });
      expect(group.coordinator).toBe(brokers[2]);
      expect(beaten).toEqual([1, 2, 2]);
      expect(beatsOf(group)).toBe(0);
    },
  );

  test('leaves the matter to kafkajs where no other broker can be asked', async () => {
    const error = failing('KafkaJSProtocolError', 'NOT_COORDINATOR_FOR_GROUP');
    const { group, brokers } = await member({ error });
    for (const broker of Object.values(brokers)) Object.assign(broker, { isConnected: () => false });
    await expect(group.heartbeat({ interval: 1 })).rejects.toBe(error);
  });

  test('leaves alone what a join has found meanwhile', async () => {
    const { group, brokers } = await member();
    const beat = group.heartbeat({ interval: 1 });
    await Promise.resolve();
    group.coordinator = brokers[3];
    await beat;
    expect(group.coordinator).toBe(brokers[3]);
  });

  test('waits no longer for answers of the old one when it has moved without a word', async () => {
    const { group, brokers, rejected } = await member();
    expect(await membershipOf(group.cluster)?.findCoordinator()).toBe(true);
    expect(group.coordinator).toBe(brokers[2]);
    expect(rejected).toEqual(['1 KafkaJSConnectionClosedError']);
  });

  test('confirms its membership with a sync of the present generation, of a group that is settled: without assignments', async () => {
    const { group, synced } = await member();
    await expect(membershipOf(group.cluster)?.confirm()).rejects.toThrow('no generation');
    Object.assign(group, { generationId: 7, memberId: 'm' });
    await membershipOf(group.cluster)?.confirm();
    expect(synced).toEqual([[1, { groupId: 'g', generationId: 7, memberId: 'm', groupAssignment: [] }]]);
  });

  test('is not asked for where no consumer has begun', () => {
    expect(membershipOf({})).toBeNull();
  });
});

describe('a topic that the brokers do not know', () => {
  test('is told, and its error goes on', async () => {
    const { group } = await member();
    let told = 0;
    onUnknownTopic(group.cluster, () => {
      told += 1;
    });
    await expect(group.recoverFromFetch(failing('X', 'NOT_LEADER_FOR_PARTITION'))).rejects.toBeInstanceOf(Error);
    await expect(group.recoverFromFetch(failing('X', 'UNKNOWN_TOPIC_OR_PARTITION'))).rejects.toBeInstanceOf(Error);
    await settled();
    expect(told).toBe(1);
  });
});
