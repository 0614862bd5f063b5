import { createRequire } from 'node:module';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type BatchContext, decodeRecord, type RecordBytes } from '../../../../src/edges/kafka/read-repair.ts';
import { encodeRecord } from '../../../../src/edges/kafka/write-repair.ts';

const load = createRequire(import.meta.url);
/** kafkajs' own, as it is without a repair. */
const original = load('kafkajs/src/protocol/recordBatch/record/v0/decoder') as typeof decodeRecord;
const Decoder = load('kafkajs/src/protocol/decoder') as new (bytes: Buffer) => RecordBytes;

/** Past the length that stands before a record. */
function opened(record: Parameters<typeof encodeRecord>[0]): RecordBytes {
  const bytes = new Decoder(encodeRecord(record).buffer);
  bytes.readVarInt();
  return bytes;
}

const CONTEXT: BatchContext = { firstOffset: '0', firstTimestamp: '0', magicByte: 2 };

const bytes = fc.uint8Array({ maxLength: 60 }).map((array) => Buffer.from(array));
/** No names that every object has: kafkajs stumbles over those. */
const name = fc.string({ unit: 'binary', maxLength: 20 }).filter((made) => made.isWellFormed() && !(made in {}));
const record = fc.record({
  offsetDelta: fc.nat(100_000),
  timestampDelta: fc.oneof(fc.nat(10_000), fc.integer({ min: -10_000, max: 2 ** 31 })),
  key: fc.option(bytes),
  value: fc.option(bytes),
  headers: fc.dictionary(name, fc.oneof(bytes, fc.array(bytes, { minLength: 2, maxLength: 4 })), { maxKeys: 12 }),
});
const long = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(String);
const context = fc.record({
  firstOffset: fc.bigInt({ min: 0n, max: 2n ** 62n }).map(String),
  firstTimestamp: long,
  maxTimestamp: long,
  timestampType: fc.constantFrom(0, 1),
  magicByte: fc.constant(2),
  isControlBatch: fc.boolean(),
});

describe('a record of a batch', () => {
  test('headers named like what every object has are headers', () => {
    const headers = { constructor: 'a', toString: ['b', 'c'], ['__proto__']: 'd' };
    const { headers: read } = decodeRecord(opened({ headers }), CONTEXT);
    expect(new Map(Object.entries(read))).toEqual(
      new Map(
        Object.entries({
          constructor: Buffer.from('a'),
          toString: [Buffer.from('b'), Buffer.from('c')],
          ['__proto__']: Buffer.from('d'),
        }),
      ),
    );
  });

  test('is read as kafkajs reads it, whatever is in it', () => {
    fc.assert(
      fc.property(record, context, (made, of) => {
        expect(decodeRecord(opened(made), of)).toEqual(original(opened(made), of));
      }),
      { numRuns: 1000 },
    );
  });

  test('reads each header once, however many there are', () => {
    const headers = Object.fromEntries(Array.from({ length: 100_000 }, (_, index) => [`h${String(index)}`, 'v']));
    const { headers: read } = decodeRecord(opened({ headers }), CONTEXT);
    expect(Object.keys(read)).toHaveLength(100_000);
    expect(read['h99999']).toEqual(Buffer.from('v'));
  });
});
