import { Buffer } from 'node:buffer';
import { copyBack, copyLiteral, unpackError } from './unpacking.ts';

/** The mark of snappy-java's stream: 0x82, `SNAPPY`, 0; then two versions of 4 bytes. */
const XERIAL = Buffer.from('82534e4150505900', 'hex');
const XERIAL_HEAD_BYTES = 16;
/** No element makes more of its bytes than a copy with a 2-byte offset: 64 of 3. */
const MOST_PER_BYTE = 64 / 3;

interface Block {
  /** Where its elements begin and end. */
  readonly at: number;
  readonly end: number;
  /** How many bytes it says it unpacks to. */
  readonly length: number;
}

/**
 * Unpacks a batch in snappy, as producers write it: one raw block (librdkafka, Go), or blocks in the framing of
 * snappy-java (Java clients and those that follow them), also several such streams in a row. Throws when it is damaged
 * or unpacks to more than `mostBytes`; memory is taken only for what the packed bytes can amount to.
 *
 * Format: "Snappy compressed format description" of the Snappy project; the framing is SnappyOutputStream's.
 */
export function unpackSnappy(packed: Uint8Array, mostBytes: number): Buffer {
  const blocks = startsXerial(packed, 0) ? xerialBlocks(packed) : [readBlock(packed, 0, packed.length)];
  const length = blocks.reduce((sum, block) => sum + block.length, 0);
  if (length > mostBytes) throw unpackError('Snappy', 'it is too large');
  const out = Buffer.allocUnsafeSlow(length);
  let at = 0;
  for (const block of blocks) {
    unpackBlock(packed, block, out.subarray(at, at + block.length));
    at += block.length;
  }
  return out;
}

function startsXerial(packed: Uint8Array, at: number): boolean {
  return XERIAL.every((byte, index) => packed[at + index] === byte);
}

function xerialBlocks(packed: Uint8Array): Block[] {
  const view = new DataView(packed.buffer, packed.byteOffset, packed.length);
  const blocks: Block[] = [];
  for (let at = 0; at < packed.length;) {
    if (startsXerial(packed, at)) {
      at += XERIAL_HEAD_BYTES;
      if (at > packed.length) throw unpackError('Snappy', 'its head is cut off');
      continue;
    }
    const start = at + 4;
    if (start > packed.length) throw unpackError('Snappy', 'the size of a block is cut off');
    at = start + view.getUint32(at);
    if (at > packed.length) throw unpackError('Snappy', 'a block is cut off');
    blocks.push(readBlock(packed, start, at));
  }
  return blocks;
}

/** A block begins with its length when unpacked: groups of 7 bits, the lowest first. */
function readBlock(packed: Uint8Array, start: number, end: number): Block {
  let length = 0;
  for (let at = start, unit = 1; at < end && unit <= 2 ** 28; at += 1, unit *= 128) {
    const byte = packed[at] ?? 0;
    length += (byte % 128) * unit;
    if (byte >= 128) continue;
    if (length > (end - at) * MOST_PER_BYTE) throw unpackError('Snappy', 'a block cannot hold what it says');
    return { at: at + 1, end, length };
  }
  throw unpackError('Snappy', 'the length of a block is missing');
}

function unpackBlock(packed: Uint8Array, block: Block, out: Uint8Array): void {
  const { end } = block;
  let { at } = block;
  let done = 0;
  while (at < end) {
    const tag = packed[at] ?? 0;
    at += 1;
    if (tag % 4 === 0) {
      const extra = Math.max(0, (tag >> 2) - 59);
      const length = 1 + (extra === 0 ? tag >> 2 : littleEndian(packed, at, end, extra));
      at += extra;
      if (length > end - at || length > out.length - done) throw unpackError('Snappy', 'a literal is too long');
      copyLiteral(packed, at, out, done, length);
      at += length;
      done += length;
      continue;
    }
    const extra = tag % 4 === 3 ? 4 : tag % 4;
    const low = littleEndian(packed, at, end, extra);
    const length = extra === 1 ? 4 + ((tag >> 2) & 7) : 1 + (tag >> 2);
    const distance = extra === 1 ? (tag >> 5) * 256 + low : low;
    at += extra;
    if (distance === 0 || distance > done) throw unpackError('Snappy', 'a copy reaches before the block');
    if (length > out.length - done) throw unpackError('Snappy', 'a copy is too long');
    copyBack(out, done, distance, length);
    done += length;
  }
  if (done !== out.length) throw unpackError('Snappy', 'a block is shorter than it says');
}

function littleEndian(packed: Uint8Array, at: number, end: number, bytes: number): number {
  if (bytes > end - at) throw unpackError('Snappy', 'an element is cut off');
  let value = 0;
  for (let n = bytes - 1; n >= 0; n -= 1) value = value * 256 + (packed[at + n] ?? 0);
  return value;
}
