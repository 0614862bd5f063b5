import { randomUUID } from 'node:crypto';
import kafkajs, { type Admin } from 'kafkajs';
import { afterAll, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest';
import { createKafkaAdmin, type KafkaAdmin } from '../../src/edges/kafka/admin.ts';
import { isFault } from '../../src/kernel/fault.ts';
import { connect } from './worlds.ts';

const { Kafka, logLevel } = kafkajs;

describe('a commit for a group', () => {
  let admin: KafkaAdmin;
  let other: Admin;
  let groupId: string;
  let topic: string;

  beforeAll(async () => {
    const { brokers } = inject('kafka');
    admin = createKafkaAdmin(connect(brokers).client);
    other = new Kafka({ brokers: [...brokers], logLevel: logLevel.NOTHING }).admin();
    await other.connect();
  });
  beforeEach(async () => {
    groupId = `committed-${randomUUID()}`;
    topic = groupId;
    await admin.createTopics([{ topic, partitions: 2, replication: 1 }]);
  });
  afterAll(async () => {
    await admin.close();
    await other.disconnect();
  });

  const commit = async (...offsets: readonly (readonly [partition: number, offset: bigint])[]): Promise<void> => {
    await admin.commitFor(groupId, topic, new Map(offsets));
  };
  const joined = async (): Promise<kafkajs.Consumer> => {
    const consumer = new Kafka({ brokers: [...inject('kafka').brokers], logLevel: logLevel.NOTHING }).consumer({
      groupId,
      maxWaitTimeInMs: 100,
    });
    const joining = new Promise((resolve) => consumer.on(consumer.events.GROUP_JOIN, resolve));
    await consumer.connect();
    await consumer.subscribe({ topics: [topic] });
    await consumer.run({ autoCommit: false, eachMessage: async () => await Promise.resolve() });
    await joining;
    return consumer;
  };

  test('is refused while the group has a member', async () => {
    const consumer = await joined();
    await expect(commit([0, 7n])).rejects.toSatisfy(
      (error) => isFault(error, 'KAFKA_FAILED') && error.message.includes('UNKNOWN_MEMBER_ID'),
    );
    expect(await admin.committed(groupId, topic)).toEqual(new Map());
    await consumer.disconnect();
  });

  test('of a topic that is missing is refused', async () => {
    await expect(admin.commitFor(groupId, `${topic}-not`, new Map([[0, 1n]]))).rejects.toSatisfy((error) =>
      isFault(error, 'KAFKA_FAILED'),
    );
  });

  test('is what the group has committed, and no join: nobody was its member', async () => {
    await commit([0, 7n], [1, 0n]);
    expect(await admin.committed(groupId, topic)).toEqual(
      new Map([
        [0, { offset: 7n, metadata: '' }],
        [1, { offset: 0n, metadata: '' }],
      ]),
    );
    const { groups } = await other.describeGroups([groupId]);
    expect(groups).toMatchObject([{ state: 'Empty', protocolType: '', members: [] }]);
  });

  test('takes the place of what a member had committed, with its metadata', async () => {
    const consumer = await joined();
    await consumer.commitOffsets([{ topic, partition: 0, offset: '0', metadata: 'a plan' }]);
    await consumer.disconnect();
    expect((await admin.committed(groupId, topic)).get(0)).toEqual({ offset: 0n, metadata: 'a plan' });
    await commit([0, 9n]);
    expect((await admin.committed(groupId, topic)).get(0)).toEqual({ offset: 9n, metadata: '' });
  });
});
