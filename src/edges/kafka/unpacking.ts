import { Buffer } from 'node:buffer';

/** From this many bytes on, a native copy is faster than a loop. */
const NATIVE_COPY = 48;

/** An error that names the codec in `name` and never holds data. */
export function unpackError(codec: 'Snappy' | 'Lz4', what: string): Error {
  const error = new Error(`The batch cannot be unpacked: ${what}.`);
  error.name = `${codec}Error`;
  return error;
}

/**
 * What has been unpacked last, as far back as bytes may be repeated. A codec writes until there is no room, shows what it
 * has written, and goes on: so a batch needs no more memory than its window, whatever it unpacks to.
 */
export class UnpackWindow {
  readonly bytes: Buffer;
  /** Up to here it is written. */
  at = 0;
  readonly #reach: number;
  readonly #part: number;
  #shown = 0;

  /**
   * @param reach how far back bytes may be repeated.
   * @param part what may be written between two `show`s.
   * @param total it all comes to no more than this.
   */
  constructor(reach: number, part: number, total: number) {
    this.#reach = reach;
    this.#part = part;
    // Twice the reach, so that it is moved once for as much as is written, and not for each part.
    this.bytes = Buffer.allocUnsafeSlow(Math.min(2 * reach + part, total));
  }

  /** What may be written before the next `show`. */
  get room(): number {
    return Math.min(this.bytes.length, this.#shown + this.#part) - this.at;
  }

  /** What was written since the last call. It stays as it is until `slide`. */
  show(): Buffer {
    const part = this.bytes.subarray(this.#shown, this.at);
    this.#shown = this.at;
    return part;
  }

  /** Makes room for a part: where there is none, only what may be repeated stays. */
  slide(): void {
    if (this.bytes.length - this.at >= this.#part) return;
    const from = Math.max(0, this.at - this.#reach);
    this.bytes.copyWithin(0, from, this.at);
    this.at -= from;
    this.#shown = this.at;
  }

  /** Appends bytes as they stand; there must be room for them. */
  append(from: Uint8Array, start: number, length: number): void {
    const { bytes, at } = this;
    if (length >= NATIVE_COPY) bytes.set(from.subarray(start, start + length), at);
    else for (let n = 0; n < length; n += 1) bytes[at + n] = from[start + n] ?? 0;
    this.at += length;
  }

  /**
   * Repeats what was written `distance` bytes ago; bytes written by this very copy may be repeated, too. Both ends must
   * have been checked.
   */
  repeat(distance: number, length: number): void {
    const { bytes, at } = this;
    if (length >= NATIVE_COPY && distance >= length) bytes.copyWithin(at, at - distance, at - distance + length);
    else for (let n = at; n < at + length; n += 1) bytes[n] = bytes[n - distance] ?? 0;
    this.at += length;
  }
}
