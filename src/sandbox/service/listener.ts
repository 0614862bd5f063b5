import { type Server } from 'node:http';
import { type AddressInfo } from 'node:net';
import { type Cancel, type Clock } from '../../kernel/clock.ts';
import { Fault, nameOf } from '../../kernel/fault.ts';

/** How long answers that are on their way have when the port is closed for a while. */
const GRACE_MS = 50;
const AGAIN_MS = 50;

const EVERYWHERE: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };

/** The port a server listens on, which can be closed and made useless for a while. */
export class Listener {
  readonly #server: Server;
  readonly #host: string;
  readonly #clock: Clock;
  #port: number;
  readonly #waiting = new Set<Cancel>();
  #isDeaf = false;
  #isClosed = false;
  #drops = 0;

  constructor({ server, host, port, clock }: { server: Server; host: string; port: number; clock: Clock }) {
    this.#server = server;
    this.#host = host;
    this.#port = port;
    this.#clock = clock;
  }

  /** Listens, and answers where (an address of this machine, without a slash at the end). Throws `PORT_TAKEN`. */
  async open(): Promise<string> {
    const server = this.#server;
    await new Promise<void>((resolve, reject) => {
      server.once('error', (error) => {
        reject(new Fault('PORT_TAKEN', `the sandbox cannot listen on ${this.#host}:${this.#port}: ${nameOf(error)}`));
      });
      server.listen(this.#port, this.#host, resolve);
    });
    server.removeAllListeners('error');
    server.on('error', () => {
      this.#listenAgain(AGAIN_MS);
    });
    server.on('connection', (socket) => {
      if (this.#drops > 0) socket.destroy();
    });
    const { address, family, port } = server.address() as AddressInfo;
    this.#port = port;
    const reachable = EVERYWHERE[address] ?? address;
    return `http://${family === 'IPv6' ? `[${reachable}]` : reachable}:${port}`;
  }

  /** Refuses connections for so long, and ends those there are; then the same port listens again. */
  refuse(forMs: number): void {
    if (this.#isDeaf || this.#isClosed || forMs === 0) return;
    this.#isDeaf = true;
    this.#server.close();
    this.#after(Math.min(GRACE_MS, forMs), () => {
      this.#server.closeAllConnections();
    });
    this.#listenAgain(forMs);
  }

  /** Closes every new connection at once for so long, and those that are idle now. */
  drop(forMs: number): void {
    if (forMs === 0) return;
    this.#drops += 1;
    this.#server.closeIdleConnections();
    this.#after(forMs, () => {
      this.#drops -= 1;
    });
  }

  /** Ends the server and its connections. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const cancel of this.#waiting) cancel();
    this.#waiting.clear();
    await new Promise<void>((resolve) => {
      this.#server.close(() => {
        resolve();
      });
      this.#server.closeAllConnections();
    });
  }

  #listenAgain(inMs: number): void {
    if (this.#isClosed) return;
    this.#after(inMs, () => {
      this.#server.listen(this.#port, this.#host, () => {
        this.#isDeaf = false;
      });
    });
  }

  #after(delayMs: number, task: () => void): void {
    const cancel = this.#clock.after(delayMs, () => {
      this.#waiting.delete(cancel);
      task();
    });
    this.#waiting.add(cancel);
  }
}
