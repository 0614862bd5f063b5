const HEAD_BYTES = 61;
/** Where the checksum begins: behind itself. */
const CHECKED_FROM = 21;
const MAGIC = 2;

/** Castagnoli's polynomial, reflected (RFC 3720, 12.1). */
const CRC_TABLE = Int32Array.from({ length: 256 }, (_, byte) => {
  let rest = byte;
  for (let bit = 0; bit < 8; bit += 1) rest = (rest & 1) === 1 ? (rest >>> 1) ^ 0x82_f6_3b_78 : rest >>> 1;
  return rest;
});

/** CRC-32C, as a number from 0 to 2^32 - 1. */
export function crc32c(bytes: Uint8Array, from = 0, to: number = bytes.length): number {
  let crc = -1;
  for (let at = from; at < to; at += 1) crc = (CRC_TABLE[(crc ^ (bytes[at] ?? 0)) & 0xff] ?? 0) ^ (crc >>> 8);
  return (crc ^ -1) >>> 0;
}

/**
 * Builds batches of records as Kafka keeps them (record batch, magic 2), uncompressed, keys and values in ASCII, without
 * headers. About 1 µs a record: filling a topic must not take longer than reading it.
 */
export class BatchBuilder {
  readonly #bytes: Buffer;
  #end = HEAD_BYTES;
  #count = 0;

  constructor(mostBytes: number) {
    this.#bytes = Buffer.alloc(mostBytes);
  }

  get count(): number {
    return this.#count;
  }

  /** False: no room for it; the batch has to be taken first. */
  add(key: string, value: string): boolean {
    // Attributes, timestamp delta and number of headers take a byte each.
    const delta = this.#count;
    const length =
      3 + varintBytes(delta) + varintBytes(key.length) + key.length + varintBytes(value.length) + value.length;
    if (this.#end + varintBytes(length) + length > this.#bytes.length) return false;
    let at = this.#varint(length, this.#end);
    this.#bytes[at] = 0;
    this.#bytes[at + 1] = 0;
    at = this.#varint(delta, at + 2);
    at = this.#varint(key.length, at);
    at += this.#bytes.write(key, at, 'latin1');
    at = this.#varint(value.length, at);
    at += this.#bytes.write(value, at, 'latin1');
    this.#bytes[at] = 0;
    this.#end = at + 1;
    this.#count += 1;
    return true;
  }

  /** The batch, valid until the next `add`; the builder is empty afterwards. */
  take(timestampMs: number): Buffer {
    const bytes = this.#bytes;
    bytes.fill(0, 0, HEAD_BYTES);
    bytes.writeInt32BE(this.#end - 12, 8);
    bytes[16] = MAGIC;
    bytes.writeInt32BE(this.#count - 1, 23);
    bytes.writeBigInt64BE(BigInt(timestampMs), 27);
    bytes.writeBigInt64BE(BigInt(timestampMs), 35);
    // Producer's id, epoch and sequence: none.
    bytes.fill(0xff, 43, 57);
    bytes.writeInt32BE(this.#count, 57);
    bytes.writeUInt32BE(crc32c(bytes, CHECKED_FROM, this.#end), 17);
    const batch = bytes.subarray(0, this.#end);
    this.#end = HEAD_BYTES;
    this.#count = 0;
    return batch;
  }

  #varint(value: number, from: number): number {
    let at = from;
    let rest = value * 2;
    for (; rest > 0x7f; rest >>>= 7, at += 1) this.#bytes[at] = (rest & 0x7f) | 0x80;
    this.#bytes[at] = rest;
    return at + 1;
  }
}

/** Zigzag, of a number that is not negative. */
function varintBytes(value: number): number {
  let bytes = 1;
  for (let rest = value * 2; rest > 0x7f; rest >>>= 7) bytes += 1;
  return bytes;
}
