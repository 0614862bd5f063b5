import { Buffer } from 'node:buffer';
import fc from 'fast-check';
import kafkajs from 'kafkajs';
import { expect, test } from 'vitest';
import { partitionOfKey } from '../../../../src/edges/kafka/key-partition.ts';

/** As kafkajs places a record of this key among so many partitions. */
function placedByKafkajs(key: Buffer, count: number): number {
  const partitionMetadata = Array.from({ length: count }, (_, partitionId) => ({
    partitionErrorCode: 0,
    partitionId,
    leader: 0,
    replicas: [0],
    isr: [0],
  }));
  return kafkajs.Partitioners.DefaultPartitioner()({ topic: 'any', partitionMetadata, message: { key, value: null } });
}

test('a key is placed where kafkajs, and with it every client that follows Java, places it', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 70 }), fc.integer({ min: 1, max: 1000 }), (bytes, count) => {
      const key = Buffer.from(bytes);
      expect(partitionOfKey(key, count)).toBe(placedByKafkajs(key, count));
    }),
    { numRuns: 2000 },
  );
});

// Hashes from Java's own test of its producer (UtilsTest, testMurmur2), without their signs.
test.each([
  ['21', -973932308],
  ['foobar', -790332482],
  ['a-little-bit-long-string', -985981536],
  ['a-little-bit-longer-string', -1486304829],
  ['lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8', -58897971],
  ['abc', 479470107],
])('%s has the hash that Java gives it', (text, hash) => {
  const all = 0x7fffffff;
  expect(partitionOfKey(Buffer.from(text), all)).toBe((hash & all) % all);
});
