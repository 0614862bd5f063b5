import { type Buffer } from 'node:buffer';
import { type AbortedTransaction } from './aborted-transactions.ts';

/** One partition of an answer to a fetch, with the names that kafkajs has for its fields. Offsets are decimal digits. */
export interface FetchedBytes {
  readonly partition: number;
  readonly errorCode: number;
  readonly highWatermark: string;
  readonly abortedTransactions: readonly AbortedTransaction[];
  /** -1: the leader. Absent before version 11. */
  readonly preferredReadReplica?: number;
  /** Batches as they are in the log. */
  readonly bytes: Buffer;
}

export interface FetchAnswer {
  readonly throttleTime: number;
  readonly clientSideThrottleTime: number;
  readonly responses: readonly { readonly topicName: string; readonly partitions: readonly FetchedBytes[] }[];
}

/** From this version on the client keeps to the throttle time by itself (KIP-219). */
const THROTTLED_BY_CLIENT = 8;

/** Reads the answer to a fetch of version 4 to 11 as far as its batches, which stay as they are. */
export function decodeFetch(bytes: Buffer, version: number): FetchAnswer {
  const reader = new Reader(bytes);
  const throttleMs = reader.int32();
  // Error code and session id: sessions are not asked for.
  if (version >= 7) reader.skip(2 + 4);
  const responses = reader.list(() => ({
    topicName: reader.string(),
    partitions: reader.list(() => readPartition(reader, version)),
  }));
  const isOurs = version >= THROTTLED_BY_CLIENT;
  return { throttleTime: isOurs ? 0 : throttleMs, clientSideThrottleTime: isOurs ? throttleMs : 0, responses };
}

function readPartition(reader: Reader, version: number): FetchedBytes {
  const partition = reader.int32();
  const errorCode = reader.int16();
  const highWatermark = reader.int64().toString();
  // The last stable offset, and the start of the log.
  reader.skip(version >= 5 ? 8 + 8 : 8);
  const abortedTransactions = reader.list(() => ({ producerId: reader.int64(), firstOffset: reader.int64() }));
  const preferred = version >= 11 ? { preferredReadReplica: reader.int32() } : {};
  return { partition, errorCode, highWatermark, abortedTransactions, ...preferred, bytes: reader.bytes() };
}

class Reader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  int16(): number {
    this.#at += 2;
    return this.#bytes.readInt16BE(this.#at - 2);
  }

  int32(): number {
    this.#at += 4;
    return this.#bytes.readInt32BE(this.#at - 4);
  }

  int64(): bigint {
    this.#at += 8;
    return this.#bytes.readBigInt64BE(this.#at - 8);
  }

  string(): string {
    const length = Math.max(0, this.int16());
    this.#at += length;
    return this.#bytes.toString('utf8', this.#at - length, this.#at);
  }

  bytes(): Buffer {
    const length = Math.max(0, this.int32());
    this.#at += length;
    return this.#bytes.subarray(this.#at - length, this.#at);
  }

  /** A list that is null has nothing in it. */
  list<T>(read: () => T): T[] {
    const found: T[] = [];
    for (let left = this.int32(); left > 0; left -= 1) found.push(read());
    return found;
  }

  skip(bytes: number): void {
    this.#at += bytes;
  }
}
