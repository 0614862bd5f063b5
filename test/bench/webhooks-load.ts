import { createHmac } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** What senders saw. */
export interface LoadFigures {
  readonly answered: number;
  /** Answers other than 200, and connections that broke. */
  readonly failed: number;
  readonly seconds: number;
  /** Milliseconds, of each answer. */
  readonly latenciesMs: readonly number[];
}

export interface LoadTarget {
  readonly port: number;
  readonly path: string;
  readonly secret: string;
}

const HEAD_END = '\r\n\r\n';

/** Whole requests, each of another review, signed now. `from`: the number of the first. */
export function signedRequests({ path, secret }: LoadTarget, count: number, from: number): readonly Buffer[] {
  const timestamp = String(Math.floor(Date.now() / 1000));
  return Array.from({ length: count }, (_, index) => {
    const id = String(from + index).padStart(10, '0');
    const body = JSON.stringify({
      type: 'txn_manual_review',
      data: {
        frg_trans_id: `7f1e3a52-0f4c-4c0e-9a55-${id}`,
        trans_id: `pay-${id}`,
        decision: 'good',
        reviewed_at: '2026-01-01T10:00:00.123Z',
      },
    });
    const signature = createHmac('sha256', secret).update(timestamp).update(body).digest('hex');
    return Buffer.from(
      [
        `POST ${path} HTTP/1.1`,
        'Host: 127.0.0.1',
        'Content-Type: application/json',
        `Content-Length: ${String(body.length)}`,
        'User-Agent: sender/1.0',
        `X-ServiceWebhook-Signature: ${signature}`,
        `X-ServiceWebhook-Timestamp: ${timestamp}`,
        '',
        body,
      ].join('\r\n'),
    );
  });
}

/** One connection that is kept, with one request at a time. */
class Sender {
  readonly #socket: Socket;
  #onEnd: ((isOk: boolean) => void) | null = null;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.setNoDelay(true).setEncoding('latin1');
    let received = '';
    socket.on('data', (text: string) => {
      received += text;
      const headEnd = received.indexOf(HEAD_END);
      // Every answer has a body of the shape of an object.
      if (headEnd < 0 || received.length === headEnd + HEAD_END.length || !received.endsWith('}')) return;
      const isOk = received.startsWith('HTTP/1.1 200 ');
      received = '';
      this.#end(isOk);
    });
    socket.on('error', () => undefined);
    socket.on('close', () => {
      this.#end(false);
    });
  }

  static async open(port: number): Promise<Sender> {
    const socket = connect({ port, host: '127.0.0.1' });
    await new Promise<void>((resolve, reject) => {
      socket.once('connect', resolve);
      socket.once('error', reject);
    });
    return new Sender(socket);
  }

  get isOpen(): boolean {
    return !this.#socket.destroyed;
  }

  send(request: Buffer, onEnd: (isOk: boolean) => void): void {
    this.#onEnd = onEnd;
    if (this.isOpen) this.#socket.write(request);
    else this.#end(false);
  }

  close(): void {
    this.#socket.destroy();
  }

  #end(isOk: boolean): void {
    const onEnd = this.#onEnd;
    this.#onEnd = null;
    onEnd?.(isOk);
  }
}

/** Each of so many connections sends the next one as soon as it was answered, until all are sent or the time is over. */
export async function closedLoop(
  port: number,
  requests: readonly Buffer[],
  { connections, seconds }: { readonly connections: number; readonly seconds: number },
): Promise<LoadFigures> {
  const senders = await Promise.all(Array.from({ length: connections }, async () => await Sender.open(port)));
  const latenciesMs: number[] = [];
  let [next, failed] = [0, 0];
  const beganMs = performance.now();
  const untilMs = beganMs + 1000 * seconds;
  await Promise.all(
    senders.map(
      async (sender) =>
        await new Promise<void>((resolve) => {
          const go = (): void => {
            const request = requests[next];
            const sentMs = performance.now();
            if (request === undefined || sentMs > untilMs || !sender.isOpen) {
              resolve();
              return;
            }
            next += 1;
            sender.send(request, (isOk) => {
              if (isOk) latenciesMs.push(performance.now() - sentMs);
              else failed += 1;
              go();
            });
          };
          go();
        }),
    ),
  );
  const figures = figuresOf(latenciesMs, failed, beganMs);
  for (const sender of senders) sender.close();
  return figures;
}

/**
 * So many a second, whatever becomes of them: each has a time at which it is meant to go, and its latency counts from
 * there, also where no connection was free or this process came late.
 */
export async function paced(
  port: number,
  requests: readonly Buffer[],
  { connections, perSecond }: { readonly connections: number; readonly perSecond: number },
): Promise<LoadFigures> {
  const free = await Promise.all(Array.from({ length: connections }, async () => await Sender.open(port)));
  const all = [...free];
  const latenciesMs: number[] = [];
  let [next, failed] = [0, 0];
  const beganMs = performance.now();
  const meantMs = (index: number): number => beganMs + (1000 * index) / perSecond;
  const sendDue = (): void => {
    for (let sender = free[0]; sender !== undefined; sender = free[0]) {
      const request = requests[next];
      const dueMs = meantMs(next);
      if (request === undefined || dueMs > performance.now()) return;
      // In turn: one that stays silent is closed by its peer.
      free.shift();
      if (!sender.isOpen) continue;
      next += 1;
      const sent = sender;
      sent.send(request, (isOk) => {
        if (isOk) latenciesMs.push(performance.now() - dueMs);
        else failed += 1;
        if (sent.isOpen) free.push(sent);
        sendDue();
      });
    }
  };
  while (latenciesMs.length + failed < requests.length && all.some((sender) => sender.isOpen)) {
    sendDue();
    await sleep(1);
  }
  const figures = figuresOf(latenciesMs, failed, beganMs);
  for (const sender of all) sender.close();
  return figures;
}

function figuresOf(latenciesMs: readonly number[], failed: number, beganMs: number): LoadFigures {
  return { answered: latenciesMs.length, failed, seconds: (performance.now() - beganMs) / 1000, latenciesMs };
}
