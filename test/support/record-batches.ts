import { Readable } from 'node:stream';
import { createGzip, createZstdCompress, gzipSync, zstdCompressSync } from 'node:zlib';
import { crc32c } from '../../src/edges/kafka/crc32c.ts';
import { type BatchRecord, encodeRecord } from '../../src/edges/kafka/write-repair.ts';

/** How a batch is to be; each record is at its place unless it names another. */
export interface BatchPlan {
  readonly baseOffset?: bigint;
  readonly records?: readonly BatchRecord[];
  /** Its records as they stand, in place of `records`. */
  readonly packed?: Buffer;
  readonly count?: number;
  readonly lastOffsetDelta?: number;
  readonly codec?: 'none' | 'gzip' | 'zstd' | 'snappy' | 'lz4';
  readonly producerId?: bigint;
  readonly isTransactional?: boolean;
  readonly isControl?: boolean;
  readonly isLogAppendTime?: boolean;
  readonly baseTimestampMs?: number;
  readonly maxTimestampMs?: number;
}

const CODECS = { none: 0, gzip: 1, snappy: 2, lz4: 3, zstd: 4 } as const;
const HEAD_BYTES = 61;
const MIB = 1024 * 1024;

/** A batch in the present format (KIP-98), as it stands in a log. */
export function batchOf(plan: BatchPlan): Buffer {
  const { baseOffset = 0n, records = [], codec = 'none', producerId = -1n } = plan;
  const { baseTimestampMs = 0, maxTimestampMs = 0, isTransactional, isControl, isLogAppendTime } = plan;
  const placed = records.map((record, index) => ({ offsetDelta: index, ...record }));
  const packed = plan.packed ?? pack(Buffer.concat(placed.map((record) => encodeRecord(record).buffer)), codec);
  const flags = [
    isLogAppendTime === true ? 0x08 : 0,
    isTransactional === true ? 0x10 : 0,
    isControl === true ? 0x20 : 0,
  ];
  const head = Buffer.alloc(HEAD_BYTES);
  head.writeBigInt64BE(baseOffset, 0);
  head.writeInt32BE(HEAD_BYTES - 12 + packed.length, 8);
  head.writeInt8(2, 16);
  head.writeInt16BE(
    flags.reduce((sum, flag) => sum + flag, CODECS[codec]),
    21,
  );
  head.writeInt32BE(plan.lastOffsetDelta ?? placed.at(-1)?.offsetDelta ?? 0, 23);
  head.writeBigInt64BE(BigInt(baseTimestampMs), 27);
  head.writeBigInt64BE(BigInt(maxTimestampMs), 35);
  head.writeBigInt64BE(producerId, 43);
  head.writeInt32BE(plan.count ?? records.length, 57);
  const bytes = Buffer.concat([head, packed]);
  bytes.writeUInt32BE(crc32c(bytes.subarray(21)), 17);
  return bytes;
}

/** The marker of the end of a transaction. */
export function markerOf(baseOffset: bigint, producerId: bigint, kind: 'abort' | 'commit'): Buffer {
  const key = Buffer.from([0, 0, 0, kind === 'abort' ? 0 : 1]);
  const records = [{ key, value: Buffer.alloc(6) }];
  return batchOf({ baseOffset, producerId, isTransactional: true, isControl: true, records });
}

/**
 * The packed records of a batch, in little memory: those before, one whose value is so many zeros, those behind. A number of
 * MiB.
 */
export async function packedZeros(
  codec: 'gzip' | 'zstd',
  size: number,
  {
    before = [],
    behind = [],
  }: { readonly before?: readonly BatchRecord[]; readonly behind?: readonly BatchRecord[] } = {},
): Promise<Buffer> {
  const at = before.length;
  const [, ...head] = encodeRecord({ offsetDelta: at, value: null }).buffer.subarray(0, -2);
  const zero = Buffer.alloc(MIB);
  const body = [Buffer.from(head), varint(size), ...Array.from({ length: size / MIB }, () => zero), Buffer.alloc(1)];
  const length = body.reduce((sum, part) => sum + part.length, 0);
  const first = before.map((record, offsetDelta) => encodeRecord({ offsetDelta, ...record }).buffer);
  const last = behind.map((record, index) => encodeRecord({ offsetDelta: at + 1 + index, ...record }).buffer);
  const stream = codec === 'gzip' ? createGzip() : createZstdCompress();
  const packed: Buffer[] = [];
  for await (const part of Readable.from([...first, varint(length), ...body, ...last]).pipe(stream))
    packed.push(part as Buffer);
  return Buffer.concat(packed);
}

/** As records write a positive number. */
function varint(value: number): Buffer {
  const digits: number[] = [];
  for (let rest = 2 * value; ; rest = Math.floor(rest / 128)) {
    digits.push((rest % 128) + (rest >= 128 ? 128 : 0));
    if (rest < 128) return Buffer.from(digits);
  }
}

function pack(records: Buffer, codec: keyof typeof CODECS): Buffer {
  switch (codec) {
    case 'none':
      return records;
    case 'gzip':
      return gzipSync(records);
    case 'zstd':
      return zstdCompressSync(records);
    default:
      throw new TypeError(`Give the packed bytes of a batch in ${codec}.`);
  }
}
