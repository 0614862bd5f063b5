import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Kafka, logLevel, Partitioners, type Producer } from 'kafkajs';
import { createKafkaAdmin, type KafkaAdmin } from '../../src/edges/kafka/admin.ts';
import { createKafkaClient, type KafkaClient } from '../../src/edges/kafka/client.ts';
import { FenceFeed } from '../../src/edges/kafka/fence-feed.ts';
import { OffsetReader } from '../../src/edges/kafka/offset-reader.ts';
import { createKafkaSource } from '../../src/edges/kafka/source.ts';
import { systemClock, systemDraw } from '../../src/edges/system/clock.ts';
import { assignUnits } from '../../src/engine/assignment.ts';
import {
  type AssignedPartition,
  type Source,
  type SourceEvents,
  type SourceRecord,
  type TopicPartition,
} from '../../src/engine/ports.ts';
import { type Emit, type EventName } from '../../src/kernel/emit.ts';
import { InMemoryBroker, InMemorySource } from '../support/in-memory-source.ts';

/** Everything a source has said, in order, and the places where a test may interfere. */
export class Recorder implements SourceEvents {
  readonly log: string[] = [];
  readonly received: SourceRecord[] = [];
  readonly spans: { readonly from: bigint; readonly next: bigint }[] = [];
  readonly assignments: (readonly AssignedPartition[])[] = [];
  barriers = 0;
  losses = 0;
  onBarrier: () => Promise<void> = async () => {
    await Promise.resolve();
  };
  onAssigned: (partitions: readonly AssignedPartition[]) => void = () => {};
  onRecords: (at: TopicPartition, records: readonly SourceRecord[]) => void = () => {};

  async barrier(): Promise<void> {
    this.log.push('barrier begins');
    await this.onBarrier();
    this.barriers += 1;
    this.log.push('barrier ends');
  }

  assigned(partitions: readonly AssignedPartition[]): void {
    this.log.push('assigned');
    this.assignments.push(partitions);
    this.onAssigned(partitions);
  }

  records(at: TopicPartition, from: bigint, next: bigint, records: readonly SourceRecord[]): void {
    this.log.push('records');
    this.spans.push({ from, next });
    this.onRecords(at, records);
    this.received.push(...records);
  }

  position(): void {
    this.log.push('position');
  }

  lost(): void {
    this.log.push('lost');
    this.losses += 1;
  }

  /** `topic/partition` of the newest assignment. */
  get owned(): string[] {
    return (this.assignments.at(-1) ?? []).map(({ topic, partition }) => `${topic}/${partition}`).sort();
  }

  get values(): string[] {
    return this.received.map(({ value }) => String(value));
  }
}

/** What the contract needs of a cluster, whatever stands behind it. */
export interface World {
  createTopic(partitions: number): Promise<string>;
  append(topic: string, partition: number, values: readonly string[]): Promise<void>;
  source(groupId: string, topics: readonly string[]): Source;
  committed(groupId: string, at: TopicPartition): Promise<{ offset: bigint | null; metadata: string }>;
  /** Ends the membership of a source that has been assigned `at`, from inside. */
  crash(source: Source, recorder: Recorder, at: TopicPartition): Promise<void>;
  /** Deletes what is below the offset. */
  expire(topic: string, partition: number, low: bigint): Promise<void>;
  /** Resolves when the condition holds; rejects after a while. */
  until(condition: () => boolean): Promise<void>;
  /** Gives what must not happen the time to happen. */
  linger(): Promise<void>;
  /** Names of what was said. */
  readonly said: readonly EventName[];
  close(): Promise<void>;
}

