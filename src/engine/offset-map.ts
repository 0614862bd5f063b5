import { type Draw } from '../kernel/clock.ts';
import { Fault } from '../kernel/fault.ts';
import { type OffsetRange } from './tracker.ts';

/** What a commit's metadata says beside its offset. */
export interface OffsetMap {
  /** Of the Kafka cluster it was written for, by `clusterHashOf`. */
  readonly clusterHash: string;
  /** The offset it is committed with. */
  readonly offset: bigint;
  /** Timestamp of the first unfinished record; null: none is open. */
  readonly timestampMs: number | null;
  /** Who wrote it: 1 to 32 of the digits below. */
  readonly nonce: string;
  /** What is finished above `offset`; rising, `from` counted from `offset`. */
  readonly ranges: Iterable<OffsetRange>;
}

export interface EncodedMap {
  /** ASCII, at most the limit; empty when not even the head fits. */
  readonly text: string;
  /** Whether all ranges are in it; the others count as unfinished, and their records are repeated after a restart. */
  readonly complete: boolean;
  /** How many offsets are in ranges that were left out. */
  readonly leftOut: number;
  /** The share of the limit that it takes, 0 to 1; 1 when it is not complete. */
  readonly used: number;
}

/**
 * What the metadata of a committed offset says. `none`: there is none. `ignored`: it is not of this partition as it is
 * now, so the offset stands alone; `foreign`: written by other software; `mirrored`: for another cluster or another
 * offset, copied here by a tool; `damaged`: its checksum or its shape is wrong; `future`: of a later version.
 */
export type DecodedMap =
  | {
      readonly do: 'map';
      readonly timestampMs: number | null;
      readonly nonce: string;
      readonly ranges: readonly OffsetRange[];
    }
  | { readonly do: 'none' }
  | { readonly do: 'ignored'; readonly why: 'foreign' | 'mirrored' | 'damaged' | 'future' };

const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
const VALUES: ReadonlyMap<string, number> = new Map(Array.from(DIGITS, (digit, value) => [digit, value]));
const NAME = /^[\w-]{1,32}$/;
const VERSION = 1;
const ANY_VERSION = /^fsc(\d{1,9})\./;
const THIS_VERSION =
  /^fsc1\.(?<cluster>[\w-]{1,32})\.(?<offset>\d{1,19})\.(?<timestamp>-?\d{1,16}|)\.(?<nonce>[\w-]{1,32})\.(?<runs>[\w-]*)$/;
/** A dot and six digits. */
const CHECKSUM_LENGTH = 7;
const END_OF_OFFSETS = 2n ** 63n;
/** How long the metadata of a commit may be, in characters. A broker takes 4,096 characters unless it is set otherwise; the rest is room for one that counts differently. */
export const METADATA_LIMIT = 3800;

/**
 * Writes a map as the metadata of a commit. What does not fit is left out from the end, in whole ranges: it is then not
 * claimed as finished.
 *
 * Format, version 1: `fsc1.<cluster>.<offset>.<timestamp>.<nonce>.<runs>.<checksum>`, ASCII, where
 * - `fsc` is the mark of this software and `1` the version, in decimal;
 * - `cluster` is the hash of the cluster's id and `nonce` names the writer: 1 to 32 digits each. The digits are those of
 *   base64url, `A` = 0 to `_` = 63;
 * - `offset` is the committed offset, `timestamp` the first unfinished record's in ms since 1970, both in decimal;
 *   the timestamp is empty when nothing is open or the producer's is no safe integer;
 * - `runs` holds numbers in turn: offsets not finished, offsets finished, and so on, ending with finished ones. Each is
 *   at least 1 and written less 1; only the first counts one too many (the offset before the committed one), so that a
 *   map may begin with finished offsets. A number is written in groups of 5 bits, the lowest first, one digit each; 32
 *   is added to every digit but the last: 1 to 32 take one digit, 2^40 takes eight;
 * - `checksum` is the CRC-32 (ISO-HDLC) of all characters before its dot, in six digits, the highest first.
 *
 * @param limit in characters (UTF-16 units, as the broker counts; ASCII makes them bytes, too).
 */
export function encodeMap(map: OffsetMap, limit: number = METADATA_LIMIT): EncodedMap {
  if (!NAME.test(map.clusterHash) || !NAME.test(map.nonce))
    throw new Fault('INTERNAL', 'The offset map needs a cluster hash and a nonce of 1 to 32 base64url digits.');
  const timestamp = Number.isSafeInteger(map.timestampMs) ? String(map.timestampMs) : '';
  const head = `fsc${String(VERSION)}.${map.clusterHash}.${String(map.offset)}.${timestamp}.${map.nonce}.`;
  const room = limit - head.length - CHECKSUM_LENGTH;
  const { runs, leftOut } = encodeRuns(map.ranges, room);
  if (room < 0) return { text: '', complete: false, leftOut, used: 1 };
  const complete = leftOut === 0;
  const body = head + runs;
  const text = `${body}.${checksumOf(body)}`;
  return { text, complete, leftOut, used: complete ? text.length / limit : 1 };
}

