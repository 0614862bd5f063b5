import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { freePorts } from '../../src/sandbox/broker/ports.ts';
import { join } from './tls-relay.ts';

/** A port of this machine that leads to another one, takes connections and says nothing, or is closed: as it is told. */
export class GatePort {
  readonly port: number;
  readonly #target: number;
  readonly #open = new Set<Socket>();
  #server: Server | null = null;
  #isMute = false;

  private constructor(port: number, target: number) {
    this.port = port;
    this.#target = target;
  }

  static async to(target: number): Promise<GatePort> {
    const [port = 0] = await freePorts(1);
    const gate = new GatePort(port, target);
    await gate.lead();
    return gate;
  }

  /** Connections lead to the other port. */
  async lead(): Promise<void> {
    this.#isMute = false;
    this.#cut();
    await this.#listen();
  }

  /** Connections are taken, and nothing comes of them. */
  async mute(): Promise<void> {
    this.#isMute = true;
    this.#cut();
    await this.#listen();
  }

  /** Connections are refused. */
  async close(): Promise<void> {
    const server = this.#server;
    this.#server = null;
    this.#cut();
    if (server === null) return;
    server.close();
    await once(server, 'close');
  }

  #cut(): void {
    for (const socket of this.#open) socket.destroy();
  }

  async #listen(): Promise<void> {
    if (this.#server !== null) return;
    this.#server = createServer((near) => {
      if (!this.#isMute) {
        join(near, connect({ host: '127.0.0.1', port: this.#target }), this.#open);
        return;
      }
      this.#open.add(near);
      near.on('error', () => undefined).resume();
      near.once('close', () => this.#open.delete(near));
    });
    this.#server.listen(this.port, '127.0.0.1');
    await once(this.#server, 'listening');
  }
}
