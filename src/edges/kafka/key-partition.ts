import { type Buffer } from 'node:buffer';

const SEED = 0x9747b28c;
const M = 0x5bd1e995;
const R = 24;
const WORD_BYTES = 4;

/**
 * The partition of a key, as Java's producer and kafkajs' default partitioner choose it: murmur2 of its bytes without the
 * sign, modulo `count`. In 32-bit integers: kafkajs computes it in 64 bits, at some forty objects a key.
 */
export function partitionOfKey(key: Buffer, count: number): number {
  return (murmur2(key) & 0x7fffffff) % count;
}

/** Signed 32 bits (org.apache.kafka.common.utils.Utils, `murmur2`). */
function murmur2(bytes: Buffer): number {
  const { length } = bytes;
  const tail = length - (length % WORD_BYTES);
  let h = SEED ^ length;
  for (let at = 0; at < tail; at += WORD_BYTES) {
    let k = Math.imul(bytes.readInt32LE(at), M);
    k = Math.imul(k ^ (k >>> R), M);
    h = Math.imul(h, M) ^ k;
  }
  if (tail < length) {
    for (let at = length - 1; at >= tail; at -= 1) h ^= (bytes[at] ?? 0) << (8 * (at - tail));
    h = Math.imul(h, M);
  }
  h = Math.imul(h ^ (h >>> 13), M);
  return h ^ (h >>> 15);
}
