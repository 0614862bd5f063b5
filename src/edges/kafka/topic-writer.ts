import { type IHeaders, type PartitionMetadata, type Partitioners, type Producer, type RecordMetadata } from 'kafkajs';
import { type OutgoingRecord, type WriteOutcome } from '../../engine/ports.ts';
import { type Clock, type Draw, within } from '../../kernel/clock.ts';
import { type Batch, Bundles } from './bundles.ts';
import { causeCode, isConnectionCut, kafkaErrorName, nameOfAnswer } from './errors.ts';
import { partitionOfKey } from './key-partition.ts';
import { backoffMs, Nap } from './nap.ts';
import { OpenWrites } from './open-writes.ts';
import { type Outgoing, PartitionQueue, type SendResult } from './partition-queue.ts';
import { BROKER_WRITE_TIMEOUT_MS } from './settings.ts';

const METADATA_MAX_AGE_MS = 60_000;
const FIRST_RETRY_MS = 100;
const LAST_RETRY_MS = 2000;
const DISCONNECT_MS = 5000;
/** No node has this number. */
const UNKNOWN_LEADER = -1;
const UNACKNOWLEDGED = 'UNACKNOWLEDGED';

const TOO_LARGE: ReadonlySet<string> = new Set(['MESSAGE_TOO_LARGE', 'RECORD_LIST_TOO_LARGE']);
const INVALID: ReadonlySet<string> = new Set(['INVALID_RECORD', 'POLICY_VIOLATION', 'UNSUPPORTED_FOR_MESSAGE_FORMAT']);

type Partitioner = ReturnType<typeof Partitioners.DefaultPartitioner>;

export interface TopicWriterOptions {
  readonly topic: string;
  /** This topic's own: a topic that is gone fails every metadata request of the producer that has written to it. */
  readonly producer: Producer;
  /** For records without a key. */
  readonly partitioner: Partitioner;
  readonly partitionsOf: (topic: string) => Promise<readonly PartitionMetadata[]>;
  readonly clock: Clock;
  readonly draw: Draw;
  readonly onRetry: (error: string) => void;
}

/** Writes the records of one topic; records wait, in order, until its partitions are known. */
export class TopicWriter {
  readonly #options: TopicWriterOptions;
  readonly #queues = new Map<number, PartitionQueue>();
  readonly #bundles: Bundles;
  readonly #open: OpenWrites;
  readonly #nap: Nap;
  #connecting: Promise<void> | null = null;
  /** Ours alone, so that the partitioner need not be given a copy for each record. */
  #partitions: PartitionMetadata[] = [];
  #leaders: ReadonlyMap<number, number> = new Map();
  #learntAtMs = 0;
  #learning = false;
  #unplaced: Outgoing[] = [];
  #closed = false;
  #error = 'not sent yet';

