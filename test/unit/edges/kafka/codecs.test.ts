import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import fc from 'fast-check';
import kafkajs from 'kafkajs';
import { describe, expect, test } from 'vitest';
import {
  BatchTooLarge,
  type Codec,
  registerCodecs,
  unpack as unpackBatch,
  UNREAD_BATCH,
} from '../../../../src/edges/kafka/codecs.ts';
import { unpackLz4 as lz4Parts } from '../../../../src/edges/kafka/lz4.ts';
import { unpackSnappy as snappyParts } from '../../../../src/edges/kafka/snappy.ts';
import { Xxh32, xxh32 } from '../../../../src/edges/kafka/xxh32.ts';

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
const MIB = 1024 * 1024;
const MARK = '04224d18';

const bytes = (hex: string): Buffer => Buffer.from(hex.replaceAll(' ', ''), 'hex');
const sha256 = (of: Buffer): string => createHash('sha256').update(of).digest('hex');
const packedOf = (vectors: readonly Vector[], name: string, plain: Text): Buffer =>
  bytes(vectors.find((vector) => vector.name === name && vector.plain === plain)?.packed ?? '');

/** All parts in one; each is good only until the next. */
function joined(parts: Iterable<Uint8Array>): Buffer {
  const copies: Buffer[] = [];
  for (const part of parts) copies.push(Buffer.from(part));
  return Buffer.concat(copies);
}
const unpackLz4 = (packed: Uint8Array): Buffer => joined(lz4Parts(packed));
const unpackSnappy = (packed: Uint8Array): Buffer => joined(snappyParts(packed));

const codecs = [
  { codec: 'snappy' as const, unpack: unpackSnappy, error: 'SnappyError' },
  { codec: 'lz4' as const, unpack: unpackLz4, error: 'Lz4Error' },
];

/** What a block of snappy says it unpacks to. */
function preambleOf(length: number): Buffer {
  const digits: number[] = [];
  for (let rest = length; ; rest = Math.floor(rest / 128)) {
    digits.push((rest % 128) + (rest >= 128 ? 128 : 0));
    if (rest < 128) return Buffer.from(digits);
  }
}

/** What came of unpacking, with the error by its name: anything but an error of the codec is a defect. */
function outcome(unpack: typeof unpackSnappy, packed: Buffer): Buffer | string {
  try {
    return unpack(packed);
  } catch (error) {
    return error instanceof Error ? error.name : 'not an error';
  }
}

describe.each(codecs)('$codec', ({ codec, unpack, error }) => {
  test.each(VECTORS[codec])('unpacks: $name, $plain', ({ packed, plain }) => {
    expect(sha256(unpack(bytes(packed)))).toBe(VECTORS.sha256[plain]);
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
    expect(sha256(unpack(within))).toBe(VECTORS.sha256.noise);
  });

  test('ends with bytes or with its own error, whatever it is given', () => {
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
      fc.property(fc.oneof(random, damaged), (packed) => {
        const end = outcome(unpack, packed);
        expect(typeof end === 'string' ? end : error).toBe(error);
      }),
      { numRuns: 1500 },
    );
  });
});

