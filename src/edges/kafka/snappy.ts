import { Buffer } from 'node:buffer';
import { UnpackWindow, unpackError } from './unpacking.ts';

/** The mark of snappy-java's stream: 0x82, `SNAPPY`, 0; then two versions of 4 bytes. */
const XERIAL = Buffer.from('82534e4150505900', 'hex');
const XERIAL_HEAD_BYTES = 16;
/** No element makes more of its bytes than a copy with a 2-byte offset: 64 of 3. */
const MAX_PER_BYTE = 64 / 3;
/** How far back a copy may reach. The format allows more; those who write it stay within 64 KiB. */
const REACH = 4 * 1024 * 1024;
/** What is unpacked at a time. */
const PART = 1024 * 1024;
/** No copy writes more. */
const MAX_COPY = 64;

interface Block {
  /** Where its elements begin and end. */
  readonly at: number;
  readonly end: number;
  /** How many bytes it says it unpacks to. */
  readonly length: number;
}

/**
 * Unpacks a batch in snappy, as producers write it: one raw block (librdkafka, Go), or blocks in the framing of
 * snappy-java (Java clients and those that follow them), also several such streams in a row. Yields 1 MiB at most, good
 * until the next is asked for. Throws when the batch is damaged; memory is taken only for what the packed bytes can
 * amount to, and for 9 MiB at most.
 *
 * Format: "Snappy compressed format description" of the Snappy project; the framing is SnappyOutputStream's.
 */
export function* unpackSnappy(packed: Uint8Array): Generator<Uint8Array, void> {
  if (!startsXerial(packed, 0)) {
    yield* unpackBlock(packed, readBlock(packed, 0, packed.length));
    return;
  }
  for (const block of xerialBlocks(packed)) yield* unpackBlock(packed, block);
}

function startsXerial(packed: Uint8Array, at: number): boolean {
  return XERIAL.every((byte, index) => packed[at + index] === byte);
}

function* xerialBlocks(packed: Uint8Array): Generator<Block, void> {
  const view = new DataView(packed.buffer, packed.byteOffset, packed.length);
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
    yield readBlock(packed, start, at);
  }
}

/** A block begins with its length when unpacked: groups of 7 bits, the lowest first. */
function readBlock(packed: Uint8Array, start: number, end: number): Block {
  let length = 0;
  for (let at = start, unit = 1; at < end && unit <= 2 ** 28; at += 1, unit *= 128) {
    const byte = packed[at] ?? 0;
    length += (byte % 128) * unit;
    if (byte >= 128) continue;
    if (length > (end - at) * MAX_PER_BYTE) throw unpackError('Snappy', 'a block cannot hold what it says');
    return { at: at + 1, end, length };
  }
  throw unpackError('Snappy', 'the length of a block is missing');
}

function* unpackBlock(packed: Uint8Array, block: Block): Generator<Uint8Array, void> {
  const { length: total } = block;
  const window = new UnpackWindow(REACH, PART, total);
  const element = new Element(packed, block);
  let done = 0;
  while (element.next()) {
    const { distance, length } = element;
    if (length > total - done) throw unpackError('Snappy', 'an element is too long');
    if (distance > done) throw unpackError('Snappy', 'a copy reaches before the block');
    // A copy is written at once; a literal may be longer than a part.
    for (let left = length; left > 0;) {
      if (window.room < Math.min(left, MAX_COPY)) {
        yield window.show();
        window.slide();
      }
      const part = Math.min(left, window.room);
      if (distance > 0) window.repeat(distance, part);
      else window.append(packed, element.literalEnd - left, part);
      left -= part;
    }
    done += length;
  }
  if (done !== total) throw unpackError('Snappy', 'a block is shorter than it says');
  yield window.show();
}

/** The elements of a block, one after the other. */
class Element {
  /** How many bytes it writes. */
  length = 0;
  /** How far back what it repeats begins; 0: it is a literal. */
  distance = 0;
  /** Where the bytes of a literal end. */
  literalEnd = 0;
  readonly #packed: Uint8Array;
  readonly #end: number;
  #at: number;

  constructor(packed: Uint8Array, { at, end }: Block) {
    this.#packed = packed;
    this.#at = at;
    this.#end = end;
  }

  /** Goes on to the next one. False: there is none. */
  next(): boolean {
    if (this.#at >= this.#end) return false;
    const tag = this.#littleEndian(1);
    if (tag % 4 === 0) this.#literal(tag >> 2);
    else this.#copy(tag);
    return true;
  }

  #literal(size: number): void {
    const extra = Math.max(0, size - 59);
    this.distance = 0;
    this.length = 1 + (extra === 0 ? size : this.#littleEndian(extra));
    if (this.length > this.#end - this.#at) throw unpackError('Snappy', 'a literal is too long');
    this.#at += this.length;
    this.literalEnd = this.#at;
  }

  #copy(tag: number): void {
    const extra = tag % 4 === 3 ? 4 : tag % 4;
    const low = this.#littleEndian(extra);
    this.length = extra === 1 ? 4 + ((tag >> 2) & 7) : 1 + (tag >> 2);
    this.distance = extra === 1 ? (tag >> 5) * 256 + low : low;
    if (this.distance === 0) throw unpackError('Snappy', 'a copy repeats nothing');
    if (this.distance > REACH) throw unpackError('Snappy', 'a copy reaches too far back');
  }

  #littleEndian(bytes: number): number {
    if (bytes > this.#end - this.#at) throw unpackError('Snappy', 'an element is cut off');
    let value = 0;
    for (let n = bytes - 1; n >= 0; n -= 1) value = value * 256 + (this.#packed[this.#at + n] ?? 0);
    this.#at += bytes;
    return value;
  }
}