  constructor(options: TopicWriterOptions) {
    this.#options = options;
    this.#nap = new Nap(options.clock);
    this.#open = new OpenWrites({
      clock: options.clock,
      late: () => ({ do: 'unavailable', error: this.#error }),
    });
    this.#bundles = new Bundles({
      clock: options.clock,
      leaderOf: (partition) => this.#leaders.get(partition) ?? UNKNOWN_LEADER,
      send: async (batches) => await this.#send(batches),
    });
  }

  /** Resolves when the record is settled, at the latest after `deadlineMs`; never rejects. */
  async write(record: OutgoingRecord, deadlineMs: number): Promise<WriteOutcome> {
    return await new Promise<WriteOutcome>((resolve) => {
      if (this.#closed) resolve({ do: 'unavailable', error: 'closed' });
      else this.#place(this.#open.add(record, deadlineMs, resolve));
    });
  }

  /** Every open record is answered `unavailable`; bounded. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#open.settleAll({ do: 'unavailable', error: 'closed' });
    for (const queue of this.#queues.values()) queue.close();
    this.#nap.wake();
    await within(this.#options.clock, DISCONNECT_MS, this.#options.producer.disconnect()).catch(() => 'late' as const);
  }

  #place(outgoing: Outgoing): void {
    const { clock, partitioner, topic } = this.#options;
    const known = this.#partitions.length > 0 && this.#unplaced.length === 0;
    if (!known || clock.monotonicMs() - this.#learntAtMs > METADATA_MAX_AGE_MS) void this.#learn();
    if (!known) {
      this.#unplaced.push(outgoing);
      return;
    }
    const { key } = outgoing.record;
    const partition =
      key === null
        ? partitioner({ topic, partitionMetadata: this.#partitions, message: { key, value: null } })
        : partitionOfKey(key, this.#partitions.length);
    this.#queue(partition).push(outgoing);
  }

  #queue(partition: number): PartitionQueue {
    const known = this.#queues.get(partition);
    if (known !== undefined) return known;
    const { clock, draw, onRetry } = this.#options;
    const queue = new PartitionQueue({
      partition,
      clock,
      draw,
      onRetry,
      join: (joining) => {
        this.#bundles.join(joining);
      },
      send: async (to, outgoing) => {
        const [result] = await this.#send([{ partition: to, outgoing }]);
        return result ?? { do: 'failed', error: UNACKNOWLEDGED };
      },
    });
    this.#queues.set(partition, queue);
    return queue;
  }

  /** Finds the topic's partitions, as long as a record waits for that. One at a time. */
  async #learn(): Promise<void> {
    if (this.#learning) return;
    this.#learning = true;
    const { topic, partitionsOf, clock, draw, onRetry } = this.#options;
    for (let failures = 0; !this.#closed; failures += 1) {
      try {
        const partitions = await partitionsOf(topic);
        if (partitions.length > 0) {
          this.#partitions = [...partitions];
          this.#leaders = new Map(partitions.map(({ partitionId, leader }) => [partitionId, leader]));
          this.#learntAtMs = clock.monotonicMs();
          break;
        }
        this.#error = 'topic missing';
      } catch (error) {
        this.#error = kafkaErrorName(error);
      }
      this.#unplaced = this.#unplaced.filter((outgoing) => !outgoing.isSettled());
      if (this.#unplaced.length === 0) break;
      onRetry(this.#error);
      await this.#nap.sleep(backoffMs(failures, draw, FIRST_RETRY_MS, LAST_RETRY_MS));
    }
    this.#learning = false;
    if (this.#partitions.length === 0) return;
    const waiting = this.#unplaced.filter((outgoing) => !outgoing.isSettled());
    this.#unplaced = [];
    for (const outgoing of waiting) this.#place(outgoing);
  }

  async #send(batches: readonly Batch[]): Promise<readonly SendResult[]> {
    try {
      await this.#connect();
      const messages = batches.flatMap(({ partition, outgoing }) =>
        // Its headers may be null, which kafkajs' types do not say.
        outgoing.map(({ record: { key, value, headers } }) => ({
          partition,
          key,
          value,
          headers: headers as IHeaders,
        })),
      );
      const answers = await this.#options.producer.send({
        topic: this.#options.topic,
        acks: -1,
        timeout: BROKER_WRITE_TIMEOUT_MS,
        messages,
      });
      return batches.map(({ partition }) => this.#judged(answers.find((of) => of.partition === partition)));
    } catch (error) {
      const result = this.#unwritten(causeCode(error) ?? '', kafkaErrorName(error));
      if (batches.length === 1) {
        const isCut = result.do === 'failed' && isConnectionCut(error) && (await this.#areBrokersThere());
        return [isCut ? { ...result, isCut } : result];
      }
      // Of several it is not known which one was meant: each is tried alone.
      return batches.map(() => (result.do === 'failed' ? result : { do: 'failed', error: kafkaErrorName(error) }));
    }
  }

  /** Whether somebody answers a small question, on another connection. */
  async #areBrokersThere(): Promise<boolean> {
    try {
      return (await this.#options.partitionsOf(this.#options.topic)).length > 0;
    } catch {
      return false;
    }
  }

  /** kafkajs can resolve without having sent a partition whose leader moved; then its answer lacks it. */
  #judged(answer: RecordMetadata | undefined): SendResult {
    if (answer?.errorCode === 0 && answer.baseOffset !== undefined)
      return { do: 'written', baseOffset: BigInt(answer.baseOffset) };
    const code = answer === undefined || answer.errorCode === 0 ? UNACKNOWLEDGED : nameOfAnswer(answer.errorCode);
    return this.#unwritten(code, code);
  }

  #unwritten(code: string, error: string): SendResult {
    if (TOO_LARGE.has(code)) return { do: 'refused', why: 'too_large' };
    if (INVALID.has(code)) return { do: 'refused', why: 'invalid' };
    this.#error = error;
    void this.#learn();
    return { do: 'failed', error };
  }

  async #connect(): Promise<void> {
    this.#connecting ??= this.#options.producer.connect();
    try {
      await this.#connecting;
    } catch (error) {
      this.#connecting = null;
      throw error;
    }
  }
}
