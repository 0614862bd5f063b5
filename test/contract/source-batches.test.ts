import { randomUUID } from 'node:crypto';
import { zstdCompressSync } from 'node:zlib';
import kafkajs, { type Producer } from 'kafkajs';
import { afterAll, afterEach, beforeAll, describe, expect, inject, test } from 'vitest';
import { type Source, type TopicPartition } from '../../src/engine/ports.ts';
import { encodeRecord } from '../../src/edges/kafka/write-repair.ts';
import { sendPacked } from '../support/packed-sender.ts';
import { type KafkaWorld, kafkaWorld, Recorder } from './worlds.ts';

const { CompressionTypes, Kafka, logLevel, Partitioners } = kafkajs;

const MIB = 1024 * 1024;

let world: KafkaWorld;
let started: Source[] = [];
const kafka = new Kafka({ brokers: [...inject('kafka').brokers], logLevel: logLevel.NOTHING });
const producers: Producer[] = [];

beforeAll(async () => {
  world = await kafkaWorld(inject('kafka').brokers);
});
afterEach(async () => {
  await Promise.all(
    started.map(async (source) => {
      await source.stop();
    }),
  );
  started = [];
});
afterAll(async () => {
  await Promise.all(
    producers.map(async (producer) => {
      await producer.disconnect();
    }),
  );
  await world.close();
});

async function connected(transactional: boolean): Promise<Producer> {
  const createPartitioner = Partitioners.DefaultPartitioner;
  const own = transactional ? { transactionalId: randomUUID(), maxInFlightRequests: 1, idempotent: true } : {};
  const made = kafka.producer({ createPartitioner, ...own });
  producers.push(made);
  await made.connect();
  return made;
}

/** Reads from the start; answers where it has come to. */
async function reader(topic: string, limits = { recordMaxBytes: MIB, batchMaxBytes: 8 * MIB }) {
  const recorder = new Recorder();
  const source = world.source(randomUUID(), [topic], { limits });
  started.push(source);
  recorder.onAssigned = (partitions) => {
    for (const at of partitions) source.seek(at, at.low);
    source.resume(partitions);
  };
  await source.start(recorder);
  const cameTo = async (next: bigint): Promise<void> => {
    await world.until(() => recorder.spans.at(-1)?.next === next);
  };
  return { source, recorder, cameTo };
}

/** Sends one batch whose records stand in these bytes already. */
async function send(topic: string, records: Buffer, count: number): Promise<void> {
  const packed = zstdCompressSync(records);
  await sendPacked(await connected(false), { topic, partition: 0 }, { codec: CompressionTypes.ZSTD, packed, count });
}

function recordsOf(...values: readonly Buffer[]): Buffer {
  return Buffer.concat(values.map((value, offsetDelta) => encodeRecord({ offsetDelta, value }).buffer));
}

const told = ({ received }: Recorder): readonly string[] =>
  received.map(({ offset, unread, value }) => `${String(offset)} ${unread?.why ?? value?.toString() ?? 'null'}`);

describe('a source over real batches', () => {
  test('hides what was aborted, and nothing else, where transactions of many producers overlap', async () => {
    const topic = await world.createTopic(1);
    const writers = await Promise.all(Array.from({ length: 4 }, async () => await connected(true)));
    const committed: string[] = [];
    const aborted: string[] = [];
    const rounds = writers.map(async (writer, number) => {
      for (let round = 0; round < 15; round += 1) {
        const transaction = await writer.transaction();
        const values = Array.from({ length: 1 + ((round + number) % 4) }, (_, at) => [number, round, at].join('-'));
        // A key like a marker's, as anybody's record may have it.
        const key = (round + number) % 5 === 0 ? Buffer.alloc(4) : 'k';
        for (const value of values) await transaction.send({ topic, messages: [{ partition: 0, key, value }] });
        const isAborted = (round * 7 + number * 3) % 5 < 2;
        (isAborted ? aborted : committed).push(...values);
        await (isAborted ? transaction.abort() : transaction.commit());
      }
    });
    await Promise.all(rounds);
    const [end] = await world.raw.fetchTopicOffsets(topic);
    const { recorder, cameTo } = await reader(topic);
    await cameTo(BigInt(end?.high ?? 0));
    expect(recorder.values.filter((value) => aborted.includes(value))).toEqual([]);
    expect(recorder.values.toSorted()).toEqual(committed.toSorted());
  });

  test('goes on behind markers, and commits where it has read nothing else', async () => {
    const topic = await world.createTopic(1);
    const at: TopicPartition = { topic, partition: 0 };
    const writer = await connected(true);
    for (let round = 0; round < 2; round += 1) {
      const transaction = await writer.transaction();
      await transaction.send({ topic, messages: [{ partition: 0, value: 'aborted' }] });
      await transaction.abort();
    }
    const { source, recorder, cameTo } = await reader(topic);
    await cameTo(4n);
    await expect(source.commit([{ ...at, offset: 4n, metadata: '' }])).resolves.toBeUndefined();
    await world.append(topic, 0, ['a record']);
    await cameTo(5n);
    expect(told(recorder)).toEqual(['4 a record']);
  });

  test('has a record that is too large without content, and the others of its batch whole', async () => {
    const topic = await world.createTopic(1);
    const batch = recordsOf(Buffer.from('a'), Buffer.alloc(4 * MIB), Buffer.from('c'));
    await send(topic, batch, 3);
    await world.append(topic, 0, ['d']);
    const { recorder, cameTo } = await reader(topic);
    await cameTo(4n);
    expect(told(recorder)).toEqual(['0 a', '1 record_too_large', '2 c', '3 d']);
  });

  test('has all records of a batch without content that unpacks to too much', async () => {
    const topic = await world.createTopic(1);
    const batch = recordsOf(Buffer.from('a'), Buffer.alloc(9 * MIB), Buffer.from('c'));
    await send(topic, batch, 3);
    await world.append(topic, 0, ['d']);
    const { recorder, cameTo } = await reader(topic);
    await cameTo(4n);
    expect(told(recorder)).toEqual(['0 record_too_large', '1 record_too_large', '2 record_too_large', '3 d']);
  });

  test('reads a batch in parts that is more than one fetch may take', async () => {
    const topic = await world.createTopic(1);
    const values = Array.from({ length: 60 }, () => Buffer.alloc(MIB - 100));
    await send(topic, recordsOf(...values), 60);
    const { recorder, cameTo } = await reader(topic, { recordMaxBytes: MIB, batchMaxBytes: 256 * MIB });
    await cameTo(60n);
    expect(recorder.received.map(({ offset }) => offset)).toEqual(values.map((_, offset) => BigInt(offset)));
    expect(recorder.received.every(({ value }) => value?.length === MIB - 100)).toBe(true);
    expect(recorder.losses).toBe(0);
  });
});
