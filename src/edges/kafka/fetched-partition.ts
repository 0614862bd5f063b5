import { type Buffer } from 'node:buffer';
import { type SourceRecord, type TopicPartition, type Unread } from '../../engine/ports.ts';
import { recordBytes } from '../../kernel/record-bytes.ts';
import { AbortedTransactions, type AbortedTransaction } from './aborted-transactions.ts';
import { BatchTooLarge, UnknownCodec, unpack } from './codecs.ts';
import { readOldBatch } from './old-batch.ts';
import { BatchLost, batchesOf, type RecordBatch } from './record-batch.ts';
import { BatchDamaged, RecordScanner, type ScannedRecord } from './record-scanner.ts';

/** What records may come to. */
export interface ReadLimits {
  /** One record as it stands in its batch: key, value and headers. */
  readonly recordMaxBytes: number;
  /** All records of a batch, unpacked. */
  readonly batchMaxBytes: number;
}

/** What a reader of partitions works with. */
export interface ReadParts extends ReadLimits {
  /** Resolves when others have had their turn: a batch may take long to unpack. */
  readonly turn: () => Promise<void>;
}

/** What the records of one fetch may take of memory: what does not fit is fetched again. */
const FETCH_MAX_BYTES = 16 * 1024 * 1024;
/** What may be unpacked in one fetch: it takes about a second, and a join waits for the end of the fetch. */
const FETCH_UNPACK_MAX_BYTES = 512 * 1024 * 1024;
/** A partition of which so much has been unpacked leaves the rest of its fetch for the next one, so that others have their turn. */
const UNPACK_MAX_BYTES = 32 * 1024 * 1024;
/** What every record costs beside its bytes. */
const RECORD_OVERHEAD = 512;

/** What is left for the records of one fetch; shared by its partitions. */
export interface FetchBudget {
  /** What its records may still take. */
  bytes: number;
  /** How much may still be unpacked. */
  unpackBytes: number;
}

/** What one fetch may take. */
export function fetchBudget(): FetchBudget {
  return { bytes: FETCH_MAX_BYTES, unpackBytes: FETCH_UNPACK_MAX_BYTES };
}

/** One partition as a broker has answered it. */
export interface FetchedPartition {
  readonly at: TopicPartition;
  /** The offset that was asked for. The first batch may begin before it. */
  readonly from: bigint;
  readonly bytes: Buffer;
  readonly aborted: readonly AbortedTransaction[];
}

/** Records in the order of the log, and the offset after the last one that was looked at. */
export interface ReadRecords {
  readonly records: readonly SourceRecord[];
  readonly next: bigint;
}

/**
 * Reads the records of a fetched partition, as many as its limits allow. Markers and records of aborted transactions are
 * left out, and never unpacked. A record that is too large, and every record of a batch that unpacks to too much or to no
 * records, comes as one without content (`unread`): for the batch, one of each offset that its head names. Throws
 * `BatchLost` where a batch did not arrive as it was written.
 */
export async function readPartition(
  fetched: FetchedPartition,
  parts: ReadParts,
  budget: FetchBudget,
): Promise<ReadRecords> {
  const reading = new Reading(fetched, parts, budget);
  const transactions = new AbortedTransactions(fetched.aborted);
  for (const batch of batchesOf(fetched.bytes)) {
    if (reading.isFull) break;
    const isAborted = batch.format === 'present' && transactions.holds(batch);
    if (batch.lastOffset < reading.next) continue;
    if (batch.format === 'old') reading.takeOld(await readOldBatch(fetched.at, batch), batch.lastOffset);
    else if (isAborted || batch.marker !== null) reading.passTo(batch.lastOffset + 1n);
    else await reading.read(batch);
  }
  return { records: reading.records, next: reading.next };
}

/** Records of one batch that fit into the budget. */
class Found {
  readonly records: SourceRecord[] = [];
  bytes = 0;
  readonly #maxBytes: number;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** There is no room for another one. */
  get isFull(): boolean {
    return this.bytes >= this.#maxBytes;
  }

  add(record: SourceRecord): void {
    this.records.push(record);
    this.bytes += RECORD_OVERHEAD + recordBytes(record);
  }
}

/** Of one record alone. */
const TOO_LARGE: Unread = { why: 'record_too_large', batch: null };

class Reading {
  readonly records: SourceRecord[] = [];
  next: bigint;
  readonly #at: TopicPartition;
  readonly #parts: ReadParts;
  readonly #budget: FetchBudget;
  #unpacked = 0;

