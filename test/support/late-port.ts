import { createServer, connect, type Server, type Socket } from 'node:net';
import { freePorts } from '../../src/sandbox/broker/ports.ts';

/** A port behind which nothing listens until it is opened; then it leads to another port of this machine. */
export class LatePort {
  readonly port: number;
  readonly #target: number;
  readonly #sockets = new Set<Socket>();
  #server: Server | null = null;

  private constructor(port: number, target: number) {
    this.port = port;
    this.#target = target;
  }

  static async to(target: number): Promise<LatePort> {
    const [port = 0] = await freePorts(1);
    return new LatePort(port, target);
  }

  async open(): Promise<void> {
    const server = createServer((near) => {
      const far = connect(this.#target, '127.0.0.1');
      for (const [one, other] of [
        [near, far],
        [far, near],
      ] as const) {
        this.#sockets.add(one);
        one.pipe(other);
        one.on('error', () => other.destroy());
        one.on('close', () => {
          this.#sockets.delete(one);
          other.destroy();
        });
      }
    });
    this.#server = server;
    await new Promise<void>((resolve) => {
      server.listen(this.port, '127.0.0.1', resolve);
    });
  }

  async close(): Promise<void> {
    const server = this.#server;
    this.#server = null;
    for (const socket of this.#sockets) socket.destroy();
    if (server === null) return;
    await new Promise<void>((resolve) => {
      server.close(() => {
        resolve();
      });
    });
  }
}
