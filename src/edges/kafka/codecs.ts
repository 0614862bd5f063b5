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

export const ZSTD: Codec = {
  compress: async ({ buffer }) => await compress(buffer),
  decompress: async (packed) => await decompress(packed, { maxOutputLength: MOST_BYTES }),
};

/** Reads snappy, raw and in the framing of snappy-java; writes none. */
export const SNAPPY: Codec = readOnly('snappy', unpackSnappy);

/** Reads LZ4 frames; writes none. */
export const LZ4: Codec = readOnly('lz4', unpackLz4);

function readOnly(name: string, unpack: (packed: Uint8Array, mostBytes: number) => Buffer): Codec {
  return {
    compress: async () => await Promise.reject(new TypeError(`This connector writes no batches in ${name}.`)),
    decompress: async (packed) => await Promise.resolve(unpack(packed, MOST_BYTES)),
  };
}

/**
 * Teaches kafkajs zstd, snappy and lz4; gzip it knows by itself. So the batches of producers are read in every codec that
 * Kafka has. A batch that does not unpack makes the consumer fail, and the source names the codec (`SnappyError`,
 * `Lz4Error`).
 */
export function registerCodecs(): void {
  CompressionCodecs[CompressionTypes.ZSTD] = () => ZSTD;
  CompressionCodecs[CompressionTypes.Snappy] = () => SNAPPY;
  CompressionCodecs[CompressionTypes.LZ4] = () => LZ4;
}
