import { randomUUID } from 'node:crypto';
import { Kafka, logLevel, Partitioners } from 'kafkajs';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest';
import { createKafkaAdmin, type KafkaAdmin } from '../../src/edges/kafka/admin.ts';
import { createKafkaWriter, type KafkaWriter } from '../../src/edges/kafka/writer.ts';
import { systemClock, systemDraw } from '../../src/edges/system/clock.ts';
import { type OutgoingRecord, type WriteOutcome } from '../../src/engine/ports.ts';
import { isFault } from '../../src/kernel/fault.ts';
import { connect } from './worlds.ts';

const anyTopic = (): string => `written-${randomUUID()}`;

describe('a writer', () => {
  let admin: KafkaAdmin;
  let writer: KafkaWriter;
  let topic: string;
  const record = (key: string | null, value: string): OutgoingRecord => ({
    topic,
    key: key === null ? null : Buffer.from(key),
    value: Buffer.from(value),
    headers: { a: '1' },
  });

  beforeAll(() => {
    admin = createKafkaAdmin(connect(inject('kafka').brokers).client);
  });
  beforeEach(async () => {
    topic = anyTopic();
    await admin.createTopics([{ topic, partitions: 4, replication: 1 }]);
    const { client, emit } = connect(inject('kafka').brokers);
    writer = createKafkaWriter({ client, emit, clock: systemClock, draw: systemDraw });
  });
  afterEach(async () => {
    await writer.close();
  });
  afterAll(async () => {
    await admin.close();
  });

  const highs = async (): Promise<number[]> => (await admin.watermarks(topic)).map(({ high }) => Number(high));

  test('answers unavailable at the deadline where the topic is missing', async () => {
    const beforeMs = performance.now();
    const outcome = await writer.write({ ...record('k', 'v'), topic: anyTopic() }, 600);
    expect(outcome).toEqual({ do: 'unavailable', error: 'topic missing' });
    expect(performance.now() - beforeMs).toBeGreaterThan(550);
    expect(performance.now() - beforeMs).toBeLessThan(1500);
  });

  test('answers unavailable at the deadline where no broker is there, and says so when asked to connect', async () => {
    const { client, emit } = connect(['127.0.0.1:9']);
    const away = createKafkaWriter({ client, emit, clock: systemClock, draw: systemDraw });
    expect(await away.write(record('k', 'v'), 500)).toMatchObject({ do: 'unavailable' });
    await expect(away.connect()).rejects.toSatisfy((error) => isFault(error, 'KAFKA_FAILED'));
    await away.close();
  });

  test('writes when the topic comes before the deadline', async () => {
    topic = anyTopic();
    const late = writer.write(record('k', 'v'), 10_000);
    await admin.createTopics([{ topic, partitions: 1, replication: 1 }]);
    expect(await late).toEqual({ do: 'written', partition: 0, offset: 0n });
  });

  test('refuses the one record that is too large and writes its neighbours in order', async () => {
    topic = anyTopic();
    // Smaller than a batch of ours: so one is refused as a whole first.
    const config = { 'max.message.bytes': '20000' };
    await admin.createTopics([{ topic, partitions: 1, replication: 1, config }]);
    const outcomes = await Promise.all(
      ['a', 'b', 'x'.repeat(30_000), 'c', 'd'].map(async (value) => await writer.write(record('k', value), 10_000)),
    );
    expect(outcomes.map((outcome) => outcome.do)).toEqual(['written', 'written', 'refused', 'written', 'written']);
    expect(outcomes[2]).toEqual({ do: 'refused', why: 'too_large' });
    expect(offsets(outcomes)).toEqual([0, 1, 2, 3]);
  });

  test('refuses a record on which brokers end the connection, for it is more than they take in one request', async () => {
    // Their `socket.request.max.bytes` is 100 MiB.
    const large = { ...record('k', ''), value: Buffer.alloc(101 * 1024 * 1024) };
    expect(await writer.write(large, 60_000)).toEqual({ do: 'refused', why: 'too_large' });
    expect(await writer.write(record('k', 'v'), 10_000)).toMatchObject({ do: 'written' });
  });

  test('refuses alone the record that a topic does not take', async () => {
    topic = anyTopic();
    const config = { 'cleanup.policy': 'compact' };
    await admin.createTopics([{ topic, partitions: 1, replication: 1, config }]);
    const outcomes = await Promise.all(
      ['k', null, 'k', 'k'].map(async (key) => await writer.write(record(key, 'v'), 10_000)),
    );
    expect(outcomes[1]).toEqual({ do: 'refused', why: 'invalid' });
    expect(offsets(outcomes)).toEqual([0, 1, 2]);
  });

  test('acknowledges each record with its place, in the order of the calls, over all partitions at once', async () => {
    const calls = Array.from({ length: 2000 }, (_, index) => record(`key ${index % 50}`, String(index)));
    const outcomes = await Promise.all(calls.map(async (call) => await writer.write(call, 20_000)));
    const last = new Map<number, bigint>();
    for (const outcome of outcomes) {
      if (outcome.do !== 'written') throw new Error(outcome.do);
      expect(outcome.offset).toBe((last.get(outcome.partition) ?? -1n) + 1n);
      last.set(outcome.partition, outcome.offset);
    }
    expect(last.size).toBe(4);
    expect((await highs()).reduce((sum, high) => sum + high, 0)).toBe(2000);
  });

  test("chooses the partition that Kafka's own clients choose", async () => {
    const { client } = connect(inject('kafka').brokers);
    const other = new Kafka({ brokers: [...client.settings.brokers], logLevel: logLevel.NOTHING });
    const producer = other.producer({ createPartitioner: Partitioners.DefaultPartitioner });
    await producer.connect();
    for (const key of ['a', 'payment-17', 'é']) {
      const [theirs] = await producer.send({ topic, messages: [{ key, value: 'v' }] });
      expect(await writer.write(record(key, 'v'), 5000)).toMatchObject({ partition: theirs?.partition });
    }
    await producer.disconnect();
  });

  test('answers what is open with unavailable when it is closed, and everything afterwards', async () => {
    const open = writer.write({ ...record('k', 'v'), topic: anyTopic() }, 60_000);
    await writer.close();
    expect(await open).toEqual({ do: 'unavailable', error: 'closed' });
    expect(await writer.write(record('k', 'v'), 1000)).toEqual({ do: 'unavailable', error: 'closed' });
  });
});

