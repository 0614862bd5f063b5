import { createRequire } from 'node:module';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { BatchDamaged, RecordScanner, type ScannedRecord } from '../../../../src/edges/kafka/record-scanner.ts';
import { type BatchRecord, encodeRecord } from '../../../../src/edges/kafka/write-repair.ts';

const load = createRequire(import.meta.url);
/** kafkajs' own decoder, as it is. */
const decodeRecord = load('kafkajs/src/protocol/recordBatch/record/v0/decoder') as (
  bytes: object,
  context: object,
) => {
  readonly timestamp: string;
  readonly offset: string;
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  readonly headers: object;
};
const Decoder = load('kafkajs/src/protocol/decoder') as new (bytes: Buffer) => { readVarInt(): number };

const MAX = 1000;

interface Scan {
  readonly recordMaxBytes?: number;
  readonly fromDelta?: number;
  readonly count?: number;
  /** So many are wanted. */
  readonly wanted?: number;
}

function scanner(scan: Scan & { readonly count: number }): {
  readonly scanner: RecordScanner;
  readonly found: ScannedRecord[];
} {
  const { count, recordMaxBytes = MAX, fromDelta = 0, wanted = Infinity } = scan;
  const found: ScannedRecord[] = [];
  const take = (record: ScannedRecord): boolean => {
    found.push(record);
    return found.length < wanted;
  };
  return { scanner: new RecordScanner({ count, recordMaxBytes, fromDelta, take }), found };
}

const bytesOf = (records: readonly BatchRecord[]): Buffer =>
  Buffer.concat(records.map((record, offsetDelta) => encodeRecord({ offsetDelta, ...record }).buffer));

/** The same bytes in parts that end at these places, in one buffer that is overwritten as those of a codec are. */
function pushInParts(to: RecordScanner, all: Buffer, cuts: readonly number[]): void {
  const ends = [...cuts.map((cut) => cut % (all.length + 1)).toSorted((a, b) => a - b), all.length];
  const shared = Buffer.alloc(all.length);
  let at = 0;
  for (const end of ends) {
    const part = shared.subarray(0, end - at);
    all.copy(part, 0, at, end);
    if (!to.isDone) to.push(part);
    shared.fill(0xee);
    at = end;
  }
}

const bytes = fc.uint8Array({ maxLength: 60 }).map((array) => Buffer.from(array));
/** No names that every object has: kafkajs stumbles over those. */
const name = fc.string({ unit: 'binary', maxLength: 20 }).filter((made) => made.isWellFormed() && !(made in {}));
const record = fc.record({
  timestampDelta: fc.oneof(fc.nat(10_000), fc.integer({ min: -10_000, max: 2 ** 31 })),
  key: fc.option(bytes),
  value: fc.option(bytes),
  headers: fc.dictionary(name, fc.oneof(bytes, fc.array(bytes, { minLength: 2, maxLength: 4 })), { maxKeys: 6 }),
});
const cutsOf = fc.array(fc.nat(10_000), { maxLength: 20 });

