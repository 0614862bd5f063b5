import { type Buffer } from 'node:buffer';
import { promisify } from 'node:util';
import { zstdCompress, zstdDecompress } from 'node:zlib';
import kafkajs from 'kafkajs';
import { unpackLz4 } from './lz4.ts';
import { unpackSnappy } from './snappy.ts';

// Node finds only the first few named exports of a CommonJS module: those that it does not find come by the default one.
const { CompressionCodecs, CompressionTypes } = kafkajs;

/** A batch that unpacks to more than this is taken for an attack on memory. */
const MOST_BYTES = 256 * 1024 * 1024;

const compress = promisify(zstdCompress);
const decompress = promisify(zstdDecompress);

interface Encoder {
  readonly buffer: Buffer;
}

/** How kafkajs wants a codec: it hands over an encoder to pack and a buffer to unpack. */
export interface Codec {
  compress(encoder: Encoder): Promise<Buffer>;
  decompress(packed: Buffer): Promise<Buffer>;
}

/**
 * The name of the error about a batch that does not unpack. kafkajs gives up at once on this one; on any other it would
 * fetch the same batch again and again first, and then name its own weariness instead.
 */
export const UNREAD_BATCH = 'KafkaJSNotImplemented';

export const ZSTD: Codec = {
  compress: async ({ buffer }) => await compress(buffer),
  decompress: unpacking(async (packed) => await decompress(packed, { maxOutputLength: MOST_BYTES })),
};

/** Reads snappy, raw and in the framing of snappy-java; writes none. */
export const SNAPPY: Codec = {
  compress: writesNone,
  decompress: unpacking((packed) => unpackSnappy(packed, MOST_BYTES)),
};

/** Reads LZ4 frames; writes none. */
export const LZ4: Codec = {
  compress: writesNone,
  decompress: unpacking((packed) => unpackLz4(packed, MOST_BYTES)),
};

function unpacking(unpack: (packed: Buffer) => Buffer | Promise<Buffer>): Codec['decompress'] {
  return async (packed) => {
    try {
      return await unpack(packed);
    } catch (cause) {
      const error = new Error('A batch does not unpack.', { cause });
      error.name = UNREAD_BATCH;
      throw error;
    }
  };
}

async function writesNone(): Promise<Buffer> {
  return await Promise.reject(new TypeError('This connector writes no batches in snappy or lz4.'));
}

/**
 * Teaches kafkajs zstd, snappy and lz4; gzip it knows by itself. So the batches of producers are read in every codec that
 * Kafka has. A batch that is damaged, or unpacks to more than 256 MiB, ends the consumer with `UNREAD_BATCH`.
 */
export function registerCodecs(): void {
  CompressionCodecs[CompressionTypes.ZSTD] = () => ZSTD;
  CompressionCodecs[CompressionTypes.Snappy] = () => SNAPPY;
  CompressionCodecs[CompressionTypes.LZ4] = () => LZ4;
}
