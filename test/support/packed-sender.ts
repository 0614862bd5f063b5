import kafkajs, { type CompressionTypes as Types, type Producer } from 'kafkajs';

const { CompressionCodecs } = kafkajs;

/** Sends one batch to a partition, whose `count` records are packed already. Others must not send in that codec meanwhile. */
export async function sendPacked(
  producer: Producer,
  { topic, partition }: { readonly topic: string; readonly partition: number },
  batch: { readonly codec: Types.GZIP | Types.ZSTD; readonly packed: Buffer; readonly count: number },
): Promise<void> {
  const { codec, packed, count } = batch;
  const before = CompressionCodecs[codec] as () => object;
  CompressionCodecs[codec] = () => ({ compress: async () => await Promise.resolve(packed) });
  try {
    const messages = Array.from({ length: count }, () => ({ partition, value: '' }));
    await producer.send({ topic, compression: codec, messages });
  } finally {
    CompressionCodecs[codec] = before;
  }
}
