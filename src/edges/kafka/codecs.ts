import { Buffer } from 'node:buffer';
import { type Transform } from 'node:stream';
import { promisify } from 'node:util';
import { createGunzip, createZstdDecompress, gzip, zstdCompress } from 'node:zlib';
import kafkajs from 'kafkajs';
import { unpackLz4 } from './lz4.ts';
import { unpackSnappy } from './snappy.ts';

// Node finds only the first few named exports of a CommonJS module: those that it does not find come by the default one.
const { CompressionCodecs, CompressionTypes } = kafkajs;

export interface UnpackOptions {
  readonly maxBytes: number;
  /** Resolves when others have had theirs. */
  readonly turn: () => Promise<void>;
}

/** The codecs of Kafka, as the attributes of a batch number them; 0: none. */
const GZIP = 1;
const SNAPPY = 2;
const LZ4 = 3;
const ZSTD = 4;

/** What a batch in the format of before Kafka 0.11 may unpack to. */
const OLD_BATCH: UnpackOptions = {
  maxBytes: 256 * 1024 * 1024,
  turn: async () => {
    await Promise.resolve();
  },
};
/** zlib takes a part of this size at once: for small batches less than its usual one, for large ones more. */
const MIN_PART = 4096;
const MAX_PART = 256 * 1024;
/** Most batches unpack to less than this many times their bytes. */
const USUAL_RATIO = 8;

/**
 * The name of the error about a batch that cannot be read. kafkajs gives up at once on this one; on any other it would
 * fetch the same batch again and again first, and then name its own weariness instead.
 */
export const UNREAD_BATCH = 'KafkaJSNotImplemented';

/** A batch unpacks to more than it may. */
export class BatchTooLarge extends Error {
  override readonly name = 'BatchTooLarge';
}

/** Another version may know it: nothing is wrong with the batch. */
export class UnknownCodec extends Error {
  override readonly name = UNREAD_BATCH;
}

/**
 * Unpacks a batch part by part; each part is good until the next is asked for. Whoever stops early frees what is behind
 * it. Throws `BatchTooLarge` once it has become more than `maxBytes`, anything else where the batch is damaged.
 */
export async function* unpack(
  codec: number,
  packed: Buffer,
  { maxBytes, turn }: UnpackOptions,
): AsyncGenerator<Uint8Array, void> {
  let bytes = 0;
  try {
    for await (const part of partsOf(codec, packed, turn)) {
      bytes += part.length;
      if (bytes > maxBytes) break;
      yield part;
    }
  } catch (error) {
    if (!needsTooMuch(error)) throw error;
    bytes = Infinity;
  }
  if (bytes > maxBytes) throw new BatchTooLarge('A batch unpacks to more than BATCH_MAX_BYTES.');
}

function partsOf(codec: number, packed: Buffer, turn: UnpackOptions['turn']): AsyncIterable<Uint8Array> {
  const chunkSize = Math.max(MIN_PART, Math.min(MAX_PART, packed.length * USUAL_RATIO));
  switch (codec) {
    case GZIP:
      return through(createGunzip({ chunkSize }), packed);
    case SNAPPY:
      return byTurns(unpackSnappy(packed), turn);
    case LZ4:
      return byTurns(unpackLz4(packed), turn);
    case ZSTD:
      return through(createZstdDecompress({ chunkSize }), packed);
    default:
      throw new UnknownCodec('A batch in a codec that this version does not know.');
  }
}

/** Node leaves a stream's work in the pool of threads; its own reading ahead is bounded by its high watermark. */
function through(stream: Transform, packed: Buffer): AsyncIterable<Uint8Array> {
  stream.end(packed);
  return stream;
}

/** What is unpacked on this thread lets others have a turn after each part but the first. */
async function* byTurns(parts: Iterable<Uint8Array>, turn: UnpackOptions['turn']): AsyncGenerator<Uint8Array, void> {
  let isFirst = true;
  for (const part of parts) {
    if (!isFirst) await turn();
    isFirst = false;
    yield part;
  }
}

/** A frame of zstd may ask for more memory than Node gives a stream (128 MiB), before anything is unpacked. */
function needsTooMuch(error: unknown): boolean {
  return error instanceof Error && Reflect.get(error, 'code') === 'ZSTD_error_frameParameter_windowTooLarge';
}

interface Encoder {
  readonly buffer: Buffer;
}

/** How kafkajs wants a codec: it hands over an encoder to pack and a buffer to unpack. */
export interface Codec {
  compress(encoder: Encoder): Promise<Buffer>;
  decompress(packed: Buffer): Promise<Buffer>;
}

const zip = promisify(gzip);
const compress = promisify(zstdCompress);

function codecOf(codec: number, pack: Codec['compress']): Codec {
  return {
    compress: pack,
    decompress: async (packed) => {
      try {
        const parts: Buffer[] = [];
        for await (const part of unpack(codec, packed, OLD_BATCH)) parts.push(Buffer.from(part));
        return Buffer.concat(parts);
      } catch (cause) {
        throw Object.assign(new Error('A batch does not unpack.', { cause }), { name: UNREAD_BATCH });
      }
    },
  };
}

async function writesNone(): Promise<Buffer> {
  return await Promise.reject(new TypeError('This connector writes no batches in snappy or lz4.'));
}

/**
 * Teaches kafkajs zstd, snappy and lz4, and to unpack gzip to no more than 256 MiB. It uses them to write, and to read
 * what was written before Kafka 0.11: newer batches are read by us.
 */
export function registerCodecs(): void {
  CompressionCodecs[CompressionTypes.GZIP] = () => codecOf(GZIP, async ({ buffer }) => await zip(buffer));
  CompressionCodecs[CompressionTypes.ZSTD] = () => codecOf(ZSTD, async ({ buffer }) => await compress(buffer));
  CompressionCodecs[CompressionTypes.Snappy] = () => codecOf(SNAPPY, writesNone);
  CompressionCodecs[CompressionTypes.LZ4] = () => codecOf(LZ4, writesNone);
}
