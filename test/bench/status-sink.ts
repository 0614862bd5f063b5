import { createServer, type IncomingMessage, type Server } from 'node:http';
import { type AddressInfo } from 'node:net';

const DAY_S = 86_400;
const TOKEN = [
  Buffer.from('{"alg":"HS256"}').toString('base64url'),
  Buffer.from(JSON.stringify({ exp: Math.floor(Date.now() / 1000) + DAY_S })).toString('base64url'),
  'x'.repeat(43),
].join('.');

/** A screening service that keeps of each transaction the last update it was sent, and answers at once. */
export class StatusSink {
  readonly #server: Server;
  /** Number of the last update of each transaction, by the number of that; 0: none came. */
  readonly last: Uint32Array;
  /** Updates that came, repeats included. */
  came = 0;
  batches = 0;
  /** Told the number of each update that comes. */
  onUpdate: (number: number) => void = () => undefined;

  private constructor(ids: number) {
    this.last = new Uint32Array(ids);
    this.#server = createServer({ keepAliveTimeout: 75_000 }, (request, response) => {
      void bodyOf(request).then((body) => {
        const isLogin = request.url?.includes('/sessions') === true;
        if (!isLogin) this.#take(body);
        response.setHeader('content-type', 'application/json');
        response.end(isLogin ? JSON.stringify({ sessionToken: TOKEN }) : '{}');
      });
    });
  }

  static async open(ids: number): Promise<StatusSink> {
    const sink = new StatusSink(ids);
    await new Promise<void>((resolve) => {
      sink.#server.listen(0, '127.0.0.1', resolve);
    });
    return sink;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise<void>((resolve) => {
      this.#server.close(() => {
        resolve();
      });
    });
  }

  #take(body: string): void {
    const updates = JSON.parse(body) as Readonly<Record<string, { readonly acq_ref_id: string }>>;
    this.batches += 1;
    for (const [id, update] of Object.entries(updates)) {
      const number = Number(update.acq_ref_id);
      this.last[Number(id.slice(1))] = number;
      this.came += 1;
      this.onUpdate(number);
    }
  }
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}
