import kafkajs, { type Admin, type PartitionMetadata } from 'kafkajs';
import { type OutgoingRecord, type RecordWriter, type WriteOutcome } from '../../engine/ports.ts';
import { type Clock, type Draw, within } from '../../kernel/clock.ts';
import { type Emit } from '../../kernel/emit.ts';
import { Fault } from '../../kernel/fault.ts';
import { type KafkaClient } from './client.ts';
import { causeCode, kafkaErrorName, withRights } from './errors.ts';
import { TopicWriter } from './topic-writer.ts';

const { Partitioners } = kafkajs;

const DISCONNECT_MS = 5000;

export interface WriterOptions {
  readonly client: KafkaClient;
  readonly clock: Clock;
  readonly draw: Draw;
  readonly emit: Emit;
}

/** A writer of records; `write` connects by itself where `connect` was not called or has failed. */
export interface KafkaWriter extends RecordWriter {
  /** One attempt. Throws Fault `KAFKA_FAILED`. */
  connect(): Promise<void>;
  /** Answers what is still open with `unavailable`; bounded, never rejects. */
  close(): Promise<void>;
}

/**
 * Writes with acknowledgement by all in-sync replicas, in order within a topic-partition, and repeats until the deadline
 * of each record. The partitions of one leader go together, and each is judged by its own answer: kafkajs can resolve
 * although a partition whose leader moved was never written.
 */
export function createKafkaWriter(options: WriterOptions): KafkaWriter {
  return new Writer(options);
}

class Writer implements KafkaWriter {
  readonly #options: WriterOptions;
  readonly #topics = new Map<string, TopicWriter>();
  #admin: Promise<Admin> | null = null;
  #closed = false;

  constructor(options: WriterOptions) {
    this.#options = options;
  }

  async connect(): Promise<void> {
    try {
      await this.#connected();
    } catch (error) {
      throw new Fault('KAFKA_FAILED', `The brokers could not be reached: ${kafkaErrorName(error)}.`, { cause: error });
    }
  }

  async write(record: OutgoingRecord, deadlineMs: number): Promise<WriteOutcome> {
    if (this.#closed) return { do: 'unavailable', error: 'closed' };
    return await this.#topic(record.topic).write(record, deadlineMs);
  }

  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all(
      [...this.#topics.values()].map(async (topic) => {
        await topic.close();
      }),
    );
    const admin = this.#admin;
    this.#admin = null;
    if (admin !== null) await within(this.#options.clock, DISCONNECT_MS, disconnect(admin));
  }

  #topic(topic: string): TopicWriter {
    const known = this.#topics.get(topic);
    if (known !== undefined) return known;
    const { client, clock, draw, emit } = this.#options;
    const writer = new TopicWriter({
      topic,
      clock,
      draw,
      producer: client.brisk.producer({
        allowAutoTopicCreation: false,
        createPartitioner: Partitioners.DefaultPartitioner,
        metadataMaxAge: 60_000,
        retry: { retries: 0 },
      }),
      partitioner: Partitioners.DefaultPartitioner(),
      partitionsOf: async (of) => await this.#partitionsOf(of),
      onRetry: (error) => {
        emit('writer_retry', { topic, error: withRights(error, { topic: ['Write', topic] }) });
      },
    });
    this.#topics.set(topic, writer);
    return writer;
  }

  async #partitionsOf(topic: string): Promise<readonly PartitionMetadata[]> {
    const admin = await this.#connected();
    try {
      const { topics } = await admin.fetchTopicMetadata({ topics: [topic] });
      return topics.find(({ name }) => name === topic)?.partitions ?? [];
    } catch (error) {
      if (causeCode(error) === 'UNKNOWN_TOPIC_OR_PARTITION') return [];
      const failed = this.#admin;
      this.#admin = null;
      if (failed !== null) void disconnect(failed);
      throw error;
    }
  }

  async #connected(): Promise<Admin> {
    const opening = (this.#admin ??= open(this.#options.client));
    try {
      return await opening;
    } catch (error) {
      if (this.#admin === opening) this.#admin = null;
      throw error;
    }
  }
}

async function open(client: KafkaClient): Promise<Admin> {
  const admin = client.brisk.admin();
  await admin.connect();
  return admin;
}

async function disconnect(admin: Promise<Admin>): Promise<void> {
  try {
    await (await admin).disconnect();
  } catch {
    // It was on its way out.
  }
}
