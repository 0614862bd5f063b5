import { Buffer } from 'node:buffer';
import { createRequire } from 'node:module';
import { type SourceRecord, type TopicPartition } from '../../engine/ports.ts';
import { BatchLost, type OldBatch } from './record-batch.ts';

/** A message as kafkajs decodes it. Offset and time are decimal digits. */
interface Message {
  readonly offset: string;
  /** Absent in the oldest format. */
  readonly timestamp?: string;
  readonly key: Buffer | null;
  readonly value: Buffer | null;
}

type DecodeMessages = (decoder: object, size: number) => Promise<readonly Message[]>;
type Decoder = new (bytes: Buffer) => object;

const NO_TIME = '-1';

/** The records of a batch in a format of before Kafka 0.11, which kafkajs decodes; each in memory of its own. */
export async function readOldBatch(at: TopicPartition, { bytes }: OldBatch): Promise<readonly SourceRecord[]> {
  const load = createRequire(import.meta.url);
  const decode = load('kafkajs/src/protocol/messageSet/decoder') as DecodeMessages;
  const KafkajsDecoder = load('kafkajs/src/protocol/decoder') as Decoder;
  const messages = await decode(new KafkajsDecoder(bytes), bytes.length);
  // A message that is cut off is passed over there in silence.
  if (messages.length === 0) throw new BatchLost();
  return messages.map(({ offset, timestamp = NO_TIME, key, value }) => ({
    topic: at.topic,
    partition: at.partition,
    offset: BigInt(offset),
    timestampMs: Number(timestamp),
    key: key === null ? null : Buffer.from(key),
    value: value === null ? null : Buffer.from(value),
    headers: {},
  }));
}
