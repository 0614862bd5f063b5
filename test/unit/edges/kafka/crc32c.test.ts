import { expect, test } from 'vitest';
import { crc32c } from '../../../../src/edges/kafka/crc32c.ts';

test('is the checksum of RFC 3720, appendix B.4', () => {
  expect(crc32c(Buffer.alloc(32))).toBe(0x8a_91_36_aa);
  expect(crc32c(Buffer.alloc(32, 0xff))).toBe(0x62_a8_ab_43);
  expect(crc32c(Buffer.from(Array.from({ length: 32 }, (_, index) => index)))).toBe(0x46_dd_79_4e);
});
