import { zstdCompressSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { UNREAD_BATCH } from '../../../../src/edges/kafka/codecs.ts';
import { crc32c } from '../../../../src/edges/kafka/crc32c.ts';
import {
  fetchBudget,
  type FetchBudget,
  type FetchedPartition,
  readPartition,
  type ReadRecords,
} from '../../../../src/edges/kafka/fetched-partition.ts';
import { type BatchRecord, encodeRecord } from '../../../../src/edges/kafka/write-repair.ts';
import { batchOf, markerOf, packedZeros } from '../../../support/record-batches.ts';

const AT = { topic: 't', partition: 3 };
const MIB = 1024 * 1024;
const turn = async (): Promise<void> => {
  await new Promise(setImmediate);
};
const LIMITS = { recordMaxBytes: MIB, batchMaxBytes: 8 * MIB };

async function read(
  bytes: Buffer,
  {
    from = 0n,
    aborted = [],
    limits = LIMITS,
    budget = fetchBudget(),
  }: Partial<FetchedPartition> & {
    readonly limits?: typeof LIMITS;
    readonly budget?: FetchBudget;
  } = {},
): Promise<ReadRecords> {
  return await readPartition({ at: AT, from, bytes, aborted }, { ...limits, turn }, budget);
}

/** Everything up to the end, fetch by fetch, as a source reads it. */
async function readAll(
  bytes: Buffer,
  limits = LIMITS,
): Promise<{ readonly offsets: string[]; readonly fetches: number }> {
  const offsets: string[] = [];
  let from = 0n;
  for (let fetches = 0; fetches < 1000; fetches += 1) {
    const found = await read(bytes, { from, limits });
    if (found.next === from) return { offsets, fetches };
    for (const { offset, unread } of found.records) offsets.push(`${String(offset)} ${unread?.why ?? 'read'}`);
    from = found.next;
  }
  throw new Error('it does not come to an end');
}

const texts = ({ records, next }: ReadRecords): readonly unknown[] => [
  ...records.map(({ offset, value, unread }) => `${String(offset)} ${unread?.why ?? value?.toString() ?? 'null'}`),
  next,
];
const valued = (...values: readonly string[]): BatchRecord[] => values.map((value) => ({ value }));

const mebibytes = (count: number): BatchRecord[] =>
  Array.from({ length: count }, () => ({ value: Buffer.alloc(MIB - 100) }));
const transactional = (baseOffset: bigint, producerId: bigint, ...values: readonly string[]): Buffer =>
  batchOf({ baseOffset, producerId, isTransactional: true, records: valued(...values) });

/** A batch of zeros in one record, packed with zstd. */
const bomb = (baseOffset: bigint, size: number): Buffer =>
  batchOf({ baseOffset, codec: 'zstd', records: [{ value: Buffer.alloc(size) }] });

/** As it comes, but with a bit changed on its way. */
function changed(batch: Buffer, at: number): Buffer {
  const copy = Buffer.from(batch);
  copy[at] = (copy[at] ?? 0) ^ 0x20;
  return copy;
}

/** With a checksum that fits: as somebody has written it. */
const written = (packed: Buffer, of: Partial<Parameters<typeof batchOf>[0]> = {}): Buffer =>
  batchOf({ codec: 'zstd', packed, count: 3, lastOffsetDelta: 2, ...of });

describe('a fetched partition', () => {
  test.each(['none', 'gzip', 'zstd'] as const)(
    'has its records, each with its place and its time: %s',
    async (codec) => {
      const records = [
        { key: 'k', value: 'a', headers: { h: ['x', 'y'] }, timestampDelta: 5 },
        { key: null, value: null, timestampDelta: -3 },
      ];
      const found = await read(batchOf({ baseOffset: 40n, baseTimestampMs: 1000, codec, records }), { from: 40n });
      expect(found).toEqual({
        next: 42n,
        records: [
          {
            ...AT,
            offset: 40n,
            timestampMs: 1005,
            key: Buffer.from('k'),
            value: Buffer.from('a'),
            headers: { h: [Buffer.from('x'), Buffer.from('y')] },
          },
          { ...AT, offset: 41n, timestampMs: 997, key: null, value: null, headers: {} },
        ],
      });
    },
  );

  test('has the time of the broker where that counts', async () => {
    const batch = batchOf({ isLogAppendTime: true, maxTimestampMs: 77, baseTimestampMs: 5, records: valued('a') });
    expect((await read(batch)).records[0]?.timestampMs).toBe(77);
  });

  test('begins where it was asked for, within a batch too', async () => {
    const bytes = Buffer.concat([
      batchOf({ baseOffset: 10n, codec: 'gzip', records: valued('a', 'b', 'c') }),
      batchOf({ baseOffset: 13n, records: valued('d') }),
    ]);
    expect(texts(await read(bytes, { from: 11n }))).toEqual(['11 b', '12 c', '13 d', 14n]);
    expect(texts(await read(bytes, { from: 13n }))).toEqual(['13 d', 14n]);
  });

  test('goes on behind what compaction has taken from the end of a batch', async () => {
    const batch = batchOf({ baseOffset: 10n, records: valued('a'), lastOffsetDelta: 6 });
    expect(texts(await read(batch, { from: 10n }))).toEqual(['10 a', 17n]);
    expect(texts(await read(batchOf({ baseOffset: 10n, lastOffsetDelta: 6 }), { from: 10n }))).toEqual([17n]);
  });

  test('ends where the broker has cut it off', async () => {
    const whole = batchOf({ records: valued('a') });
    const bytes = Buffer.concat([whole, batchOf({ baseOffset: 1n, records: valued('b') })]);
    for (let length = whole.length; length < bytes.length; length += 1)
      expect(texts(await read(bytes.subarray(0, length)))).toEqual(['0 a', 1n]);
    expect(texts(await read(Buffer.alloc(0), { from: 7n }))).toEqual([7n]);
  });

  test('leaves out markers and what was aborted, and goes on behind them', async () => {
    const bytes = Buffer.concat([
      transactional(0n, 1n, 'aborted'),
      transactional(1n, 2n, 'committed'),
      // A record of anybody's may have a key like a marker's.
      batchOf({ baseOffset: 2n, producerId: 1n, records: [{ key: Buffer.alloc(4), value: 'plain' }] }),
      transactional(3n, 1n, 'aborted'),
      markerOf(4n, 2n, 'commit'),
      markerOf(5n, 1n, 'abort'),
      transactional(6n, 1n, 'another'),
      markerOf(7n, 1n, 'commit'),
    ]);
    const aborted = [{ producerId: 1n, firstOffset: 0n }];
    expect(texts(await read(bytes, { aborted }))).toEqual(['1 committed', '2 plain', '6 another', 8n]);
    expect(texts(await read(markerOf(5n, 1n, 'abort'), { from: 5n }))).toEqual([6n]);
  });

  test('keeps an aborted transaction in mind that was asked for from its middle', async () => {
    const bytes = Buffer.concat([
      transactional(0n, 1n, 'a', 'b'),
      transactional(2n, 1n, 'c', 'd'),
      markerOf(4n, 1n, 'abort'),
    ]);
    expect(texts(await read(bytes, { from: 1n, aborted: [{ producerId: 1n, firstOffset: 0n }] }))).toEqual([5n]);
  });

  test('does not unpack what was aborted', async () => {
    const bytes = batchOf({
      codec: 'zstd',
      packed: Buffer.from('no batch'),
      count: 1,
      producerId: 1n,
      isTransactional: true,
    });
    expect(texts(await read(bytes, { aborted: [{ producerId: 1n, firstOffset: 0n }] }))).toEqual([1n]);
  });
});

describe('a record that is too large', () => {
  test.each(['none', 'gzip', 'zstd'] as const)(
    'comes without content, and the others of its batch whole: %s',
    async (codec) => {
      const records = [...valued('a'), { key: 'k', value: Buffer.alloc(2 * MIB) }, ...valued('c')];
      const found = await read(batchOf({ codec, records, baseTimestampMs: 9 }));
      expect(texts(found)).toEqual(['0 a', '1 record_too_large', '2 c', 3n]);
      expect(found.records[1]).toEqual({
        ...AT,
        offset: 1n,
        timestampMs: 9,
        key: null,
        value: null,
        headers: {},
        unread: { why: 'record_too_large', batch: null },
      });
    },
  );
});

describe('a batch that unpacks to too much', () => {
  test('is one record without content for each offset of its head, and the next batch goes on', async () => {
    const records = [...valued('a'), { value: Buffer.alloc(9 * MIB) }, ...valued('c')];
    const bytes = Buffer.concat([
      batchOf({ codec: 'gzip', records, lastOffsetDelta: 4 }),
      batchOf({ baseOffset: 5n, records: valued('f') }),
    ]);
    const all = [0, 1, 2, 3, 4].map((offset) => `${String(offset)} record_too_large`);
    expect(texts(await read(bytes))).toEqual([...all, '5 f', 6n]);
    expect(texts(await read(bytes, { from: 3n }))).toEqual([...all.slice(3), '5 f', 6n]);
  });

  test('may come to exactly what is allowed', async () => {
    const record = encodeRecord({ value: Buffer.alloc(100) }).buffer;
    const batch = batchOf({ codec: 'zstd', packed: zstdCompressSync(record), count: 1 });
    expect(texts(await read(batch, { limits: { ...LIMITS, batchMaxBytes: record.length - 1 } }))).toEqual([
      '0 record_too_large',
      1n,
    ]);
    expect(
      (await read(batch, { limits: { ...LIMITS, batchMaxBytes: record.length } })).records[0]?.unread?.why,
    ).toBeUndefined();
  });

  test('comes in parts where it has more offsets than fit into one fetch, each of them once', async () => {
    const value = Buffer.alloc(200);
    const batch = batchOf({ codec: 'zstd', records: Array.from({ length: 50_000 }, () => ({ value })) });
    const { offsets, fetches } = await readAll(batch);
    expect(fetches).toBe(2);
    expect(offsets).toEqual(Array.from({ length: 50_000 }, (_, offset) => `${String(offset)} record_too_large`));
  });
});

describe('a batch that is none', () => {
  const noRecords = [
    ['does not unpack', Buffer.from('this is no zstd')],
    ['is cut off', zstdCompressSync(Buffer.alloc(1000, 'x')).subarray(0, 10)],
    ['has fewer records than it says', zstdCompressSync(encodeRecord({ value: 'a' }).buffer)],
    ['holds no records', zstdCompressSync(Buffer.alloc(1000, 0x03))],
  ] as const;

  test.each(noRecords)('and %s, but came as it was written, is records without content', async (_what, packed) => {
    const bytes = Buffer.concat([written(packed), batchOf({ baseOffset: 3n, records: valued('d') })]);
    expect(texts(await read(bytes))).toEqual(['0 undecodable', '1 undecodable', '2 undecodable', '3 d', 4n]);
  });

  test.each(noRecords)('and %s, and has changed on its way, is fetched again', async (_what, packed) => {
    const batch = changed(written(packed), 63);
    await expect(read(batch)).rejects.toMatchObject({ name: UNREAD_BATCH });
  });

  test('only to this version, for its codec is unknown, is fetched again', async () => {
    const batch = batchOf({ records: valued('a') });
    batch.writeInt16BE(7, 21);
    batch.writeUInt32BE(crc32c(batch.subarray(21)), 17);
    await expect(read(batch)).rejects.toMatchObject({ name: UNREAD_BATCH });
  });

  test('ends before it begins', async () => {
    const batch = batchOf({ records: valued('a'), lastOffsetDelta: -2 });
    await expect(read(batch)).rejects.toMatchObject({ name: UNREAD_BATCH });
  });

  test('has a size that cannot be', async () => {
    const batch = batchOf({ records: valued('a') });
    batch.writeInt32BE(3, 8);
    await expect(read(batch)).rejects.toMatchObject({ name: UNREAD_BATCH });
  });

  test('never makes anything but records or an error with a name, whatever its bytes are', async () => {
    const batches = [
      batchOf({ codec: 'zstd', records: valued('a', 'b', 'c') }),
      batchOf({ codec: 'gzip', records: valued('a', 'b', 'c') }),
      batchOf({ records: [{ key: 'k', value: 'v', headers: { h: 'x' } }] }),
      markerOf(0n, 1n, 'abort'),
    ];
    const damaged = fc
      .tuple(fc.constantFrom(...batches), fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 3 }))
      .map(([batch, changes]) => {
        const copy = Buffer.from(batch);
        for (const [at, value] of changes) copy[17 + (at % (copy.length - 17))] = value;
        // Few offsets: a head may name billions.
        copy.writeInt32BE(5, 23);
        return copy;
      });
    await fc.assert(
      fc.asyncProperty(damaged, async (batch) => {
        const end = await read(batch).then(
          ({ next }) => next,
          (error: unknown) => (error instanceof Error ? error.name : error),
        );
        expect([6n, UNREAD_BATCH]).toContain(end);
      }),
      { numRuns: 500 },
    );
  });
});

