import { type Buffer } from 'node:buffer';
import { type TransactionalBatch } from './aborted-transactions.ts';
import { UNREAD_BATCH } from './codecs.ts';
import { crc32c } from './crc32c.ts';
import { RecordScanner } from './record-scanner.ts';

/** Offset and length, which stand in front of every batch whatever its format. */
const PREFIX_BYTES = 12;
/** Of the present format, from the offset to the number of records. */
const HEAD_BYTES = 61;
const MAGIC_AT = 16;
const CHECKSUM_AT = 17;
const CHECKED_FROM = 21;
const MAGIC = 2;

const CODEC_MASK = 0x07;
const LOG_APPEND_TIME = 0x08;
const TRANSACTIONAL = 0x10;
const CONTROL = 0x20;
/** Of a control record's kinds. */
const ABORT = 0;
const MARKER_MAX_BYTES = 1024;

/** The head of a batch in the present format (KIP-98), and its records, packed or not. */
export interface RecordBatch extends TransactionalBatch {
  readonly format: 'present';
  readonly baseOffset: bigint;
  readonly lastOffsetDelta: number;
  /** 0: not packed. */
  readonly codec: number;
  readonly baseTimestampMs: number;
  readonly maxTimestampMs: number;
  /** The broker's time counts, which is that of the batch. */
  readonly isLogAppendTime: boolean;
  readonly count: number;
  readonly records: Buffer;
  /** Whether it arrived as it was written. */
  readonly isIntact: () => boolean;
}

/** A message, or a set of them, in a format of before Kafka 0.11. */
export interface OldBatch {
  readonly format: 'old';
  readonly lastOffset: bigint;
  readonly bytes: Buffer;
}

/** The whole batches of one fetched partition. Brokers cut off the last one where a fetch is full (KIP-74). */
export function* batchesOf(bytes: Buffer): Generator<RecordBatch | OldBatch, void> {
  for (let at = 0; bytes.length - at > MAGIC_AT;) {
    const size = PREFIX_BYTES + bytes.readInt32BE(at + 8);
    const magic = bytes.readInt8(at + MAGIC_AT);
    if (size > bytes.length - at) return;
    const batch = bytes.subarray(at, at + size);
    if (size <= MAGIC_AT || magic > MAGIC || (magic === MAGIC && size < HEAD_BYTES)) throw new BatchLost();
    yield magic === MAGIC ? readBatch(batch) : { format: 'old', lastOffset: batch.readBigInt64BE(0), bytes: batch };
    at += size;
  }
}

/** A batch did not arrive as it was written, so nobody knows what it holds: it has to be fetched again. */
export class BatchLost extends Error {
  override readonly name = UNREAD_BATCH;

  constructor() {
    super('A batch did not arrive as it was written.');
  }
}

function readBatch(bytes: Buffer): RecordBatch {
  const baseOffset = bytes.readBigInt64BE(0);
  const attributes = bytes.readInt16BE(21);
  const lastOffsetDelta = bytes.readInt32BE(23);
  if (lastOffsetDelta < 0) throw new BatchLost();
  const count = bytes.readInt32BE(57);
  const records = bytes.subarray(HEAD_BYTES);
  return {
    format: 'present',
    baseOffset,
    lastOffset: baseOffset + BigInt(lastOffsetDelta),
    lastOffsetDelta,
    codec: attributes & CODEC_MASK,
    isLogAppendTime: (attributes & LOG_APPEND_TIME) !== 0,
    isTransactional: (attributes & TRANSACTIONAL) !== 0,
    marker: (attributes & CONTROL) === 0 ? null : markerOf(records, count),
    baseTimestampMs: Number(bytes.readBigInt64BE(27)),
    maxTimestampMs: Number(bytes.readBigInt64BE(35)),
    producerId: bytes.readBigInt64BE(43),
    count,
    records,
    isIntact: () => crc32c(bytes.subarray(CHECKED_FROM)) === bytes.readUInt32BE(CHECKSUM_AT),
  };
}

/** The key of a control record: two bytes of its version, then its kind, 0 for an abort. What compaction left empty marks nothing that is still there. */
function markerOf(records: Buffer, count: number): 'abort' | 'commit' {
  let marker: 'abort' | 'commit' = 'commit';
  const scanner = new RecordScanner({
    count: Math.min(1, count),
    recordMaxBytes: MARKER_MAX_BYTES,
    fromDelta: 0,
    take: ({ content }) => {
      const key = content?.key ?? null;
      if (key !== null && key.length >= 4 && key.readInt16BE(2) === ABORT) marker = 'abort';
      return true;
    },
  });
  try {
    scanner.push(records);
  } catch {
    // Brokers write markers themselves: this one has changed since.
    throw new BatchLost();
  }
  return marker;
}
