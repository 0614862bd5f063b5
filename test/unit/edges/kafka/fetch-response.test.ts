import { createRequire } from 'node:module';
import { describe, expect, test } from 'vitest';
import { decodeFetch } from '../../../../src/edges/kafka/fetch-response.ts';

const load = createRequire(import.meta.url);

/** As much of a kafkajs encoder as an answer to a fetch needs. */
interface Encoder {
  readonly buffer: Buffer;
  writeInt16(value: number): Encoder;
  writeInt32(value: number): Encoder;
  writeInt64(value: number): Encoder;
  writeString(value: string): Encoder;
  writeArray(of: readonly Encoder[]): Encoder;
  writeBytes(value: Buffer | null): Encoder;
}
const KafkajsEncoder = load('kafkajs/src/protocol/encoder') as new () => Encoder;

/** An answer of this version, by Kafka's own description of it. */
function answer(version: number, bytes: Buffer | null): Buffer {
  const aborted = [7, 5].map((producer) => new KafkajsEncoder().writeInt64(producer).writeInt64(producer * 10));
  const partition = new KafkajsEncoder().writeInt32(3).writeInt16(0).writeInt64(99).writeInt64(98);
  if (version >= 5) partition.writeInt64(1);
  partition.writeArray(aborted);
  if (version >= 11) partition.writeInt32(-1);
  partition.writeBytes(bytes);
  const other = new KafkajsEncoder().writeInt32(4).writeInt16(1).writeInt64(-1).writeInt64(-1);
  if (version >= 5) other.writeInt64(-1);
  other.writeInt32(-1);
  if (version >= 11) other.writeInt32(2);
  other.writeBytes(null);
  const whole = new KafkajsEncoder().writeInt32(250);
  if (version >= 7) whole.writeInt16(0).writeInt32(0);
  return whole.writeArray([new KafkajsEncoder().writeString('a.topic').writeArray([partition, other])]).buffer;
}

describe('the answer to a fetch', () => {
  test.each([4, 5, 6, 7, 8, 9, 10, 11])('of version %i is read as it is written, batches as they stand', (version) => {
    const found = decodeFetch(answer(version, Buffer.from('batches')), version);
    expect(found.responses).toEqual([
      {
        topicName: 'a.topic',
        partitions: [
          {
            partition: 3,
            errorCode: 0,
            highWatermark: '99',
            abortedTransactions: [
              { producerId: 7n, firstOffset: 70n },
              { producerId: 5n, firstOffset: 50n },
            ],
            ...(version >= 11 ? { preferredReadReplica: -1 } : {}),
            bytes: Buffer.from('batches'),
          },
          {
            partition: 4,
            errorCode: 1,
            highWatermark: '-1',
            abortedTransactions: [],
            ...(version >= 11 ? { preferredReadReplica: 2 } : {}),
            bytes: Buffer.alloc(0),
          },
        ],
      },
    ]);
    expect([found.throttleTime, found.clientSideThrottleTime]).toEqual(version >= 8 ? [0, 250] : [250, 0]);
  });

  test('that is cut off is an error', () => {
    const whole = answer(11, Buffer.from('batches'));
    for (let length = 0; length < 60; length += 1)
      expect(() => decodeFetch(whole.subarray(0, length), 11)).toThrow(RangeError);
  });
});
