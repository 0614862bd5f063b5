import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import kafkajs from 'kafkajs';
import { describe, expect, test } from 'vitest';
import { type Codec, LZ4, registerCodecs, SNAPPY, UNREAD_BATCH, ZSTD } from '../../../../src/edges/kafka/codecs.ts';
import { unpackLz4 } from '../../../../src/edges/kafka/lz4.ts';
import { unpackSnappy } from '../../../../src/edges/kafka/snappy.ts';
import { xxh32 } from '../../../../src/edges/kafka/xxh32.ts';

const { CompressionCodecs, CompressionTypes } = kafkajs;

type Text = 'empty' | 'one' | 'zeros' | 'noise' | 'records';
interface Vector {
  readonly name: string;
  readonly plain: Text;
  /** Hex. */
  readonly packed: string;
}

/** Packed by python-snappy 0.7.3, python-lz4 4.4.5 and the Java client of Kafka 4.3.1, not by this connector. */
const VECTORS = JSON.parse(
  readFileSync(new URL('../../../fixtures/codecs/vectors.json', import.meta.url), 'utf8'),
) as Readonly<{ snappy: readonly Vector[]; lz4: readonly Vector[]; sha256: Readonly<Record<Text, string>> }>;
const PLENTY = 1_000_000;
const MARK = '04224d18';

const bytes = (hex: string): Buffer => Buffer.from(hex.replaceAll(' ', ''), 'hex');
const sha256 = (of: Buffer): string => createHash('sha256').update(of).digest('hex');
const packedOf = (vectors: readonly Vector[], name: string, plain: Text): Buffer =>
  bytes(vectors.find((vector) => vector.name === name && vector.plain === plain)?.packed ?? '');

const codecs = [
  { codec: 'snappy' as const, unpack: unpackSnappy, error: 'SnappyError' },
  { codec: 'lz4' as const, unpack: unpackLz4, error: 'Lz4Error' },
];

/** What came of unpacking, with the error by its name: anything but an error of the codec is a defect. */
function outcome(unpack: typeof unpackSnappy, packed: Buffer, mostBytes = PLENTY): Buffer | string {
  try {
    return unpack(packed, mostBytes);
  } catch (error) {
    return error instanceof Error ? error.name : 'not an error';
  }
}

describe.each(codecs)('$codec', ({ codec, unpack, error }) => {
  test.each(VECTORS[codec])('unpacks: $name, $plain', ({ packed, plain }) => {
    expect(sha256(unpack(bytes(packed), PLENTY))).toBe(VECTORS.sha256[plain]);
  });

  test('refuses to unpack to more than it may', () => {
    for (const { packed } of VECTORS[codec].filter(({ plain }) => plain === 'zeros')) {
      expect(outcome(unpack, bytes(packed), 99_999)).toBe(error);
      const exactly = outcome(unpack, bytes(packed), 100_000);
      expect(typeof exactly === 'string' ? exactly : sha256(exactly)).toBe(VECTORS.sha256.zeros);
    }
  });

  test('refuses what is cut off anywhere', () => {
    // Between two streams in a row nothing shows that the second is missing.
    for (const { packed, plain, name } of VECTORS[codec]) {
      const whole = bytes(packed);
      if (plain === 'empty' || whole.length > 1000 || name.startsWith('two')) continue;
      for (let length = 0; length < whole.length; length += 1)
        expect(outcome(unpack, whole.subarray(0, length))).toBe(error);
    }
  });

  test('reads what lies within a larger buffer', () => {
    const vector = VECTORS[codec].find(({ plain }) => plain === 'noise');
    const packed = bytes(vector?.packed ?? '');
    const within = Buffer.concat([Buffer.alloc(7, 0xff), packed, Buffer.alloc(9, 0xff)]).subarray(7, 7 + packed.length);
    expect(sha256(unpack(within, PLENTY))).toBe(VECTORS.sha256.noise);
  });

  test('ends with bytes within the bound or with its own error, whatever it is given', () => {
    const starts = codec === 'lz4' ? ['', `${MARK}6040`, `${MARK}40700a`] : ['', '82534e41505059000000000100000001'];
    const random = fc
      .tuple(fc.constantFrom(...starts), fc.uint8Array({ maxLength: 200 }))
      .map(([start, rest]) => Buffer.concat([bytes(start), rest]));
    const damaged = fc
      .tuple(fc.constantFrom(...VECTORS[codec]), fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 4 }))
      .map(([{ packed }, changes]) => {
        const copy = bytes(packed);
        for (const [at, value] of changes) copy[at % copy.length] = value;
        return copy;
      });
    fc.assert(
      fc.property(fc.oneof(random, damaged), fc.constantFrom(64, 5000, PLENTY), (packed, mostBytes) => {
        const end = outcome(unpack, packed, mostBytes);
        expect(typeof end === 'string' ? end === error : end.length <= mostBytes).toBe(true);
      }),
      { numRuns: 1500 },
    );
  });
});

