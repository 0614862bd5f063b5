import { Buffer } from 'node:buffer';
import { copyBack, copyLiteral, unpackError } from './unpacking.ts';
import { xxh32 } from './xxh32.ts';

const MAGIC = 0x18_4d_22_04;
/** Data of other software, to be passed over: this mark or one of the next 15. */
const SKIPPABLE = 0x18_4d_2a_50;
/** No block makes more of its bytes than a long match does: 255 of 1. */
const MOST_PER_BYTE = 255;
const SHORTEST_MATCH = 4;

interface FrameHead {
  readonly independent: boolean;
  readonly blockChecksums: boolean;
  readonly contentChecksum: boolean;
  readonly mostPerBlock: number;
}

/**
 * Unpacks a batch in the LZ4 frame format, version 1: blocks independent or linked, packed or plain, also several frames
 * in a row. The checksums of blocks and content are checked where they are there, the one of the head is not: some
 * clients compute it over other bytes (KAFKA-3160). Throws when the batch is damaged, needs a dictionary or unpacks to
 * more than `mostBytes`; memory is taken only for what the packed bytes can amount to.
 *
 * Format: "LZ4 Frame Format Description" and "LZ4 Block Format Description" of the LZ4 project.
 */
export function unpackLz4(packed: Uint8Array, mostBytes: number): Buffer {
  return new Unpacking(packed, mostBytes).run();
}

/** One batch on its way: what is read up to `#at`, what is written up to `#done`. */
class Unpacking {
  readonly #packed: Uint8Array;
  readonly #view: DataView;
  readonly #mostBytes: number;
  #at = 0;
  #out: Buffer;
  #done = 0;

  constructor(packed: Uint8Array, mostBytes: number) {
    this.#packed = packed;
    this.#view = new DataView(packed.buffer, packed.byteOffset, packed.length);
    this.#mostBytes = mostBytes;
    this.#out = Buffer.allocUnsafeSlow(Math.min(mostBytes, packed.length * 4));
  }

  run(): Buffer {
    do {
      const mark = this.#word();
      if (mark === MAGIC) this.#frame();
      else if (mark - (mark % 16) === SKIPPABLE) this.#pass(this.#word());
      else throw unpackError('Lz4', 'it is no frame');
    } while (this.#at < this.#packed.length);
    return this.#out.subarray(0, this.#done);
  }

  #frame(): void {
    const head = this.#head();
    const start = this.#done;
    for (let size = this.#word(); size !== 0; size = this.#word()) {
      const isPlain = size >= 2 ** 31;
      const block = this.#pass(isPlain ? size - 2 ** 31 : size);
      if (head.blockChecksums) this.#check(block);
      const reach = head.independent ? this.#done : start;
      this.#done = isPlain ? this.#plain(block, head) : this.#unpacked(block, head, reach);
    }
    if (head.contentChecksum) this.#check(this.#out.subarray(start, this.#done));
  }

  #head(): FrameHead {
    const [flags = 0, sizes = 0] = this.#pass(2);
    const sizeCode = (sizes >> 4) & 7;
    if (flags >> 6 !== 1 || sizeCode < 4) throw unpackError('Lz4', 'its head is not of version 1');
    if ((flags & 0x01) !== 0) throw unpackError('Lz4', 'it needs a dictionary');
    // The size of the content may be there and is not relied on; then comes the head's checksum.
    this.#pass((flags & 0x08) === 0 ? 1 : 9);
    return {
      independent: (flags & 0x20) !== 0,
      blockChecksums: (flags & 0x10) !== 0,
      contentChecksum: (flags & 0x04) !== 0,
      mostPerBlock: 2 ** (8 + 2 * sizeCode),
    };
  }

  #plain(block: Uint8Array, head: FrameHead): number {
    if (block.length > head.mostPerBlock) throw unpackError('Lz4', 'a block is too long');
    this.#reserve(block.length);
    copyLiteral(block, 0, this.#out, this.#done, block.length);
    return this.#done + block.length;
  }

  #unpacked(block: Uint8Array, head: FrameHead, reach: number): number {
    const most = Math.min(head.mostPerBlock, block.length * MOST_PER_BYTE, this.#mostBytes - this.#done);
    this.#reserve(most);
    return unpackBlock(block, this.#out, this.#done, this.#done + most, reach);
  }

  /** Makes room for so many bytes more. */
  #reserve(bytes: number): void {
    const needed = this.#done + bytes;
    if (needed > this.#mostBytes) throw unpackError('Lz4', 'it is too large');
    if (needed <= this.#out.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.min(this.#mostBytes, Math.max(needed, this.#out.length * 2)));
    larger.set(this.#out.subarray(0, this.#done));
    this.#out = larger;
  }

  #check(bytes: Uint8Array): void {
    if (this.#word() !== xxh32(bytes)) throw unpackError('Lz4', 'a checksum differs');
  }

  #word(): number {
    const at = this.#at;
    this.#pass(4);
    return this.#view.getUint32(at, true);
  }

  #pass(bytes: number): Uint8Array {
    if (bytes > this.#packed.length - this.#at) throw unpackError('Lz4', 'it is cut off');
    this.#at += bytes;
    return this.#packed.subarray(this.#at - bytes, this.#at);
  }
}

/**
 * Unpacks one block behind what `out` holds up to `from`; answers up to where it then holds.
 *
 * @param most where `out` must end at the latest.
 * @param reach from where on bytes may be repeated.
 */
function unpackBlock(block: Uint8Array, out: Uint8Array, from: number, most: number, reach: number): number {
  let done = from;
  for (let at = 0; at < block.length;) {
    const token = block[at] ?? 0;
    at += 1;
    let literals = token >> 4;
    if (literals === 15) {
      const more = readMore(block, at);
      at += Math.floor(more / 255) + 1;
      literals += more;
    }
    if (literals > block.length - at || literals > most - done) throw unpackError('Lz4', 'a literal is too long');
    copyLiteral(block, at, out, done, literals);
    at += literals;
    done += literals;
    if (at === block.length) return done;
    if (at + 2 > block.length) throw unpackError('Lz4', 'a match is cut off');
    const distance = (block[at] ?? 0) + (block[at + 1] ?? 0) * 256;
    at += 2;
    let length = (token & 15) + SHORTEST_MATCH;
    if ((token & 15) === 15) {
      const more = readMore(block, at);
      at += Math.floor(more / 255) + 1;
      length += more;
    }
    if (distance === 0 || distance > done - reach) throw unpackError('Lz4', 'a match reaches too far back');
    if (length > most - done) throw unpackError('Lz4', 'a match is too long');
    copyBack(out, done, distance, length);
    done += length;
  }
  throw unpackError('Lz4', 'a block does not end with literals');
}

/** The rest of a length: bytes of 255 and a last one that is less. So its value also tells how many bytes it took. */
function readMore(block: Uint8Array, at: number): number {
  for (let end = at; end < block.length; end += 1) {
    const byte = block[end] ?? 0;
    if (byte < 255) return (end - at) * 255 + byte;
  }
  throw unpackError('Lz4', 'a length is cut off');
}