/** Reads what `encodeMap` wrote, from text of any origin; `expected` is where it was found. Never throws. */
export function decodeMap(
  text: string,
  expected: { readonly clusterHash: string; readonly offset: bigint },
): DecodedMap {
  if (text === '') return { do: 'none' };
  const version = ANY_VERSION.exec(text)?.[1];
  if (version === undefined) return { do: 'ignored', why: 'foreign' };
  if (Number(version) > VERSION) return { do: 'ignored', why: 'future' };
  const body = text.slice(0, -CHECKSUM_LENGTH);
  const parts = THIS_VERSION.exec(body)?.groups;
  if (parts === undefined || text.slice(-CHECKSUM_LENGTH) !== `.${checksumOf(body)}`)
    return { do: 'ignored', why: 'damaged' };
  const { cluster, offset, timestamp, nonce = '', runs = '' } = parts;
  if (cluster !== expected.clusterHash || offset !== String(expected.offset)) return { do: 'ignored', why: 'mirrored' };
  const ranges = decodeRuns(runs, Number(END_OF_OFFSETS - expected.offset));
  if (ranges === null) return { do: 'ignored', why: 'damaged' };
  return { do: 'map', timestampMs: timestamp === '' ? null : Number(timestamp), nonce, ranges };
}

/** Six digits that stand for a cluster's id: two clusters share them once in 2^32. */
export function clusterHashOf(clusterId: string): string {
  return checksumOf(clusterId);
}

/** A name for one writer of maps: eight digits, 48 bits of chance. */
export function createNonce(draw: Draw): string {
  return Array.from({ length: 8 }, () => DIGITS.charAt(Math.floor(draw() * DIGITS.length))).join('');
}

function encodeRuns(ranges: Iterable<OffsetRange>, room: number): { readonly runs: string; readonly leftOut: number } {
  let runs = '';
  let end = -1;
  let leftOut = 0;
  for (const { from, length } of merged(ranges)) {
    const pair = leftOut === 0 ? encodeNumber(from - end - 1) + encodeNumber(length - 1) : '';
    if (leftOut > 0 || runs.length + pair.length > room) {
      leftOut += length;
      continue;
    }
    runs += pair;
    end = from + length;
  }
  return { runs, leftOut };
}

/** Ranges that touch as one; without those that do not lie above the one before, which no caller means. */
function* merged(ranges: Iterable<OffsetRange>): Generator<OffsetRange, void, undefined> {
  let open: OffsetRange | null = null;
  let end = 0;
  for (const { from, length } of ranges) {
    if (from < end || length < 1 || !Number.isSafeInteger(from + length)) continue;
    if (open !== null && from === end) open = { from: open.from, length: open.length + length };
    else {
      if (open !== null) yield open;
      open = { from, length };
    }
    end = from + length;
  }
  if (open !== null) yield open;
}

/** Null: no sequence of pairs, or one that leads beyond the last offset. */
function decodeRuns(runs: string, mostOffsets: number): OffsetRange[] | null {
  const ranges: OffsetRange[] = [];
  let end = -1;
  let from: number | null = null;
  let value = 0;
  let unit = 1;
  for (const digit of runs) {
    const number = VALUES.get(digit) ?? 0;
    value += (number % 32) * unit;
    unit *= 32;
    if (!Number.isSafeInteger(value)) return null;
    if (number >= 32) continue;
    if (from === null) from = end + value + 1;
    else {
      ranges.push({ from, length: value + 1 });
      end = from + value + 1;
      from = null;
    }
    value = 0;
    unit = 1;
  }
  return unit === 1 && from === null && end <= mostOffsets ? ranges : null;
}

function encodeNumber(value: number): string {
  let digits = '';
  let rest = value;
  for (; rest >= 32; rest = Math.floor(rest / 32)) digits += DIGITS.charAt((rest % 32) + 32);
  return digits + DIGITS.charAt(rest);
}

const CRC_TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let rest = byte;
  for (let bit = 0; bit < 8; bit += 1) rest = (rest & 1) === 1 ? (rest >>> 1) ^ 0xed_b8_83_20 : rest >>> 1;
  return rest;
});

/** CRC-32 of ASCII text (of other text: of the low bytes), as six digits. One changed character always changes it. */
function checksumOf(text: string): string {
  let crc = 0xff_ff_ff_ff;
  for (let at = 0; at < text.length; at += 1) crc = (CRC_TABLE[(crc ^ text.charCodeAt(at)) & 0xff] ?? 0) ^ (crc >>> 8);
  let rest = (crc ^ 0xff_ff_ff_ff) >>> 0;
  let digits = '';
  for (let digit = 0; digit < 6; digit += 1) {
    digits = DIGITS.charAt(rest % 64) + digits;
    rest = Math.floor(rest / 64);
  }
  return digits;
}
