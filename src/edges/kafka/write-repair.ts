import { Buffer } from 'node:buffer';

/** What kafkajs hands over for each record of a batch (KIP-98, record format v2). */
export interface BatchRecord {
  readonly offsetDelta?: number;
  /** Milliseconds after the first record of the batch. */
  readonly timestampDelta?: number;
  readonly key?: Buffer | string | null;
  readonly value?: Buffer | string | null;
  readonly headers?: Readonly<Record<string, HeaderValue | readonly HeaderValue[]>>;
}

/** Null is a value, too (KIP-82), which kafkajs' types do not say. */
type HeaderValue = Buffer | string | null;

/** As much of a kafkajs encoder as its record batch asks for. */
export interface EncodedRecord {
  readonly buf: Buffer;
  readonly buffer: Buffer;
}

/** A kafkajs encoder. */
export interface GrowingBuffer {
  buf: Buffer;
  offset: number;
  ensureAvailable(this: GrowingBuffer, length: number): void;
}

interface ProduceAnswer {
  readonly topics: readonly { readonly partitions: readonly { readonly errorCode: number }[] }[];
}

/** How kafkajs judges the answer to a produce request. */
export interface ProduceResponse {
  parse: (answer: ProduceAnswer) => Promise<ProduceAnswer>;
}

const NULL_LENGTH = -1;
const LAST_ASCII = 0x7f;
/** Up to so many units a text is written unit by unit. */
const SHORT_TEXT = 80;
/** For the few numbers that follow. */
const SLACK_BYTES = 64;

/**
 * One record of a batch, written in one go into memory of just its size (KIP-98: varint length, attributes, timestamp and
 * offset deltas, key, value, headers). kafkajs builds each record and each of its headers in zeroed blocks of 512 bytes,
 * one number at a time in a block of its own: for small records with a few headers that costs more than all the rest of
 * a write.
 */
export function encodeRecord(record: BatchRecord): EncodedRecord {
  const { offsetDelta = 0, timestampDelta = 0, key = null, value = null, headers = {} } = record;
  const fields = headerFields(headers);
  let bodyBytes = 1 + sizeOfVarint(timestampDelta) + sizeOfVarint(offsetDelta) + sizeOfVarint(fields.length / 2);
  bodyBytes += sizeOfBytes(key) + sizeOfBytes(value);
  for (const field of fields) bodyBytes += sizeOfBytes(field);
  const buf = Buffer.allocUnsafe(sizeOfVarint(bodyBytes) + bodyBytes);
  let at = writeVarint(buf, 0, bodyBytes);
  buf[at] = 0;
  at = writeVarint(buf, at + 1, timestampDelta);
  at = writeVarint(buf, at, offsetDelta);
  at = writeBytes(buf, at, key);
  at = writeBytes(buf, at, value);
  at = writeVarint(buf, at, fields.length / 2);
  for (const field of fields) at = writeBytes(buf, at, field);
  return { buf, buffer: buf };
}

/** Lets kafkajs' encoders grow into memory that is not zeroed first: they write all of it before they show any of it. */
export function growUnzeroed(prototype: GrowingBuffer): void {
  prototype.ensureAvailable = grow;
}

function grow(this: GrowingBuffer, length: number): void {
  const needed = this.offset + length;
  if (needed <= this.buf.length) return;
  // Doubled for what comes bit by bit; no more than needed for what comes at once, as it does where one encoder is put
  // into another, six deep: memory of this size is not pooled, and all of it is garbage a moment later.
  const grown = Buffer.allocUnsafe(Math.max(needed + SLACK_BYTES, 2 * this.buf.length));
  this.buf.copy(grown, 0, 0, this.offset);
  this.buf = grown;
}

/**
 * The answer to a request of several partitions says of each how it ended: whoever wrote reads the error codes. kafkajs
 * throws the first one it finds, and what the others were told is lost with it. An answer of one partition is left to
 * kafkajs, which reads its metadata anew when that has moved.
 */
export function tellAll(response: ProduceResponse): void {
  const original = response.parse;
  response.parse = async (answer) => {
    const partitions = answer.topics.reduce((sum, topic) => sum + topic.partitions.length, 0);
    return partitions > 1 ? answer : await original(answer);
  };
}

/** Names and values in turn; a name once for each of its values. */
function headerFields(headers: NonNullable<BatchRecord['headers']>): readonly HeaderValue[] {
  const fields: HeaderValue[] = [];
  for (const name of Object.keys(headers)) {
    const held = headers[name];
    if (held === undefined) continue;
    if (!isList(held)) fields.push(name, held);
    else for (const value of held) fields.push(name, value);
  }
  return fields;
}

function isList(held: HeaderValue | readonly HeaderValue[]): held is readonly HeaderValue[] {
  return Array.isArray(held);
}

function lengthOf(bytes: Buffer | string): number {
  if (typeof bytes !== 'string') return bytes.length;
  if (bytes.length > SHORT_TEXT) return Buffer.byteLength(bytes);
  // Header names and values are short and ASCII: a call out of JavaScript costs more than to look at each.
  for (let at = 0; at < bytes.length; at += 1) if (bytes.charCodeAt(at) > LAST_ASCII) return Buffer.byteLength(bytes);
  return bytes.length;
}

function sizeOfBytes(bytes: HeaderValue): number {
  if (bytes === null) return sizeOfVarint(NULL_LENGTH);
  const length = lengthOf(bytes);
  return sizeOfVarint(length) + length;
}

function writeBytes(to: Buffer, at: number, bytes: HeaderValue): number {
  if (bytes === null) return writeVarint(to, at, NULL_LENGTH);
  const length = lengthOf(bytes);
  const from = writeVarint(to, at, length);
  if (typeof bytes !== 'string') return from + bytes.copy(to, from);
  // As many bytes as units: all of it is ASCII.
  if (length !== bytes.length || length > SHORT_TEXT) return from + to.write(bytes, from, length, 'utf8');
  for (let unit = 0; unit < length; unit += 1) to[from + unit] = bytes.charCodeAt(unit);
  return from + length;
}

/** Zigzag: small numbers of either sign become small ones without a sign. Exact for all safe integers. */
function zigzag(value: number): number {
  return value < 0 ? -2 * value - 1 : 2 * value;
}

function sizeOfVarint(value: number): number {
  let rest = zigzag(value);
  let bytes = 1;
  while (rest >= 0x80) {
    rest = Math.floor(rest / 0x80);
    bytes += 1;
  }
  return bytes;
}

function writeVarint(to: Buffer, at: number, value: number): number {
  let rest = zigzag(value);
  let next = at;
  while (rest >= 0x80) {
    to[next] = (rest % 0x80) | 0x80;
    rest = Math.floor(rest / 0x80);
    next += 1;
  }
  to[next] = rest;
  return next + 1;
}