describe('the admin', () => {
  let admin: KafkaAdmin;
  beforeAll(() => {
    admin = createKafkaAdmin(connect(inject('kafka').brokers).client);
  });
  afterAll(async () => {
    await admin.close();
  });

  test('names what failed where no broker is there', async () => {
    const away = createKafkaAdmin(connect(['127.0.0.1:9']).client);
    await expect(away.clusterId()).rejects.toThrow(/127\.0\.0\.1:9: reading the cluster id failed/);
    await away.close();
  });

  test('tells topics that exist from those that do not, and creates only these', async () => {
    const [one, two] = [anyTopic(), anyTopic()];
    expect(await admin.createTopics([{ topic: one, partitions: 3, replication: 1 }])).toEqual([one]);
    expect(
      await admin.createTopics([
        { topic: one, partitions: 5, replication: 1 },
        { topic: two, partitions: 1, replication: 1 },
      ]),
    ).toEqual([two]);
    expect(await admin.topics([one, two, 'missing'])).toEqual([
      { name: one, exists: true, partitions: 3, replicas: 1, minInsync: 1 },
      { name: two, exists: true, partitions: 1, replicas: 1, minInsync: 1 },
      { name: 'missing', exists: false, partitions: 0, replicas: 0, minInsync: null },
    ]);
    expect(await admin.clusterId()).not.toBe('');
  });
});

function offsets(outcomes: readonly WriteOutcome[]): number[] {
  return outcomes.flatMap((outcome) => (outcome.do === 'written' ? [Number(outcome.offset)] : []));
}
