import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Admin, Kafka, logLevel, Partitioners, type Producer } from 'kafkajs';
import { createKafkaAdmin, type KafkaAdmin } from '../../src/edges/kafka/admin.ts';
import { createKafkaClient, type KafkaClient } from '../../src/edges/kafka/client.ts';
import { FenceFeed } from '../../src/edges/kafka/fence-feed.ts';
import { OffsetReader } from '../../src/edges/kafka/offset-reader.ts';
import { createKafkaSource, type SourceOptions } from '../../src/edges/kafka/source.ts';
import { systemClock, systemDraw } from '../../src/edges/system/clock.ts';
import { assignUnits } from '../../src/engine/assignment.ts';
import {
  type AssignedPartition,
  type LogRange,
  type Source,
  type SourceEvents,
  type SourceRecord,
  type TopicPartition,
} from '../../src/engine/ports.ts';
import { type Emit, type EventName } from '../../src/kernel/emit.ts';
import { InMemoryBroker } from '../support/in-memory-broker.ts';
import { InMemorySource } from '../support/in-memory-source.ts';

const MIB = 1024 * 1024;
/** As RECORD_MAX_BYTES and BATCH_MAX_BYTES are, unless set. */
const LIMITS = { recordMaxBytes: MIB, batchMaxBytes: 256 * MIB };

/** Everything a source has said, in order, and the places where a test may interfere. */
export class Recorder implements SourceEvents {
  readonly log: string[] = [];
  readonly received: SourceRecord[] = [];
  /** `assignment`: the how manieth they came in. */
  readonly spans: {
    readonly at: TopicPartition;
    readonly from: bigint;
    readonly next: bigint;
    readonly assignment: number;
  }[] = [];
  readonly assignments: (readonly AssignedPartition[])[] = [];
  /** What the source said that a log holds where it does not hold what was to be read, and how many records had come by then. */
  readonly ranges: (TopicPartition & LogRange & { readonly after: number })[] = [];
  barriers = 0;
  losses = 0;
  onBarrier: () => Promise<void> = async () => {
    await Promise.resolve();
  };
  onAssigned: (partitions: readonly AssignedPartition[]) => void = () => {};
  onRecords: (at: TopicPartition, records: readonly SourceRecord[]) => void = () => {};

  onOutOfRange: (at: TopicPartition, log: LogRange) => void = () => {};

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
    this.spans.push({ at, from, next, assignment: this.assignments.length });
    this.onRecords(at, records);
    this.received.push(...records);
  }

  position(): void {
    this.log.push('position');
  }

  outOfRange(at: TopicPartition, log: LogRange): void {
    this.log.push('outOfRange');
    this.ranges.push({ ...at, ...log, after: this.received.length });
    this.onOutOfRange(at, log);
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

/** How a source may differ from the default. */
export type Variant = Partial<
  Pick<SourceOptions, 'assignor' | 'client' | 'fence' | 'limits' | 'metadataMaxAgeMs' | 'onMismatch'>
>;

/** What the contract needs of a cluster, whatever stands behind it. */
export interface World {
  createTopic(partitions: number): Promise<string>;
  append(topic: string, partition: number, values: readonly string[]): Promise<void>;
  source(groupId: string, topics: readonly string[], variant?: Variant): Source;
  /** Writes what a group has committed, from outside; the group has no members then. */
  put(groupId: string, at: TopicPartition, offset: bigint): Promise<void>;
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
  /** The errors of holds and of failed memberships. */
  readonly errors: readonly string[];
  close(): Promise<void>;
}

export async function inMemoryWorld(): Promise<World> {
  await Promise.resolve();
  const broker = new InMemoryBroker();
  return {
    said: [],
    errors: [],
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
    put: async (groupId, at, offset) => {
      await Promise.resolve();
      broker.commitAs(groupId, { ...at, offset, metadata: '' });
    },
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
export function connect(
  brokers: readonly string[],
  { said, errors }: { said: EventName[]; errors: string[] } = { said: [], errors: [] },
): {
  readonly client: KafkaClient;
  readonly emit: Emit;
  readonly said: EventName[];
  readonly errors: string[];
} {
  const emit: Emit = (event, fields) => {
    said.push(event);
    if ('error' in fields) errors.push(fields.error);
  };
  const settings = { brokers, clientId: 'contract', sessionTimeoutMs: SESSION_MS };
  return { client: createKafkaClient(settings, emit), emit, said, errors };
}

/** A real cluster, with what only it can do. */
export interface KafkaWorld extends World {
  readonly raw: Admin;
  rest(ms: number): Promise<void>;
}

export async function kafkaWorld(brokers: readonly string[], replication = 1): Promise<KafkaWorld> {
  const { client, emit, said, errors } = connect(brokers);
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
    errors,
    raw,
    rest: async (ms) => {
      await sleep(ms);
    },
    append,
    createTopic: async (partitions) => {
      const topic = `topic-${randomUUID()}`;
      await admin.createTopics([{ topic, partitions, replication }]);
      return topic;
    },
    source: (groupId, topics, variant = {}) =>
      createKafkaSource({
        fence: new FenceFeed({ clock: systemClock, sessionTimeoutMs: SESSION_MS }),
        client: connect(brokers, { said, errors }).client,
        limits: LIMITS,
        ...variant,
        groupId,
        topics,
        emit,
        sessionTimeoutMs: SESSION_MS,
        clock: systemClock,
        draw: systemDraw,
        assign: assignUnits,
      }),
    put: async (groupId, { topic, partition }, offset) => {
      // The admin's own way waits for a fetch of five seconds.
      const member = kafka.consumer({ groupId, maxWaitTimeInMs: 100 });
      const joined = Promise.withResolvers<void>();
      member.on(member.events.GROUP_JOIN, () => {
        // Else it would fetch at the new offset, and overwrite one that is out of range.
        member.pause([{ topic }]);
        joined.resolve();
      });
      await member.connect();
      await member.subscribe({ topics: [topic] });
      await member.run({ autoCommit: false, eachBatch: async () => await Promise.resolve() });
      await joined.promise;
      await member.commitOffsets([{ topic, partition, offset: offset.toString() }]);
      await member.disconnect();
    },
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
      const deadlineMs = performance.now() + 50_000;
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
