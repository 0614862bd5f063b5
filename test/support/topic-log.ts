import { randomUUID } from 'node:crypto';
import { type Consumer, type IHeaders, Kafka, logLevel } from 'kafkajs';
import { eventually } from './eventually.ts';
import { readHeadersOnce } from './linear-headers.ts';
import { addWitness } from './witnesses.ts';

/** A record as any reader of the topic finds it. */
export interface LoggedRecord {
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  readonly headers: IHeaders;
}

/** Reads topics from their start, as any other service would, and keeps all that comes. */
export class TopicLog {
  readonly records: LoggedRecord[] = [];
  readonly #consumer: Consumer;
  readonly #silence: () => void;

  private constructor(consumer: Consumer) {
    this.#consumer = consumer;
    this.#silence = addWitness(() => {
      const counts = Map.groupBy(this.records, ({ topic }) => topic);
      return `records read: ${[...counts].map(([topic, { length }]) => `${topic} ${String(length)}`).join(', ')}`;
    });
  }

  static async open(brokers: readonly string[], topics: readonly string[]): Promise<TopicLog> {
    readHeadersOnce();
    const kafka = new Kafka({ brokers: [...brokers], logLevel: logLevel.NOTHING });
    const consumer = kafka.consumer({ groupId: `log-${randomUUID()}`, maxWaitTimeInMs: 100 });
    const log = new TopicLog(consumer);
    await consumer.connect();
    await consumer.subscribe({ topics: [...topics], fromBeginning: true });
    await consumer.run({
      autoCommit: false,
      eachMessage: async ({ topic, partition, message }) => {
        const { key, value, offset, headers = {} } = message;
        log.records.push({ topic, partition, offset: Number(offset), key, value, headers });
        await Promise.resolve();
      },
    });
    return log;
  }

  of(topic: string): readonly LoggedRecord[] {
    return this.records.filter((record) => record.topic === topic);
  }

  /** The first record of a topic that fits. */
  async find(topic: string, fits: (record: LoggedRecord) => boolean, limitMs?: number): Promise<LoggedRecord> {
    return await eventually(
      `a certain record in ${topic}, which has ${String(this.of(topic).length)}`,
      () => this.of(topic).find((record) => fits(record)) ?? null,
      limitMs,
    );
  }

  async close(): Promise<void> {
    this.#silence();
    await this.#consumer.disconnect();
  }
}

/** Headers as texts; a header that occurs twice is joined by commas. */
export function headerTexts(record: LoggedRecord): Record<string, string> {
  return Object.fromEntries(Object.entries(record.headers).map(([name, value]) => [name, String(value)]));
}
