import { type OutgoingRecord, type WriteOutcome } from '../../engine/ports.ts';
import { type Clock, type Draw } from '../../kernel/clock.ts';
import { backoffMs, Nap } from './nap.ts';

const MOST_RECORDS = 500;
const MOST_BYTES = 512 * 1024;
const FIRST_RETRY_MS = 100;
const LAST_RETRY_MS = 2000;
/** So often in a row a record that is too large for a batch with others may have its connection cut. */
const MAX_CUTS = 3;

/** A record on its way; `settle` answers its writer, once. */
export interface Outgoing {
  readonly record: OutgoingRecord;
  readonly bytes: number;
  readonly isSettled: () => boolean;
  readonly settle: (outcome: WriteOutcome) => void;
}

/** What one send of one partition came to. `baseOffset`: the offset of its first record. */
export type SendResult =
  | { readonly do: 'written'; readonly baseOffset: bigint }
  | { readonly do: 'refused'; readonly why: 'too_large' | 'invalid' }
  | {
      readonly do: 'failed';
      readonly error: string;
      /** The connection was cut instead of an answer, and other questions are answered. */
      readonly isCut?: boolean;
    };

export interface QueueOptions {
  readonly partition: number;
  readonly clock: Clock;
  readonly draw: Draw;
  /** There is something to send: calls `next` and `end`, or `goAlone`, when its turn has come. */
  readonly join: (queue: PartitionQueue) => void;
  /** Sends this partition alone. Never rejects. */
  readonly send: (partition: number, outgoing: readonly Outgoing[]) => Promise<SendResult>;
  readonly onRetry: (error: string) => void;
}

/**
 * The records of one partition, in order: one send at a time, and what comes meanwhile makes up the next. A batch that is
 * refused is cut in half until the record that is meant stands alone. Brokers refuse requests over their
 * `socket.request.max.bytes` by cutting the connection: a large record that ends so again and again counts as too large.
 *
 * - resting: nothing is there to be sent. Left by `push`.
 * - joined: waits to be sent together with other partitions, or is. Left by `end` and `goAlone`.
 * - alone: a send has failed; it is repeated from its first record that still has time, so nothing overtakes, until one
 *   has been acknowledged.
 */
export class PartitionQueue {
  readonly #options: QueueOptions;
  readonly #nap: Nap;
  #waiting: Outgoing[] = [];
  #resting = true;
  #closed = false;
  #limit = MOST_RECORDS;

  constructor(options: QueueOptions) {
    this.#options = options;
    this.#nap = new Nap(options.clock);
  }

  get partition(): number {
    return this.#options.partition;
  }

  push(outgoing: Outgoing): void {
    this.#waiting.push(outgoing);
    if (!this.#resting) return;
    this.#resting = false;
    this.#options.join(this);
  }

  /** Ends the waits between retries; the caller has settled what is left. */
  close(): void {
    this.#closed = true;
    this.#nap.wake();
  }

  /** What `next` has answered was sent together with other partitions. */
  end(batch: readonly Outgoing[], result: SendResult): void {
    if (result.do === 'failed') void this.#repeat(result.error);
    else {
      this.#settle(batch, result);
      this.rest();
    }
  }

  /** Its turn does not come. */
  goAlone(): void {
    void this.#repeat(null);
  }

  /** Rests, or joins again if there is more to send. */
  rest(): void {
    this.#resting = this.#waiting.length === 0;
    if (!this.#resting) this.#options.join(this);
  }

  /** `error`: of a send that has failed. */
  async #repeat(error: string | null): Promise<void> {
    const { partition, send } = this.#options;
    if (error !== null) await this.#wait(error, 0);
    let failures = error === null ? 0 : 1;
    let cuts = 0;
    for (let batch = this.next(); batch.length > 0; batch = this.next()) {
      let result = await send(partition, batch);
      cuts = result.do === 'failed' && result.isCut === true && isLarge(batch) ? cuts + 1 : 0;
      if (cuts === MAX_CUTS) {
        cuts = 0;
        result = { do: 'refused', why: 'too_large' };
      }
      if (result.do === 'failed') {
        await this.#wait(result.error, failures);
        failures += 1;
        continue;
      }
      failures = 0;
      this.#settle(batch, result);
      if (result.do === 'written') break;
    }
    this.rest();
  }

  async #wait(error: string, failures: number): Promise<void> {
    const { onRetry, draw } = this.#options;
    onRetry(error);
    if (!this.#closed) await this.#nap.sleep(backoffMs(failures, draw, FIRST_RETRY_MS, LAST_RETRY_MS));
  }

  /** The head of the queue, without what has run out of time. Stays in the queue until it is settled. */
  next(): readonly Outgoing[] {
    if (this.#closed) this.#waiting = [];
    this.#waiting = this.#waiting.filter((outgoing) => !outgoing.isSettled());
    let bytes = 0;
    let count = 0;
    for (const outgoing of this.#waiting) {
      bytes += outgoing.bytes;
      if (count === this.#limit || (count > 0 && bytes > MOST_BYTES)) break;
      count += 1;
    }
    return this.#waiting.slice(0, count);
  }

  #settle(batch: readonly Outgoing[], result: Exclude<SendResult, { readonly do: 'failed' }>): void {
    if (result.do === 'refused' && batch.length > 1) {
      this.#limit = Math.ceil(batch.length / 2);
      return;
    }
    this.#waiting.splice(0, batch.length);
    this.#limit = Math.min(MOST_RECORDS, this.#limit * 2);
    const { partition } = this.#options;
    for (const [index, outgoing] of batch.entries()) {
      outgoing.settle(
        result.do === 'written'
          ? { do: 'written', partition, offset: result.baseOffset + BigInt(index) }
          : { do: 'refused', why: result.why },
      );
    }
  }
}

/** Too large to be sent with others, so it stands alone. */
function isLarge(batch: readonly Outgoing[]): boolean {
  return batch.some(({ bytes }) => bytes > MOST_BYTES);
}
