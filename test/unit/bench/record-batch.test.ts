import { describe, expect, test } from 'vitest';
import { BatchBuilder, crc32c } from '../../bench/record-batch.ts';

describe('the checksum', () => {
  // RFC 3720, appendix B.4, and the usual check value.
  test.each([
    [Buffer.alloc(32), 0x8a_91_36_aa],
    [Buffer.alloc(32, 0xff), 0x62_a8_ab_43],
    [Buffer.from('123456789'), 0xe3_06_92_83],
  ])('is that of the standard', (bytes, expected) => {
    expect(crc32c(bytes)).toBe(expected);
  });
});

describe('a batch', () => {
  test('refuses what it has no room for, and is empty after it was taken', () => {
    const builder = new BatchBuilder(100);
    expect(builder.add('k', 'v'.repeat(20))).toBe(true);
    expect(builder.add('k', 'v'.repeat(20))).toBe(false);
    expect(builder.count).toBe(1);
    builder.take(0);
    expect(builder.count).toBe(0);
    expect(builder.add('k', 'v'.repeat(20))).toBe(true);
  });

  test('says its length, its number of records and its checksum', () => {
    const builder = new BatchBuilder(10_000);
    for (let record = 0; record < 70; record += 1) builder.add('key', 'v'.repeat(64 + record));
    const batch = builder.take(1_700_000_000_000);
    expect(batch.readInt32BE(8)).toBe(batch.length - 12);
    expect(batch.readInt32BE(57)).toBe(70);
    expect(batch.readInt32BE(23)).toBe(69);
    expect(batch.readUInt32BE(17)).toBe(crc32c(batch, 21));
  });
});
