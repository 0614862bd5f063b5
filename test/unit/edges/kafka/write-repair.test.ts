import { createRequire } from 'node:module';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type BatchRecord,
  encodeRecord,
  growUnzeroed,
  type GrowingBuffer,
  type ProduceResponse,
  tellAll,
} from '../../../../src/edges/kafka/write-repair.ts';

const load = createRequire(import.meta.url);
/** kafkajs' own, as it is without a repair. */
const original = load('kafkajs/src/protocol/recordBatch/record/v0') as (record: BatchRecord) => {
  readonly buffer: Buffer;
};

const bytes = fc.uint8Array({ maxLength: 600 }).map((array) => Buffer.from(array));
const text = fc.string({ unit: 'binary', maxLength: 200 }).filter((made) => made.isWellFormed());
const held = fc.oneof(bytes, text);
const record = fc.record(
  {
    offsetDelta: fc.nat(100_000),
    timestampDelta: fc.oneof(fc.nat(10_000), fc.integer({ min: -10_000, max: 2 ** 31 })),
    key: fc.option(held),
    value: fc.option(held),
    headers: fc.dictionary(
      text,
      fc.oneof(
        held,
        fc.array(held, { maxLength: 3 }).map((list) => list),
      ),
      { maxKeys: 12 },
    ),
  },
  { requiredKeys: [] },
);

describe('a record that is encoded in one go', () => {
  test("has the bytes of kafkajs' own encoder, whatever is in it", () => {
    fc.assert(
      fc.property(record, (made) => {
        const encoded = encodeRecord(made);
        expect(encoded.buffer.equals(original(made).buffer)).toBe(true);
        expect(encoded.buf).toBe(encoded.buffer);
      }),
      { numRuns: 2000 },
    );
  });
});

describe('an encoder that grows', () => {
  test('shows what was written, however it grew', () => {
    const Encoder = load('kafkajs/src/protocol/encoder') as {
      new (size?: number): GrowingBuffer & { writeBuffer(part: Buffer): void; readonly buffer: Buffer };
      readonly prototype: GrowingBuffer;
    };
    const before = Object.getOwnPropertyDescriptor(Encoder.prototype, 'ensureAvailable') ?? {};
    growUnzeroed(Encoder.prototype);
    try {
      fc.assert(
        fc.property(fc.array(bytes, { maxLength: 20 }), fc.nat(64), (parts, size) => {
          const encoder = new Encoder(size);
          for (const part of parts) encoder.writeBuffer(part);
          expect(encoder.buffer.equals(Buffer.concat(parts))).toBe(true);
        }),
      );
    } finally {
      Object.defineProperty(Encoder.prototype, 'ensureAvailable', before);
    }
  });
});

const answered = (...errorCodes: readonly number[]) => ({
  topics: [{ partitions: errorCodes.map((errorCode) => ({ errorCode })) }],
});

describe('the answer to a write', () => {
  const response: ProduceResponse = {
    parse: async () => await Promise.reject(new Error("kafkajs' own judgement")),
  };
  tellAll(response);

  test('of several partitions tells of each of them', async () => {
    expect(await response.parse(answered(0, 6, 0))).toEqual(answered(0, 6, 0));
  });

  test('of one is left to kafkajs, so that it reads its metadata anew', async () => {
    await expect(response.parse(answered(6))).rejects.toThrow("kafkajs' own judgement");
  });
});