  constructor({ at, from }: FetchedPartition, parts: ReadParts, budget: FetchBudget) {
    this.#at = at;
    this.next = from;
    this.#parts = parts;
    this.#budget = budget;
  }

  get isFull(): boolean {
    const { bytes, unpackBytes } = this.#budget;
    return bytes <= 0 || unpackBytes <= 0 || this.#unpacked > UNPACK_MAX_BYTES;
  }

  passTo(next: bigint): void {
    this.next = next;
  }

  async read(batch: RecordBatch): Promise<void> {
    try {
      this.#take(await this.#scan(batch), batch.lastOffset);
    } catch (error) {
      if (error instanceof BatchTooLarge) this.#takeUnread(batch, 'record_too_large');
      else if (error instanceof UnknownCodec) throw error;
      else if (batch.isIntact()) this.#takeUnread(batch, 'undecodable');
      else throw new BatchLost();
    }
  }

  takeOld(records: readonly SourceRecord[], lastOffset: bigint): void {
    const found = new Found(this.#budget.bytes);
    for (const record of records) {
      if (record.offset < this.next) continue;
      if (found.isFull) break;
      const isTooLarge = recordBytes(record) > this.#parts.recordMaxBytes;
      found.add(isTooLarge ? this.#unread(record.offset, record.timestampMs, TOO_LARGE) : record);
    }
    this.#take(found, lastOffset);
  }

  /** Reads to the end of the batch, also when no more records fit: whether it is too large concerns all of them. */
  async #scan(batch: RecordBatch): Promise<Found> {
    const { recordMaxBytes, batchMaxBytes, turn } = this.#parts;
    const found = new Found(this.#budget.bytes);
    const scanner = new RecordScanner({
      count: batch.count,
      recordMaxBytes,
      fromDelta: Number(this.next - batch.baseOffset),
      take: (record) => {
        found.add(this.#toSource(batch, record));
        return !found.isFull;
      },
    });
    if (batch.codec === 0) scanner.push(batch.records);
    else
      await alone(async () => {
        for await (const part of unpack(batch.codec, batch.records, { maxBytes: batchMaxBytes, turn })) {
          this.#unpacked += part.length;
          this.#budget.unpackBytes -= part.length;
          if (!scanner.isDone) scanner.push(part);
          if (scanner.hasAll) break;
        }
      });
    scanner.end();
    return found;
  }

  #toSource(batch: RecordBatch, { timestampDelta, offsetDelta, content }: ScannedRecord): SourceRecord {
    if (offsetDelta > batch.lastOffsetDelta) throw new BatchDamaged('A record lies beyond its batch.');
    const offset = batch.baseOffset + BigInt(offsetDelta);
    const timestampMs = batch.isLogAppendTime ? batch.maxTimestampMs : batch.baseTimestampMs + timestampDelta;
    if (content === null) return this.#unread(offset, timestampMs, TOO_LARGE);
    const { topic, partition } = this.#at;
    const { key, value, headers } = content;
    return { topic, partition, offset, timestampMs, key, value, headers };
  }

  #takeUnread(batch: RecordBatch, why: Unread['why']): void {
    const found = new Found(this.#budget.bytes);
    const unread = { why, batch: batch.baseOffset };
    const first = this.next > batch.baseOffset ? this.next : batch.baseOffset;
    for (let offset = first; offset <= batch.lastOffset && !found.isFull; offset += 1n)
      found.add(this.#unread(offset, batch.maxTimestampMs, unread));
    this.#take(found, batch.lastOffset);
  }

  /** What no more fits is fetched again. */
  #take(found: Found, lastOffset: bigint): void {
    for (const record of found.records) this.records.push(record);
    this.#budget.bytes -= found.bytes;
    const last = found.records.at(-1);
    this.next = found.isFull && last !== undefined ? last.offset + 1n : lastOffset + 1n;
  }

  #unread(offset: bigint, timestampMs: number, unread: Unread): SourceRecord {
    const { topic, partition } = this.#at;
    return { topic, partition, offset, timestampMs, key: null, value: null, headers: {}, unread };
  }
}

let last: Promise<void> = Promise.resolve();

/** One batch of the process is unpacked at a time: some codecs take much memory for a moment, whatever comes of it. */
async function alone(work: () => Promise<void>): Promise<void> {
  const before = last;
  const ended = Promise.withResolvers<void>();
  last = ended.promise;
  await before;
  try {
    await work();
  } finally {
    ended.resolve();
  }
}