describe('what one fetch may take', () => {
  test('is bounded within one batch, whose rest is read by the next fetch', async () => {
    const limits = { ...LIMITS, batchMaxBytes: 256 * MIB };
    const { offsets, fetches } = await readAll(batchOf({ codec: 'zstd', records: mebibytes(40) }), limits);
    expect(fetches).toBe(3);
    expect(offsets).toEqual(Array.from({ length: 40 }, (_, offset) => `${String(offset)} read`));
  });

  test('is bounded for all of its partitions together', async () => {
    const budget = fetchBudget();
    const batch = batchOf({ codec: 'zstd', records: mebibytes(7) });
    const counts: number[] = [];
    for (let partition = 0; partition < 4; partition += 1) counts.push((await read(batch, { budget })).records.length);
    expect(counts).toEqual([7, 7, 2, 0]);
  });

  test('counts headers, of which a record can have many', async () => {
    const headers = Object.fromEntries(Array.from({ length: 10_000 }, (_, at) => [`h${String(at)}`, '']));
    const batch = batchOf({ codec: 'zstd', records: Array.from({ length: 40 }, () => ({ headers })) });
    expect((await read(batch)).records.length).toBeLessThan(20);
  });

  test('is one record at least', async () => {
    const limits = { recordMaxBytes: 64 * MIB, batchMaxBytes: 256 * MIB };
    const batch = batchOf({ codec: 'zstd', records: [{ value: Buffer.alloc(20 * MIB) }, ...valued('b')] });
    expect((await readAll(batch, limits)).offsets).toEqual(['0 read', '1 read']);
  });

  test('is no more than one large batch of a partition, so that others have their turn', async () => {
    const limits = { recordMaxBytes: MIB, batchMaxBytes: 64 * MIB };
    const bytes = Buffer.concat([bomb(0n, 40 * MIB), bomb(1n, 40 * MIB)]);
    expect(texts(await read(bytes, { limits }))).toEqual(['0 record_too_large', 1n]);
  });

  test('ends after some large batches, whatever partitions they are of', async () => {
    const limits = { recordMaxBytes: MIB, batchMaxBytes: 64 * MIB };
    const budget = { ...fetchBudget(), unpackBytes: 50 * MIB };
    const counts: number[] = [];
    for (let partition = 0; partition < 3; partition += 1)
      counts.push((await read(bomb(0n, 30 * MIB), { limits, budget })).records.length);
    expect(counts).toEqual([1, 1, 0]);
  });

  test('stays below a bound, whatever its batches unpack to', async () => {
    const limits = { recordMaxBytes: MIB, batchMaxBytes: 256 * MIB };
    const bytes = written(await packedZeros('zstd', 200 * MIB), { count: 1, lastOffsetDelta: 0 });
    let peak = 0;
    const before = process.memoryUsage().external;
    const watch = setInterval(() => {
      peak = Math.max(peak, process.memoryUsage().external - before);
    }, 1);
    for (let round = 0; round < 3; round += 1)
      expect(texts(await read(bytes, { limits }))).toEqual(['0 record_too_large', 1n]);
    clearInterval(watch);
    expect(peak).toBeLessThan(128 * MIB);
  });
});
