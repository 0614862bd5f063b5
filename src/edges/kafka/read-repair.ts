import { type Buffer } from 'node:buffer';

/** As much of a kafkajs decoder as one record asks for. */
export interface RecordBytes {
  readInt8(): number;
  readVarInt(): number;
  readVarLong(): { toString(): string };
  readVarIntBytes(): Buffer | null;
  readVarIntString(): string | null;
}

/** What kafkajs knows of the batch of a record. Offsets and times are decimal digits. */
export interface BatchContext {
  readonly firstOffset: string;
  readonly firstTimestamp: string;
  readonly maxTimestamp?: string;
  /** 1: the time of the broker, which is that of the batch. */
  readonly timestampType?: number;
  readonly magicByte?: number;
  readonly isControlBatch?: boolean;
}

/** A record as kafkajs hands it on. */
export interface DecodedRecord {
  readonly magicByte: number | undefined;
  readonly attributes: number;
  readonly timestamp: string;
  readonly offset: string;
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  /** A name that is there several times has all of its values, in their order. */
  readonly headers: Readonly<Record<string, HeaderValue | HeaderValue[]>>;
  readonly isControlRecord: boolean;
  readonly batchContext: BatchContext;
}

type HeaderValue = Buffer | null;

const LOG_APPEND_TIME = 1;

/**
 * One record of a batch (KIP-98: attributes, timestamp and offset deltas, key, value, headers), in a time that grows with
 * its bytes. kafkajs copies all headers it has for each further one: 10,000 of them stop the process for 14 s, 100,000
 * (half a megabyte) for minutes, at every start again. It also finds headers named like what every object has.
 */
export function decodeRecord(bytes: RecordBytes, batchContext: BatchContext): DecodedRecord {
  const { firstOffset, firstTimestamp, maxTimestamp, timestampType, magicByte, isControlBatch = false } = batchContext;
  const attributes = bytes.readInt8();
  const timestampDelta = bytes.readVarLong().toString();
  const isOfBroker = timestampType === LOG_APPEND_TIME && maxTimestamp !== undefined;
  return {
    magicByte,
    attributes,
    timestamp: isOfBroker ? maxTimestamp : sum(firstTimestamp, timestampDelta),
    offset: sum(firstOffset, bytes.readVarInt()),
    key: bytes.readVarIntBytes(),
    value: bytes.readVarIntBytes(),
    headers: readHeaders(bytes),
    isControlRecord: isControlBatch,
    batchContext,
  };
}

function readHeaders(bytes: RecordBytes): DecodedRecord['headers'] {
  const count = bytes.readVarInt();
  if (count <= 0) return {};
  const found = new Map<string, HeaderValue | HeaderValue[]>();
  for (let index = 0; index < count; index += 1) {
    const name = bytes.readVarIntString() ?? '';
    const value = bytes.readVarIntBytes();
    const held = found.get(name);
    if (held === undefined) found.set(name, value);
    else if (Array.isArray(held)) held.push(value);
    else found.set(name, [held, value]);
  }
  return Object.fromEntries(found);
}

function sum(first: string, delta: string | number): string {
  return (BigInt(first) + BigInt(delta)).toString();
}
