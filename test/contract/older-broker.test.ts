import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type KafkaAndRegistry, startKafka } from '../../src/sandbox/broker/start.ts';
import { Members, numbered, offsetsByPartition, range } from './members.ts';
import { type KafkaWorld, kafkaWorld } from './worlds.ts';

describe('a source kafkajs over Kafka 3.9', () => {
  let kafka: KafkaAndRegistry;
  let world: KafkaWorld;
  const members = new Members(() => world);

  beforeAll(async () => {
    // Brokers that were given are of whatever version.
    const { KAFKA_BROKERS: _given, ...env } = process.env;
    kafka = await startKafka({ kafkaVersion: '3.9.2', registry: false, env, say: () => {} });
    world = await kafkaWorld(kafka.brokers);
  });
  afterEach(async () => {
    await members.stopAll();
  });
  afterAll(async () => {
    await world.close();
    await kafka.stop();
  });

  test('reads, commits in the barrier and shares with a second member', async () => {
    const topics = [await world.createTopic(4), await world.createTopic(4)];
    const groupId = randomUUID();
    const append = async (count: number, from: number): Promise<void> => {
      for (const topic of topics)
        for (const partition of range(4)) await world.append(topic, partition, numbered(count, from));
    };
    await append(20, 0);
    const first = await members.keeper(groupId, topics);
    await world.until(() => first.recorder.values.length === 160);
    const second = await members.keeper(groupId, topics);
    const recorders = [first.recorder, second.recorder];
    await world.until(() => recorders.every(({ owned }) => owned.length === 4));
    await append(20, 20);
    await world.until(() => recorders.flatMap(({ values }) => values).length === 320);
    for (const offsets of offsetsByPartition(recorders).values()) expect(offsets).toEqual(range(40));
  });

  test('keeps what is committed, with its metadata, for the next member', async () => {
    const topic = await world.createTopic(1);
    const groupId = randomUUID();
    await world.append(topic, 0, numbered(8));
    const first = await members.reader(groupId, [topic]);
    await world.until(() => first.recorder.values.length === 8);
    await first.source.commit([{ topic, partition: 0, offset: 6n, metadata: 'map' }]);
    await first.source.stop();
    const second = await members.reader(groupId, [topic]);
    await world.until(() => second.recorder.values.length === 2);
    expect(second.recorder.assignments[0]).toMatchObject([{ committed: 6n, metadata: 'map' }]);
  });
});