export async function inMemoryWorld(): Promise<World> {
  await Promise.resolve();
  const broker = new InMemoryBroker();
  return {
    said: [],
    createTopic: async (partitions) => {
      await Promise.resolve();
      const topic = `topic-${randomUUID()}`;
      broker.createTopic(topic, partitions);
      return topic;
    },
    append: async (topic, partition, values) => {
      await Promise.resolve();
      for (const value of values) broker.append(topic, partition, { key: 'k', value });
    },
    source: (groupId, topics) => broker.source(groupId, topics),
    committed: async (groupId, { topic, partition }) => {
      await Promise.resolve();
      const found = broker.committed(groupId, topic, partition);
      return { offset: found?.offset ?? null, metadata: found?.metadata ?? '' };
    },
    crash: async (source) => {
      await Promise.resolve();
      if (source instanceof InMemorySource) source.crash();
    },
    expire: async (topic, partition, low) => {
      await Promise.resolve();
      broker.expire(topic, partition, low);
    },
    until: async (condition) => {
      for (let tries = 0; tries < 100; tries += 1) {
        if (condition()) return;
        await broker.step();
      }
      throw new Error('it did not come to that');
    },
    linger: async () => {
      for (let tries = 0; tries < 5; tries += 1) await broker.step();
    },
    close: async () => {
      await Promise.resolve();
    },
  };
}

export const SESSION_MS = 6000;

/** A client whose events are collected. */
export function connect(brokers: readonly string[]): {
  readonly client: KafkaClient;
  readonly emit: Emit;
  readonly said: EventName[];
} {
  const said: EventName[] = [];
  const emit: Emit = (event) => {
    said.push(event);
  };
  const settings = { brokers, clientId: 'contract', sessionTimeoutMs: SESSION_MS };
  return { client: createKafkaClient(settings, emit), emit, said };
}

export async function kafkaWorld(brokers: readonly string[]): Promise<World> {
  const { client, emit, said } = connect(brokers);
  const admin: KafkaAdmin = createKafkaAdmin(client);
  const offsets = new OffsetReader(client);
  const kafka = new Kafka({ brokers: [...brokers], logLevel: logLevel.NOTHING });
  const producer: Producer = kafka.producer({ createPartitioner: Partitioners.DefaultPartitioner });
  const raw = kafka.admin();
  await Promise.all([producer.connect(), raw.connect()]);
  const append: World['append'] = async (topic, partition, values) => {
    await producer.send({
      topic,
      messages: values.map((value) => ({ partition, key: 'k', value, headers: { h: 'v' } })),
    });
  };
  return {
    said,
    append,
    createTopic: async (partitions) => {
      const topic = `topic-${randomUUID()}`;
      await admin.createTopics([{ topic, partitions, replication: 1 }]);
      return topic;
    },
    source: (groupId, topics) =>
      createKafkaSource({
        client,
        groupId,
        topics,
        emit,
        sessionTimeoutMs: SESSION_MS,
        clock: systemClock,
        draw: systemDraw,
        fence: new FenceFeed({ clock: systemClock, sessionTimeoutMs: SESSION_MS }),
        assign: assignUnits,
      }),
    committed: async (groupId, at) => {
      const [found] = await offsets.readBack(groupId, [at]);
      return { offset: found?.committed ?? null, metadata: found?.metadata ?? '' };
    },
    crash: async (_source, recorder, { topic, partition }) => {
      const before = recorder.onRecords;
      recorder.onRecords = () => {
        recorder.onRecords = before;
        throw new TypeError('a defect');
      };
      await append(topic, partition, ['the last straw']);
    },
    expire: async (topic, partition, low) => {
      await raw.fetchTopicOffsets(topic);
      await raw.deleteTopicRecords({ topic, partitions: [{ partition, offset: low.toString() }] });
    },
    until: async (condition) => {
      const deadlineMs = performance.now() + 30_000;
      while (!condition()) {
        if (performance.now() > deadlineMs) throw new Error('it did not come to that');
        await sleep(20);
      }
    },
    linger: async () => {
      await sleep(1000);
    },
    close: async () => {
      await Promise.all([producer.disconnect(), raw.disconnect(), admin.close(), offsets.close()]);
    },
  };
}
