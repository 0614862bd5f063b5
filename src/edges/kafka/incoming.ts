import { type KafkaMessage } from 'kafkajs';
import { type RecordHeaders, type SourceRecord, type TopicPartition } from '../../engine/ports.ts';

/** A record of our own: kafkajs' buffers are slices of the whole fetch, and 41 kept values have pinned 36 MB. */
export function toSourceRecord(at: TopicPartition, message: KafkaMessage): SourceRecord {
  return {
    topic: at.topic,
    partition: at.partition,
    offset: BigInt(message.offset),
    timestampMs: Number(message.timestamp),
    key: message.key === null ? null : Buffer.from(message.key),
    value: message.value === null ? null : Buffer.from(message.value),
    headers: copyHeaders(message.headers ?? {}),
  };
}

function copyHeaders(headers: RecordHeaders): RecordHeaders {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.map(copy) : copy(value)]),
  );
}

function copy<T extends Buffer | string | undefined>(value: T): T | Buffer {
  return Buffer.isBuffer(value) ? Buffer.from(value) : value;
}
