import { promisify } from 'node:util';
import { zstdCompress, zstdDecompress } from 'node:zlib';
import kafkajs from 'kafkajs';

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

/**
 * Teaches kafkajs zstd; gzip it knows by itself. Snappy and lz4 are not read yet: a batch in one of them makes the
 * consumer fail with `KafkaJSNotImplemented`, which the source names and holds on.
 */
export function registerCodecs(): void {
  CompressionCodecs[CompressionTypes.ZSTD] = () => ZSTD;
}