describe('snappy', () => {
  test('knows literals and copies of every form', () => {
    // A literal of 4, copies with an offset of 1, 2 and 4 bytes, then literals whose length has 1 to 4 bytes.
    const elements = '0c 61626364  01 04  0e 0400  0f 04000000  f0 00 65  f4 0000 66  f8 000000 67  fc 00000000 68';
    expect(unpackSnappy(bytes(`14 ${elements}`), PLENTY).toString()).toBe('abcdabcdabcdabcdefgh');
  });

  test('repeats what it is just writing', () => {
    expect(unpackSnappy(bytes('07 04 6162 05 02'), PLENTY).toString()).toBe('abababa');
  });

  test('refuses copies that reach before the block, of nothing, or beyond its length', () => {
    for (const block of ['05 00 61 01 02', '05 00 61 01 00', '04 00 61 05 01', '02 00 61', '01 04 6162'])
      expect(outcome(unpackSnappy, bytes(block))).toBe('SnappyError');
  });

  test('refuses a literal that is longer than its block says, or than what is there', () => {
    const sixty = '61'.repeat(60);
    for (const block of [`0a ec ${sixty}`, `3c ec ${sixty.slice(2)}`, '02 f0', '02 f0 01 61'])
      expect(outcome(unpackSnappy, bytes(block))).toBe('SnappyError');
  });

  test('refuses a framed stream that is cut off anywhere but between two blocks', () => {
    const whole = bytes('82534e4150505900 00000001 00000001  00000003 010061  00000003 010062');
    expect(unpackSnappy(whole, PLENTY).toString()).toBe('ab');
    for (let length = 9; length < whole.length; length += 1) {
      if (length === 16 || length === 23) continue;
      expect(outcome(unpackSnappy, whole.subarray(0, length))).toBe('SnappyError');
    }
  });

  test('takes no memory for a length that its bytes cannot amount to', () => {
    for (const block of ['ffffffff0f 00 61', 'ffffff7f 00 61'])
      expect(() => unpackSnappy(bytes(block), 2 ** 33)).toThrow('cannot hold');
    expect(outcome(unpackSnappy, bytes('ffffffffff 01 00 61'), 2 ** 40)).toBe('SnappyError');
  });
});

/** An LZ4 frame with this one block. */
function inBlock(block: string): Buffer {
  const content = bytes(block);
  const size = Buffer.alloc(4);
  size.writeUInt32LE(content.length);
  return Buffer.concat([bytes(`${MARK} 604000`), size, content, bytes('00000000')]);
}

/** An LZ4 frame with one block that is not packed. */
function plainBlock(length: number): Buffer {
  const size = Buffer.alloc(4);
  size.writeUInt32LE(2 ** 31 + length);
  return Buffer.concat([bytes(`${MARK} 604000`), size, Buffer.alloc(length, 'x'), bytes('00000000')]);
}

describe('lz4', () => {
  test('repeats what it is just writing', () => {
    expect(unpackLz4(inBlock('1f 61 0100 01 50 6263646566'), PLENTY).toString()).toBe(`${'a'.repeat(21)}bcdef`);
  });

  test('refuses matches that reach too far back, of nothing, or at the end of a block', () => {
    for (const block of ['10 61 0200 10 62', '10 61 0000 10 62', '10 61 0100', '10 61 01', '20 61', 'f0 ff ff'])
      expect(outcome(unpackLz4, inBlock(block))).toBe('Lz4Error');
  });

  test('lets matches reach into the block before only where blocks are linked', () => {
    const linked = inBlock('10 61');
    const second = inBlock('00 0100 10 62').subarray(7);
    const frame = (flags: string): Buffer => {
      const both = Buffer.concat([linked.subarray(0, -4), second]);
      both.set(bytes(flags), 4);
      return both;
    };
    expect(unpackLz4(frame('40'), PLENTY).toString()).toBe('aaaaab');
    expect(outcome(unpackLz4, frame('60'))).toBe('Lz4Error');
  });

  test('takes a plain block as it is, up to the size the head names', () => {
    expect(unpackLz4(plainBlock(65_536), PLENTY)).toEqual(Buffer.alloc(65_536, 'x'));
    expect(outcome(unpackLz4, plainBlock(65_537))).toBe('Lz4Error');
  });

  test('refuses another version, a dictionary, a block size that is none, and what is no frame', () => {
    for (const start of [`${MARK} 2040 00`, `${MARK} 6140 00`, `${MARK} 6030 00`, '02214c18 00000000', '1f8b0800'])
      expect(outcome(unpackLz4, bytes(`${start} 00000000`))).toBe('Lz4Error');
  });

  test('refuses content of which one bit has changed, where there are checksums', () => {
    const packed = packedOf(VECTORS.lz4, 'checksums of blocks and content, with its size', 'records');
    for (const at of [30, 1000, packed.length - 1]) {
      const changed = Buffer.from(packed);
      changed[at] = (changed[at] ?? 0) ^ 0x10;
      expect(outcome(unpackLz4, changed)).toBe('Lz4Error');
    }
  });

  test('has the checksum of the published test values', () => {
    expect(xxh32(Buffer.alloc(0))).toBe(0x02_cc_5d_05);
    expect(xxh32(Buffer.from('a'))).toBe(0x55_0d_74_56);
    expect(xxh32(Buffer.from('Nobody inspects the spammish repetition'))).toBe(0xe2_29_3b_2f);
  });
});

describe('kafkajs', () => {
  test('finds the codecs, which read and do not write', async () => {
    registerCodecs();
    const found: readonly [Codec, unknown][] = [
      [SNAPPY, CompressionCodecs[CompressionTypes.Snappy]],
      [LZ4, CompressionCodecs[CompressionTypes.LZ4]],
    ];
    for (const [codec, registered] of found) {
      expect((registered as () => unknown)()).toBe(codec);
      await expect(codec.compress({ buffer: Buffer.alloc(1) })).rejects.toThrow('writes no batches');
    }
    expect(sha256(await SNAPPY.decompress(packedOf(VECTORS.snappy, 'raw', 'noise')))).toBe(VECTORS.sha256.noise);
    expect(sha256(await LZ4.decompress(packedOf(VECTORS.lz4, 'independent blocks', 'noise')))).toBe(
      VECTORS.sha256.noise,
    );
  });

  test('gives up at once on what does not unpack, by the name of the error', async () => {
    for (const codec of [SNAPPY, LZ4, ZSTD])
      await expect(codec.decompress(Buffer.alloc(3, 0xff))).rejects.toMatchObject({ name: UNREAD_BATCH });
  });
});
