import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { gunzip, gzip, zstdCompress, zstdDecompress } from 'node:zlib';
import kafkajs, { type Kafka as KafkaClient, type Message, type Producer, type Transaction } from 'kafkajs';
import { type Draw } from '../../src/kernel/clock.ts';
import { oddPrefix } from '../support/odd-answers.ts';
import { deckOf } from './makers.ts';

const { CompressionCodecs, CompressionTypes, Kafka, logLevel } = kafkajs;

const KIBI = 1024;
const MEBI = KIBI * KIBI;
const BOMB_BYTES = 32 * MEBI;
const LARGE_BYTES = 3 * MEBI;
const MANY_HEADERS = 5000;
/** A transaction that a fault has cut off blocks all readers of its partitions for so long. */
const TRANSACTION_MS = 5000;

type Odd = Omit<Message, 'key'> & { readonly key?: string; readonly codec?: 'gzip' | 'zstd' };
/** Makes a record; one that can be read has this id. */
type Made = (transId: string) => Odd;

const paymentOf = (transId: string, more: Readonly<Record<string, unknown>> = {}): string =>
  JSON.stringify({ trans_id: transId, cust_id: transId, trans_amt: 10, trans_currency: 'EUR', ...more });

const ABORTED = 'aborted';

/** Every odd record but those of aborted transactions. */
const ODD_RECORDS: Readonly<Record<string, Made>> = {
  no_json: () => ({ value: 'this is no JSON' }),
  broken_json: (transId) => ({ value: paymentOf(transId).slice(0, -9) }),
  wrong_framing: () => ({ value: Buffer.concat([Buffer.of(0, 0x7f, 0xff, 0xff, 0xff), Buffer.from('no schema')]) }),
  null_value: () => ({ value: null }),
  empty_value: () => ({ value: Buffer.alloc(0) }),
  array: () => ({ value: '[]' }),
  no_id: () => ({ value: '{"trans_amt":10}' }),
  too_large: (transId) => ({ value: paymentOf(transId, { order_id: 'x'.repeat(LARGE_BYTES) }), codec: 'gzip' }),
  bomb_gzip: () => ({ value: Buffer.alloc(BOMB_BYTES), codec: 'gzip' }),
  bomb_zstd: () => ({ value: Buffer.alloc(BOMB_BYTES), codec: 'zstd' }),
  huge_key: (transId) => ({ key: 'k'.repeat(256 * KIBI), value: paymentOf(transId) }),
  huge_header: (transId) => ({ value: paymentOf(transId), headers: { huge: 'h'.repeat(512 * KIBI) } }),
  many_headers: (transId) => ({
    value: paymentOf(transId),
    headers: Object.fromEntries(Array.from({ length: MANY_HEADERS }, (_, index) => [`h${String(index)}`, 'v'])),
  }),
};

export interface OddRecordsParts {
  readonly brokers: readonly string[];
  /** They are written to each in turn. */
  readonly topics: readonly string[];
  readonly partitions: number;
  readonly draw: Draw;
  /** A second. */
  readonly rate: number;
  /** Whether no fault is under way. A transaction that is cut off would block all readers, good records included. */
  readonly isCalm: () => boolean;
}

/** Writes odd records among the others, each with a key of its own, and keeps account of how many were written. */
export class OddRecords {
  readonly #parts: OddRecordsParts;
  readonly #kafka: KafkaClient;
  readonly #producer: Producer;
  readonly #transactional: readonly Producer[];
  #made = 0;
  written = 0;
  /** Transactions that were aborted. */
  aborted = 0;

  constructor(parts: OddRecordsParts) {
    this.#parts = parts;
    useOwnCodecs();
    this.#kafka = new Kafka({ brokers: [...parts.brokers], logLevel: logLevel.NOTHING });
    this.#producer = this.#kafka.producer();
    this.#transactional = [1, 2].map((number) =>
      this.#kafka.producer({
        transactionalId: `odd-${String(number)}`,
        idempotent: true,
        maxInFlightRequests: 1,
        transactionTimeout: TRANSACTION_MS,
      }),
    );
  }

  /** Writes until the signal. A record that Kafka refuses is not counted. */
  async run(signal: AbortSignal): Promise<void> {
    const { draw, rate, topics, isCalm } = this.#parts;
    const producers = [this.#producer, ...this.#transactional];
    await Promise.all(
      producers.map(async (producer) => {
        await producer.connect();
      }),
    );
    const kind = deckOf(draw, [...Object.keys(ODD_RECORDS), ABORTED]);
    let isAbortDue = true;
    while (!signal.aborted) {
      await sleep(1000 / rate, undefined, { signal }).catch(() => undefined);
      const next = kind();
      const topic = topics[this.#made % topics.length] ?? '';
      this.#made += 1;
      if (next === ABORTED) isAbortDue = true;
      else await this.#write(topic, ODD_RECORDS[next]);
      if (!isAbortDue || !isCalm()) continue;
      isAbortDue = false;
      await this.#abort(topic);
    }
    await Promise.all(
      producers.map(async (producer) => {
        await producer.disconnect();
      }),
    );
  }

  async #write(topic: string, make: Made | undefined): Promise<void> {
    const name = `record-${String(this.#made)}`;
    const { codec, key, ...odd } = make?.(`${oddPrefix('after')}${name}`) ?? { value: null };
    try {
      await this.#producer.send({
        topic,
        compression: codec === undefined ? CompressionTypes.None : TYPES[codec],
        messages: [{ ...odd, key: `odd-key-${name}${key ?? ''}` }],
      });
      this.written += 1;
    } catch {
      // A node is away: the next one comes.
    }
  }

  /** Aborts two transactions that overlap in one partition, the later one first, and writes a record behind their markers. */
  async #abort(topic: string): Promise<void> {
    const { draw, partitions } = this.#parts;
    const partition = Math.floor(draw() * partitions);
    const begun: Transaction[] = [];
    try {
      for (const [index, producer] of this.#transactional.entries()) {
        const transaction = await producer.transaction();
        begun.unshift(transaction);
        const name = `${oddPrefix(ABORTED)}${String(this.#made)}-${String(index)}`;
        await transaction.send({ topic, messages: [{ partition, key: name, value: paymentOf(name) }] });
      }
    } catch {
      // A node is away.
    }
    for (const transaction of begun) {
      try {
        await transaction.abort();
        this.aborted += 1;
      } catch {
        // Kafka aborts it by itself.
      }
    }
    await this.#write(topic, () => ({ value: 'no JSON', partition }));
  }
}

const TYPES = { gzip: CompressionTypes.GZIP, zstd: CompressionTypes.ZSTD } as const;

/** Replaces kafkajs' codecs in this process: the campaign writes and reads what the connector's codecs refuse. */
export function useOwnCodecs(): void {
  CompressionCodecs[CompressionTypes.GZIP] = () => codecOf(promisify(gzip), promisify(gunzip));
  CompressionCodecs[CompressionTypes.ZSTD] = () => codecOf(promisify(zstdCompress), promisify(zstdDecompress));
}

type Turn = (bytes: Buffer) => Promise<Buffer>;

function codecOf(
  pack: Turn,
  unpack: Turn,
): { compress: (encoder: { buffer: Buffer }) => Promise<Buffer>; decompress: Turn } {
  return { compress: async ({ buffer }) => await pack(buffer), decompress: unpack };
}