describe('snappy', () => {
  test('knows literals and copies of every form', () => {
    // A literal of 4, copies with an offset of 1, 2 and 4 bytes, then literals whose length has 1 to 4 bytes.
    const elements = '0c 61626364  01 04  0e 0400  0f 04000000  f0 00 65  f4 0000 66  f8 000000 67  fc 00000000 68';
    expect(unpackSnappy(bytes(`14 ${elements}`)).toString()).toBe('abcdabcdabcdabcdefgh');
  });

  test('repeats what it is just writing', () => {
    expect(unpackSnappy(bytes('07 04 6162 05 02')).toString()).toBe('abababa');
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
    expect(unpackSnappy(whole).toString()).toBe('ab');
    for (let length = 9; length < whole.length; length += 1) {
      if (length === 16 || length === 23) continue;
      expect(outcome(unpackSnappy, whole.subarray(0, length))).toBe('SnappyError');
    }
  });

  test('takes no memory for a length that its bytes cannot amount to', () => {
    for (const block of ['ffffffff0f 00 61', 'ffffff7f 00 61'])
      expect(() => unpackSnappy(bytes(block))).toThrow('cannot hold');
    expect(outcome(unpackSnappy, bytes('ffffffffff 01 00 61'))).toBe('SnappyError');
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

const noiseOf = (length: number): Buffer => createHash('shake256', { outputLength: length }).update('x').digest();

describe('what is repeated from far back', () => {
  test('is right in snappy, however long the block', () => {
    const noise = noiseOf(3 * MIB);
    const length = 13 * MIB;
    const offset = Buffer.alloc(4);
    offset.writeUInt32LE(noise.length);
    const literal = Buffer.alloc(4);
    literal.writeUIntLE(noise.length - 1, 0, 3);
    const copy = Buffer.concat([bytes('ff'), offset]);
    const copies = Buffer.alloc((5 * (length - noise.length)) / 64, copy);
    const block = Buffer.concat([preambleOf(length), bytes('f8'), literal.subarray(0, 3), noise, copies]);
    expect(unpackSnappy(block).equals(Buffer.alloc(length, noise))).toBe(true);
  });

  test('is right in lz4, over many linked blocks', () => {
    const noise = noiseOf(65_535);
    const size = Buffer.alloc(4);
    size.writeUInt32LE(2 ** 31 + noise.length);
    const parts = [bytes(`${MARK} 404000`), size, noise];
    let done = noise.length;
    for (let block = 0; block < 40; block += 1) {
      // A match of 4 + 15 + 255 * 200 + 7 bytes, then 5 literals.
      const literals = Buffer.from([0, 1, 2, 3, 4].map((at) => noise[(done + 51_026 + at) % noise.length] ?? 0));
      const content = Buffer.concat([bytes('0f ffff'), Buffer.alloc(200, 0xff), bytes('07 50'), literals]);
      const length = Buffer.alloc(4);
      length.writeUInt32LE(content.length);
      parts.push(length, content);
      done += 51_031;
    }
    const unpacked = unpackLz4(Buffer.concat([...parts, bytes('00000000')]));
    expect(unpacked.equals(Buffer.alloc(done, noise))).toBe(true);
  });
});

describe('lz4', () => {
  test('repeats what it is just writing', () => {
    expect(unpackLz4(inBlock('1f 61 0100 01 50 6263646566')).toString()).toBe(`${'a'.repeat(21)}bcdef`);
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
    expect(unpackLz4(frame('40')).toString()).toBe('aaaaab');
    expect(outcome(unpackLz4, frame('60'))).toBe('Lz4Error');
  });

  test('takes a plain block as it is, up to the size the head names', () => {
    expect(unpackLz4(plainBlock(65_536))).toEqual(Buffer.alloc(65_536, 'x'));
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

describe('xxh32', () => {
  test('is the same of parts of any size', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), fc.array(fc.nat(40), { maxLength: 6 }), (of, cuts) => {
        const checksum = new Xxh32();
        let at = 0;
        for (const cut of cuts) {
          checksum.update(of.subarray(at, at + cut));
          at = Math.min(of.length, at + cut);
        }
        expect(checksum.update(of.subarray(at)).digest()).toBe(xxh32(of));
      }),
    );
  });
});

const turn = async (): Promise<void> => {
  await new Promise(setImmediate);
};

const GZIP = 1;
const SNAPPY = 2;
const LZ4 = 3;
const ZSTD = 4;

/** One raw block of snappy that unpacks to so many zeros: a literal, then copies of 64. */
function snappyZeros(length: number): Buffer {
  const copies = Buffer.alloc(3 * ((length - 64) / 64), bytes('fe 4000'));
  return Buffer.concat([preambleOf(length), bytes('ec'), Buffer.alloc(60), bytes('0c 00000000'), copies]);
}

/** An LZ4 frame of so many blocks that each unpack to 4 MiB of zeros. */
function lz4Zeros(blocks: number): Buffer {
  const rest = 4 * MIB - 1 - 4 - 15 - 5;
  const match = Buffer.concat([
    bytes('1f 00 0100'),
    Buffer.alloc(Math.floor(rest / 255), 0xff),
    Buffer.from([rest % 255]),
  ]);
  const block = Buffer.concat([match, bytes('50 0000000000')]);
  const size = Buffer.alloc(4);
  size.writeUInt32LE(block.length);
  const all = Array.from({ length: blocks }, () => Buffer.concat([size, block]));
  return Buffer.concat([bytes(`${MARK} 607000`), ...all, bytes('00000000')]);
}

const bombs = [
  { name: 'gzip', codec: GZIP, packed: (size: number): Buffer => gzipSync(Buffer.alloc(size)) },
  { name: 'snappy', codec: SNAPPY, packed: snappyZeros },
  { name: 'lz4', codec: LZ4, packed: (size: number): Buffer => lz4Zeros(size / (4 * MIB)) },
  { name: 'zstd', codec: ZSTD, packed: (size: number): Buffer => zstdCompressSync(Buffer.alloc(size)) },
];

describe.each(bombs)('a batch in $name', ({ codec, packed }) => {
  test('is unpacked in parts that are small, whatever it comes to', async () => {
    let sum = 0;
    let largest = 0;
    for await (const part of unpackBatch(codec, packed(64 * MIB), { maxBytes: 64 * MIB, turn })) {
      sum += part.length;
      largest = Math.max(largest, part.length);
    }
    expect(sum).toBe(64 * MIB);
    expect(largest).toBeLessThanOrEqual(4 * MIB);
  });

  test('ends by name where it comes to more than it may, and gives no more than that before', async () => {
    let sum = 0;
    const all = async (maxBytes: number): Promise<void> => {
      sum = 0;
      for await (const part of unpackBatch(codec, packed(32 * MIB), { maxBytes, turn })) sum += part.length;
    };
    await expect(all(16 * MIB - 1)).rejects.toThrow(BatchTooLarge);
    expect(sum).toBeLessThan(16 * MIB);
    await expect(all(32 * MIB - 1)).rejects.toThrow(BatchTooLarge);
    await all(32 * MIB);
    expect(sum).toBe(32 * MIB);
  });

  test('is no further unpacked than somebody asks for', async () => {
    for await (const part of unpackBatch(codec, packed(64 * MIB), { maxBytes: 64 * MIB, turn })) {
      expect(part.length).toBeGreaterThan(0);
      break;
    }
  });

  test('ends with an error where it is cut off', async () => {
    const half = packed(8 * MIB);
    const all = async (): Promise<void> => {
      for await (const _ of unpackBatch(codec, half.subarray(0, half.length / 2), { maxBytes: 64 * MIB, turn }));
    };
    await expect(all()).rejects.toThrow(/unexpected end|cut off|does not end|cannot hold|shorter/);
  });
});

function registered(type: number): Codec {
  registerCodecs();
  return (CompressionCodecs[type as 1] as () => Codec)();
}

describe('kafkajs', () => {
  test('finds the codecs, of which two read and do not write', async () => {
    for (const type of [CompressionTypes.Snappy, CompressionTypes.LZ4])
      await expect(registered(type).compress({ buffer: Buffer.alloc(1) })).rejects.toThrow('writes no batches');
    const text = Buffer.from('a record '.repeat(1000));
    for (const type of [CompressionTypes.GZIP, CompressionTypes.ZSTD]) {
      const packed = await registered(type).compress({ buffer: text });
      expect(packed.length).toBeLessThan(text.length);
      expect(await registered(type).decompress(packed)).toEqual(text);
    }
    const snappy = registered(CompressionTypes.Snappy);
    expect(sha256(await snappy.decompress(packedOf(VECTORS.snappy, 'raw', 'noise')))).toBe(VECTORS.sha256.noise);
  });

  test('gives up at once on what does not unpack, by the name of the error', async () => {
    const types = [CompressionTypes.GZIP, CompressionTypes.Snappy, CompressionTypes.LZ4, CompressionTypes.ZSTD];
    for (const type of types)
      await expect(registered(type).decompress(Buffer.alloc(3, 0xff))).rejects.toMatchObject({ name: UNREAD_BATCH });
    const bomb = zstdCompressSync(Buffer.alloc(256 * MIB + 1));
    await expect(registered(CompressionTypes.ZSTD).decompress(bomb)).rejects.toMatchObject({ name: UNREAD_BATCH });
  });
});
