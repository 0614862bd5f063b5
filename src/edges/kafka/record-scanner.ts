import { Buffer } from 'node:buffer';
import { type RecordHeaders } from '../../engine/ports.ts';

/** What stands in front of a record's key: its length, attributes, timestamp and offset, each as long as it can be. */
const HEAD_MAX_BYTES = 5 + 1 + 10 + 5;
const EMPTY = new Uint8Array(0);

/** The bytes of a batch are not those of records. */
export class BatchDamaged extends Error {
  override readonly name = 'BatchDamaged';
}

/** A record as its batch holds it, in memory of its own. */
export interface ScannedRecord {
  readonly timestampDelta: number;
  readonly offsetDelta: number;
  /** Null: it is larger than it may be, and was passed over. */
  readonly content: RecordContent | null;
}

export interface RecordContent {
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  /** A name that is there several times has all of its values, in their order. */
  readonly headers: RecordHeaders;
}

export interface ScannerOptions {
  /** How many records the batch has. */
  readonly count: number;
  /** Of one record as it stands in its batch: key, value and headers. A larger one is never held. */
  readonly recordMaxBytes: number;
  /** Records before this one are passed over. */
  readonly fromDelta: number;
  /** Takes the next record. False: no more are wanted. */
  readonly take: (record: ScannedRecord) => boolean;
}

/**
 * Reads the records of a batch (KIP-98) from its bytes, which may come in parts of any size. It holds no more than one
 * record, and that only up to its limit. Throws `BatchDamaged` on bytes that are no records.
 */
export class RecordScanner {
  readonly #options: ScannerOptions;
  /** The beginning of a record that is not there as a whole, and how many of its bytes are needed to go on. */
  #held: Uint8Array[] = [];
  #heldBytes = 0;
  #needed = 0;
  /** What is left of a record that is passed over. */
  #skipping = 0;
  #seen = 0;
  #isFull = false;

  constructor(options: ScannerOptions) {
    this.#options = options;
  }

  /** Every record has been seen. */
  get hasAll(): boolean {
    return this.#seen === this.#options.count && this.#skipping === 0;
  }

  /** Every record has been seen, or no more are wanted. */
  get isDone(): boolean {
    return this.#isFull || this.hasAll;
  }

  push(part: Uint8Array): void {
    let bytes = part;
    if (this.#skipping > 0) {
      const passed = Math.min(this.#skipping, bytes.length);
      this.#skipping -= passed;
      bytes = bytes.subarray(passed);
    }
    if (this.#heldBytes > 0) {
      if (this.#heldBytes + bytes.length < this.#needed) {
        this.#hold(bytes);
        return;
      }
      bytes = Buffer.concat([...this.#held, bytes]);
      this.#held = [];
      this.#heldBytes = 0;
    }
    const rest = this.#records(bytes);
    if (rest.length > 0) this.#hold(rest);
  }

  /** There are no more bytes. */
  end(): void {
    if (!this.isDone) throw new BatchDamaged('A batch has fewer records than it says.');
  }

  /** Copied: the part is overwritten by the next one. */
  #hold(bytes: Uint8Array): void {
    this.#held.push(Buffer.from(bytes));
    this.#heldBytes += bytes.length;
  }

  /** Takes what is there as a whole; answers the beginning of a record that is not. */
  #records(bytes: Uint8Array): Uint8Array {
    const { recordMaxBytes } = this.#options;
    const cursor = new Cursor(bytes);
    while (!this.isDone && this.#skipping === 0) {
      const start = cursor.at;
      const left = bytes.length - start;
      const length = cursor.length();
      if (length === null) {
        this.#needed = left + 1;
        return bytes.subarray(start);
      }
      const end = cursor.at + length;
      if (length > recordMaxBytes) {
        if (left < HEAD_MAX_BYTES) {
          this.#needed = HEAD_MAX_BYTES;
          return bytes.subarray(start);
        }
        this.#seen += 1;
        this.#pass(cursor);
        this.#skipping = Math.max(0, end - bytes.length);
      } else if (end > bytes.length) {
        this.#needed = end - start;
        return bytes.subarray(start);
      } else {
        this.#seen += 1;
        cursor.end = end;
        this.#read(cursor);
        cursor.end = bytes.length;
      }
      cursor.at = end;
    }
    return EMPTY;
  }

  #read(cursor: Cursor): void {
    const { fromDelta, take } = this.#options;
    const { timestampDelta, offsetDelta } = cursor.head();
    if (offsetDelta < fromDelta) return;
    const content = { key: cursor.bytesOrNull(), value: cursor.bytesOrNull(), headers: cursor.headers() };
    if (cursor.at !== cursor.end) throw new BatchDamaged('A record is longer than its parts.');
    if (!take({ timestampDelta, offsetDelta, content })) this.#isFull = true;
  }

  #pass(cursor: Cursor): void {
    const { fromDelta, take } = this.#options;
    const { timestampDelta, offsetDelta } = cursor.head();
    if (offsetDelta >= fromDelta && !take({ timestampDelta, offsetDelta, content: null })) this.#isFull = true;
  }
}

type HeaderValue = Buffer | null;

class Cursor {
  at = 0;
  end: number;
  readonly #bytes: Buffer;

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    this.end = bytes.length;
  }

  /** The length in front of a record; null: it is not there as a whole. */
  length(): number | null {
    for (let at = this.at; at < this.at + 5; at += 1) {
      if (at >= this.end) return null;
      if ((this.#bytes[at] ?? 0) >= 0x80) continue;
      const length = this.#varint();
      if (length < 0) throw new BatchDamaged('A record has a negative length.');
      return length;
    }
    throw new BatchDamaged('A length is no number.');
  }

  head(): { readonly timestampDelta: number; readonly offsetDelta: number } {
    this.at += 1;
    return { timestampDelta: this.#varint(), offsetDelta: this.#varint() };
  }

  bytesOrNull(): Buffer | null {
    const length = this.#varint();
    if (length === -1) return null;
    this.#pass(length);
    return Buffer.from(this.#bytes.subarray(this.at - length, this.at));
  }

  /** In a time that grows with their bytes, whatever they are called. */
  headers(): RecordHeaders {
    const count = this.#varint();
    if (count < 0) throw new BatchDamaged('A record has a negative number of headers.');
    if (count === 0) return {};
    const found = new Map<string, HeaderValue | HeaderValue[]>();
    for (let index = 0; index < count; index += 1) {
      const name = this.#text();
      const value = this.bytesOrNull();
      const held = found.get(name);
      if (held === undefined) found.set(name, value);
      else if (Array.isArray(held)) held.push(value);
      else found.set(name, [held, value]);
    }
    return Object.fromEntries(found);
  }

  /** A zigzag number of up to ten bytes; exact up to 2^53. */
  #varint(): number {
    let value = 0;
    for (let unit = 1, bytes = 1; bytes <= 10; bytes += 1, unit *= 128) {
      if (this.at >= this.end) throw new BatchDamaged('A record is cut off.');
      const byte = this.#bytes[this.at] ?? 0;
      this.at += 1;
      value += (byte % 128) * unit;
      if (byte < 128) return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
    }
    throw new BatchDamaged('A number has too many bytes.');
  }

  #text(): string {
    const length = this.#varint();
    if (length === -1) return '';
    this.#pass(length);
    return this.#bytes.toString('utf8', this.at - length, this.at);
  }

  #pass(length: number): void {
    if (length < 0 || length > this.end - this.at) throw new BatchDamaged('A record is shorter than its parts.');
    this.at += length;
  }
}
