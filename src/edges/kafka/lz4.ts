import { UnpackWindow, unpackError } from './unpacking.ts';
import { Xxh32, xxh32 } from './xxh32.ts';

const MAGIC = 0x18_4d_22_04;
/** Data of other software, to be passed over: this mark or one of the next 15. */
const SKIPPABLE = 0x18_4d_2a_50;
/** No block makes more of its bytes than a long match does: 255 of 1. */
const MAX_PER_BYTE = 255;
const SHORTEST_MATCH = 4;
/** A match's distance has two bytes. */
const REACH = 65_536;

interface FrameHead {
  readonly independent: boolean;
  readonly blockChecksums: boolean;
  readonly contentChecksum: boolean;
  readonly maxPerBlock: number;
}

/**
 * Unpacks a batch in the LZ4 frame format, version 1: blocks independent or linked, packed or plain, also several frames
 * in a row. The checksums of blocks and content are checked where they are there, the one of the head is not: some
 * clients compute it over other bytes (KAFKA-3160). Yields what a block at most unpacks to (4 MiB), good until the next
 * one is asked for. Throws when the batch is damaged or needs a dictionary.
 *
 * Format: "LZ4 Frame Format Description" and "LZ4 Block Format Description" of the LZ4 project.
 */
export function* unpackLz4(packed: Uint8Array): Generator<Uint8Array, void> {
  const input = new Input(packed);
  do {
    const mark = input.word();
    if (mark === MAGIC) yield* unpackFrame(input);
    else if (mark - (mark % 16) === SKIPPABLE) input.pass(input.word());
    else throw unpackError('Lz4', 'it is no frame');
  } while (!input.isAtEnd);
}

function* unpackFrame(input: Input): Generator<Uint8Array, void> {
  const head = readHead(input);
  const checksum = head.contentChecksum ? new Xxh32() : null;
  const most = input.left * MAX_PER_BYTE;
  const window = new UnpackWindow(REACH, head.maxPerBlock, most);
  for (let size = input.word(); size !== 0; size = input.word()) {
    const isPlain = size >= 2 ** 31;
    const block = input.pass(isPlain ? size - 2 ** 31 : size);
    if (head.blockChecksums) check(input, xxh32(block));
    window.slide();
    const end = window.at + window.room;
    if (!isPlain) unpackBlock(block, window, { end, reach: head.independent ? window.at : 0 });
    else if (block.length <= end - window.at) window.append(block, 0, block.length);
    else throw unpackError('Lz4', 'a block is too long');
    const part = window.show();
    checksum?.update(part);
    yield part;
  }
  if (checksum !== null) check(input, checksum.digest());
}

function readHead(input: Input): FrameHead {
  const [flags = 0, sizes = 0] = input.pass(2);
  const sizeCode = (sizes >> 4) & 7;
  if (flags >> 6 !== 1 || sizeCode < 4) throw unpackError('Lz4', 'its head is not of version 1');
  if ((flags & 0x01) !== 0) throw unpackError('Lz4', 'it needs a dictionary');
  // The size of the content may be there and is not relied on; then comes the head's checksum.
  input.pass((flags & 0x08) === 0 ? 1 : 9);
  return {
    independent: (flags & 0x20) !== 0,
    blockChecksums: (flags & 0x10) !== 0,
    contentChecksum: (flags & 0x04) !== 0,
    maxPerBlock: 2 ** (8 + 2 * sizeCode),
  };
}

function check(input: Input, checksum: number): void {
  if (input.word() !== checksum) throw unpackError('Lz4', 'a checksum differs');
}

/** The packed bytes, and how far they are read. */
class Input {
  readonly #packed: Uint8Array;
  readonly #view: DataView;
  #at = 0;

  constructor(packed: Uint8Array) {
    this.#packed = packed;
    this.#view = new DataView(packed.buffer, packed.byteOffset, packed.length);
  }

  get isAtEnd(): boolean {
    return this.#at === this.#packed.length;
  }

  get left(): number {
    return this.#packed.length - this.#at;
  }

  word(): number {
    const at = this.#at;
    this.pass(4);
    return this.#view.getUint32(at, true);
  }

  pass(bytes: number): Uint8Array {
    if (bytes > this.left) throw unpackError('Lz4', 'it is cut off');
    this.#at += bytes;
    return this.#packed.subarray(this.#at - bytes, this.#at);
  }
}

/**
 * Unpacks one block behind what the window holds.
 *
 * @param end where the window's bytes must end at the latest.
 * @param reach from where on bytes may be repeated.
 */
function unpackBlock(
  block: Uint8Array,
  window: UnpackWindow,
  { end, reach }: { readonly end: number; readonly reach: number },
): void {
  for (let at = 0; at < block.length;) {
    const token = block[at] ?? 0;
    at += 1;
    let literals = token >> 4;
    if (literals === 15) {
      const more = readMore(block, at);
      at += Math.floor(more / 255) + 1;
      literals += more;
    }
    if (literals > block.length - at || literals > end - window.at) throw unpackError('Lz4', 'a literal is too long');
    window.append(block, at, literals);
    at += literals;
    if (at === block.length) return;
    if (at + 2 > block.length) throw unpackError('Lz4', 'a match is cut off');
    const distance = (block[at] ?? 0) + (block[at + 1] ?? 0) * 256;
    at += 2;
    let length = (token & 15) + SHORTEST_MATCH;
    if ((token & 15) === 15) {
      const more = readMore(block, at);
      at += Math.floor(more / 255) + 1;
      length += more;
    }
    if (distance === 0 || distance > window.at - reach) throw unpackError('Lz4', 'a match reaches too far back');
    if (length > end - window.at) throw unpackError('Lz4', 'a match is too long');
    window.repeat(distance, length);
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
