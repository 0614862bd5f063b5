import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

const PRODUCE = 0;
/** The oldest version that brokers of today take. */
const PRODUCE_VERSION = 3;
const TIMEOUT_MS = 30_000;
/** Answers of a broker that has not got word of a new topic yet. */
const NOT_YET: ReadonlySet<number> = new Set([3, 5, 6]);
/** A thousand new partitions take a small broker a while. */
const MOST_TRIES = 500;
const TRY_AGAIN_MS = 200;

/** Sends finished batches to the one broker of a bench, over one connection, one request at a time. */
export class BulkProducer {
  readonly #socket: Socket;
  #received = Buffer.alloc(0);
  #waiting: PromiseWithResolvers<Buffer> | null = null;
  #requests = 0;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('data', (chunk: Buffer) => {
      this.#received = Buffer.concat([this.#received, chunk]);
      const bytes = this.#received.length < 4 ? Infinity : 4 + this.#received.readInt32BE(0);
      if (this.#received.length < bytes) return;
      const answer = this.#received.subarray(4, bytes);
      this.#received = this.#received.subarray(bytes);
      this.#waiting?.resolve(answer);
    });
    const fail = (): void => {
      this.#waiting?.reject(new Error('the connection to the broker is gone'));
    };
    socket.on('error', fail);
    socket.on('close', fail);
  }

  /** `broker`: `host:port`. */
  static async open(broker: string): Promise<BulkProducer> {
    const [host = '', port = ''] = broker.split(':');
    return await new Promise((resolve, reject) => {
      const socket = connect({ host, port: Number(port), noDelay: true });
      socket.once('error', reject);
      socket.once('connect', () => {
        resolve(new BulkProducer(socket));
      });
    });
  }

  /** Resolves when the broker has written the batch. `batch` may be used again then. */
  async send(topic: string, partition: number, batch: Buffer): Promise<void> {
    for (let tries = 1; ; tries += 1) {
      const code = await this.#sendOnce(topic, partition, batch);
      if (code === 0) return;
      if (!NOT_YET.has(code) || tries === MOST_TRIES) throw new Error(`the broker answered with code ${String(code)}`);
      await sleep(TRY_AGAIN_MS);
    }
  }

  close(): void {
    this.#socket.destroy();
  }

  async #sendOnce(topic: string, partition: number, batch: Buffer): Promise<number> {
    this.#requests += 1;
    this.#waiting = Promise.withResolvers<Buffer>();
    const head = requestHead(topic, partition, { correlation: this.#requests, batchBytes: batch.length });
    this.#socket.write(head);
    this.#socket.write(batch);
    const answer = await this.#waiting.promise;
    // Correlation, one topic, its name, one partition, its number, and the code.
    return answer.readInt16BE(4 + 4 + 2 + topic.length + 4 + 4);
  }
}

function requestHead(
  topic: string,
  partition: number,
  { correlation, batchBytes }: { readonly correlation: number; readonly batchBytes: number },
): Buffer {
  const client = 'bench';
  const head = Buffer.alloc(4 + 8 + 2 + client.length + 2 + 2 + 4 + 4 + 2 + topic.length + 4 + 4 + 4);
  let at = head.writeInt32BE(head.length - 4 + batchBytes, 0);
  at = head.writeInt16BE(PRODUCE, at);
  at = head.writeInt16BE(PRODUCE_VERSION, at);
  at = head.writeInt32BE(correlation, at);
  at = text(head, client, at);
  // No transaction.
  at = head.writeInt16BE(-1, at);
  // Acknowledged by all that are in sync.
  at = head.writeInt16BE(-1, at);
  at = head.writeInt32BE(TIMEOUT_MS, at);
  at = head.writeInt32BE(1, at);
  at = text(head, topic, at);
  at = head.writeInt32BE(1, at);
  at = head.writeInt32BE(partition, at);
  head.writeInt32BE(batchBytes, at);
  return head;
}

function text(to: Buffer, ascii: string, at: number): number {
  to.writeInt16BE(ascii.length, at);
  to.write(ascii, at + 2, 'latin1');
  return at + 2 + ascii.length;
}
