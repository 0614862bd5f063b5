/** Castagnoli's polynomial, its bits reversed. */
const POLYNOMIAL = 0x82_f6_3b_78;

const TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte;
  for (let bit = 0; bit < 8; bit += 1) value = (value & 1) === 0 ? value >>> 1 : (value >>> 1) ^ POLYNOMIAL;
  return value >>> 0;
});

/** The checksum CRC-32C (RFC 3720, appendix B.4), which batches carry. */
export function crc32c(bytes: Uint8Array): number {
  let crc = 0xff_ff_ff_ff;
  for (const byte of bytes) crc = (TABLE[(crc ^ byte) & 0xff] ?? 0) ^ (crc >>> 8);
  return (crc ^ 0xff_ff_ff_ff) >>> 0;
}