describe('the records of a batch', () => {
  test('are those that kafkajs finds, whatever parts they come in', () => {
    fc.assert(
      fc.property(fc.array(record, { maxLength: 6 }), cutsOf, (records, cuts) => {
        const { scanner: scan, found } = scanner({ count: records.length, recordMaxBytes: 100_000 });
        pushInParts(scan, bytesOf(records), cuts);
        scan.end();
        const expected = records.map((each, offsetDelta) => {
          const decoder = new Decoder(encodeRecord({ offsetDelta, ...each }).buffer);
          decoder.readVarInt();
          const { timestamp, offset, key, value, headers } = decodeRecord(decoder, {
            firstOffset: '0',
            firstTimestamp: '0',
          });
          return {
            timestampDelta: Number(timestamp),
            offsetDelta: Number(offset),
            content: { key, value, headers: { ...headers } },
          };
        });
        expect(found).toEqual(expected);
      }),
      { numRuns: 300 },
    );
  });

  test('have memory of their own', () => {
    const all = bytesOf([{ key: 'k', value: 'v', headers: { h: 'x' } }]);
    const { scanner: scan, found } = scanner({ count: 1 });
    scan.push(all);
    all.fill(0);
    expect(found[0]?.content).toEqual({
      key: Buffer.from('k'),
      value: Buffer.from('v'),
      headers: { h: Buffer.from('x') },
    });
  });

  test.each([
    ['value', { value: Buffer.alloc(MAX) }],
    ['key', { key: Buffer.alloc(MAX) }],
    ['header', { headers: { h: Buffer.alloc(MAX) } }],
    ['many headers', { headers: Object.fromEntries(Array.from({ length: MAX }, (_, at) => [`h${String(at)}`, ''])) }],
  ])(
    'come without content where the %s makes them too large, and those around them whole',
    (_what, large: BatchRecord) => {
      const all = bytesOf([{ value: 'before' }, { ...large, timestampDelta: 7 }, { value: 'behind' }]);
      fc.assert(
        fc.property(cutsOf, (cuts) => {
          const { scanner: scan, found } = scanner({ count: 3 });
          pushInParts(scan, all, cuts);
          scan.end();
          expect(found.map(({ offsetDelta, content }) => [offsetDelta, content?.value?.toString()])).toEqual([
            [0, 'before'],
            [1, undefined],
            [2, 'behind'],
          ]);
          expect(found[1]?.timestampDelta).toBe(7);
        }),
        { numRuns: 100 },
      );
    },
  );

  test('may be exactly as large as they may be', () => {
    const exact = bytesOf([{ value: Buffer.alloc(100) }]);
    const lengthBytes = 2;
    for (const [recordMaxBytes, isThere] of [
      [exact.length - lengthBytes, true],
      [exact.length - lengthBytes - 1, false],
    ] as const) {
      const { scanner: scan, found } = scanner({ count: 1, recordMaxBytes });
      scan.push(exact);
      expect(found[0]?.content !== null).toBe(isThere);
    }
  });

  test('are passed over before the one that was asked for, also too large ones', () => {
    const all = bytesOf([{ value: 'a' }, { value: Buffer.alloc(2 * MAX) }, { value: 'c' }, { value: 'd' }]);
    const { scanner: scan, found } = scanner({ count: 4, fromDelta: 2 });
    scan.push(all);
    expect(found.map(({ offsetDelta }) => offsetDelta)).toEqual([2, 3]);
  });

  test('come no further where no more are wanted', () => {
    const { scanner: scan, found } = scanner({ count: 4, wanted: 2 });
    scan.push(bytesOf([{}, {}, {}, {}]));
    expect(found).toHaveLength(2);
    expect([scan.isDone, scan.hasAll]).toEqual([true, false]);
  });

  test('are never held beyond what one of them may have', () => {
    const { scanner: scan } = scanner({ count: 2 });
    const large = encodeRecord({ value: Buffer.alloc(10 * MAX) }).buffer;
    const part = Buffer.alloc(64);
    const before = process.memoryUsage().arrayBuffers;
    // A record of 1 GiB: its head, and then nothing but bytes to pass over.
    const head = Buffer.concat([Buffer.from([0x80, 0x80, 0x80, 0x80, 0x08]), large.subarray(3, 30)]);
    scan.push(head);
    for (let pushed = 0; pushed < 64 * 1024 * 1024; pushed += part.length * 1024)
      for (let at = 0; at < 1024; at += 1) scan.push(part);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(8 * 1024 * 1024);
    expect(scan.isDone).toBe(false);
  });

  test('that are cut off, or less than there should be, are damage', () => {
    const all = bytesOf([
      { key: 'k', value: 'v' },
      { value: 'w', headers: { h: 'x' } },
    ]);
    for (let length = 0; length < all.length; length += 1) {
      const { scanner: scan } = scanner({ count: 2 });
      expect(() => {
        scan.push(all.subarray(0, length));
        scan.end();
      }).toThrow(BatchDamaged);
    }
  });

  test('of any bytes are records or damage', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), fc.nat(5), cutsOf, (random, count, cuts) => {
        const { scanner: scan } = scanner({ count, recordMaxBytes: 50 });
        let end: unknown = new BatchDamaged();
        try {
          pushInParts(scan, Buffer.from(random), cuts);
          scan.end();
        } catch (error) {
          end = error;
        }
        expect(end).toBeInstanceOf(BatchDamaged);
      }),
      { numRuns: 2000 },
    );
  });

  test('with ten thousand headers, or such as every object has, take no time to speak of', () => {
    const many = Object.fromEntries(Array.from({ length: 100_000 }, (_, at) => [`h${String(at)}`, 'x']));
    const all = bytesOf([{ headers: many }, { headers: { constructor: 'a', toString: 'b' } }]);
    const { scanner: scan, found } = scanner({ count: 2, recordMaxBytes: 10_000_000 });
    scan.push(all);
    expect(Object.keys(found[0]?.content?.headers ?? {})).toHaveLength(100_000);
    expect(found[1]?.content?.headers['constructor']).toEqual(Buffer.from('a'));
  });
});
