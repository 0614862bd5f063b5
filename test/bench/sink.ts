import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { performance } from 'node:perf_hooks';
import { recordOf } from './backlog.ts';
import { type Tally } from './tally.ts';

const HEAD_END = Buffer.from('\r\n\r\n');
const LENGTH = /content-length: *(\d+)/iu;
const DAY_S = 86_400;
/** A thousand connections at once: with fewer places some would wait a second for their next try. */
const BACKLOG = 4096;

interface Due {
  readonly socket: Socket;
  readonly records: readonly number[];
  readonly cameMs: number;
}

/** The numbers of the records that a request's body from here to there is of. */
type RecordsOf = (bytes: Buffer, from: number, to: number) => readonly number[];

/** A payment to be scored is alone. */
export const paymentOf: RecordsOf = (bytes, from) => [recordOf(bytes, from)];

const UPDATE = /"b(\d{8})"/gu;

/** Of status updates there are many. */
export const updatesOf: RecordsOf = (bytes, from, to) =>
  Array.from(bytes.toString('latin1', from, to).matchAll(UPDATE), ([, digits]) => Number(digits));

/**
 * A screening service with next to no CPU of its own: HTTP/1.1 on plain sockets, always the same answer, `latencyMs`
 * after the request has come. All waits are alike, so they are one queue with one timer.
 */
export class Sink {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #latencyMs: number;
  readonly #recordsOf: RecordsOf;
  readonly #due: Due[] = [];
  #head = 0;
  #timer: NodeJS.Timeout | null = null;
  /** Told of every request and answer. */
  tally: Pick<Tally, 'came' | 'left'> | null = null;
  /** So many requests at once are served; more are answered with 429 at once. */
  capacity = Infinity;
  #refused = 0;

  private constructor(latencyMs: number, recordsOf: RecordsOf) {
    this.#latencyMs = latencyMs;
    this.#recordsOf = recordsOf;
    this.#server = createServer({ noDelay: true }, (socket) => {
      this.#serve(socket);
    });
  }

  static async open(latencyMs: number, recordsOf: RecordsOf = paymentOf): Promise<Sink> {
    const sink = new Sink(latencyMs, recordsOf);
    await new Promise<void>((resolve) => {
      sink.#server.listen({ port: 0, host: '127.0.0.1', backlog: BACKLOG }, resolve);
    });
    return sink;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Answered with 429. */
  get refused(): number {
    return this.#refused;
  }

  async close(): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer);
    for (const socket of this.#sockets) socket.destroy();
    await new Promise<void>((resolve) => {
      this.#server.close(() => {
        resolve();
      });
    });
  }

  #serve(socket: Socket): void {
    this.#sockets.add(socket);
    let rest: Buffer | null = null;
    socket.on('error', () => undefined);
    socket.on('close', () => this.#sockets.delete(socket));
    socket.on('data', (chunk: Buffer) => {
      let bytes: Buffer = rest === null ? chunk : Buffer.concat([rest, chunk]);
      for (let end = this.#take(socket, bytes); end > 0; end = this.#take(socket, bytes)) bytes = bytes.subarray(end);
      rest = bytes.length === 0 ? null : bytes;
    });
  }

  /** Takes one whole request from the beginning of the bytes; answers its length, 0 where it is not whole. */
  #take(socket: Socket, bytes: Buffer): number {
    const headEnd = bytes.indexOf(HEAD_END);
    if (headEnd < 0) return 0;
    const head = bytes.toString('latin1', 0, headEnd);
    const bodyFrom = headEnd + HEAD_END.length;
    const end = bodyFrom + Number(LENGTH.exec(head)?.[1] ?? 0);
    if (bytes.length < end) return 0;
    if (head.includes('/sessions')) socket.write(SESSION);
    else this.#meet({ socket, records: this.#recordsOf(bytes, bodyFrom, end), cameMs: performance.now() });
    return end;
  }

  #meet(due: Due): void {
    if (this.#due.length - this.#head >= this.capacity) {
      this.#refused += 1;
      due.socket.write(TOO_MANY);
      return;
    }
    for (const record of due.records) this.tally?.came(record);
    if (this.#latencyMs === 0) {
      this.#answer(due);
      return;
    }
    this.#due.push(due);
    this.#timer ??= setTimeout(this.#fire, this.#latencyMs);
  }

  readonly #fire = (): void => {
    this.#timer = null;
    const latestMs = performance.now() - this.#latencyMs;
    for (let next = this.#due[this.#head]; next !== undefined; next = this.#due[this.#head]) {
      if (next.cameMs > latestMs) {
        this.#timer = setTimeout(this.#fire, Math.max(1, next.cameMs - latestMs));
        break;
      }
      this.#head += 1;
      this.#answer(next);
    }
    if (this.#head < 4096 && this.#head < this.#due.length) return;
    this.#due.splice(0, this.#head);
    this.#head = 0;
  };

  #answer({ socket, records, cameMs }: Due): void {
    for (const record of records) this.tally?.left(record, cameMs);
    if (!socket.destroyed) socket.write(SCORE);
  }
}

const TOO_MANY = Buffer.from('HTTP/1.1 429 Too Many Requests\r\ncontent-length: 0\r\n\r\n');

function answer(body: object): Buffer {
  const text = JSON.stringify(body);
  return Buffer.from(
    `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${String(Buffer.byteLength(text))}\r\n\r\n${text}`,
  );
}

/** A token that is valid for a day; its signature is none. */
const SESSION = answer({
  sessionToken: [
    Buffer.from('{"alg":"HS256"}').toString('base64url'),
    Buffer.from(JSON.stringify({ exp: Math.floor(Date.now() / 1000) + DAY_S })).toString('base64url'),
    'x'.repeat(43),
  ].join('.'),
});

const SCORE = answer({
  frg_trans_id: '7f1e3a52-0f4c-4c0e-9a55-2f3f8f0f1a11',
  fraugster_approved: 1,
  score: 0.07,
  is_liable: true,
  validation: { ok: true },
  evidence: { signals: [{ category: 'user', id: 's1', related_to: ['ip', 'bill_ad_ctry'], type: 'technical' }] },
  frg_device_id: 'd-1',
});
