import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { type MadeCertificate } from './certificates.ts';
import { join } from './tls-relay.ts';

/** A proxy that opens tunnels (CONNECT), as those of companies do. */
export class Proxy {
  /** What tunnels were asked for: `host:port`. */
  readonly asked: string[] = [];
  /** `user:password` that have to be given; null: none. */
  credentials: string | null = null;
  /** What it answers instead of opening a tunnel; null: it opens one. */
  refuses: number | null = null;
  /** It takes connections and answers nothing. */
  isMute = false;
  readonly #open = new Set<Socket>();
  readonly #server: Server;
  readonly #scheme: string;

  private constructor(tls: MadeCertificate | null) {
    this.#scheme = tls === null ? 'http' : 'https';
    this.#server = tls === null ? createServer() : createTlsServer({ cert: tls.certificate, key: tls.key });
    this.#server.on('connection', (socket: Socket) => {
      this.#open.add(socket);
      socket.once('close', () => this.#open.delete(socket));
    });
    this.#server.on('connect', (request: IncomingMessage, socket: Socket) => {
      this.#connect(request, socket);
    });
  }

  /** `tls` null: plain HTTP. */
  static async open(tls: MadeCertificate | null = null): Promise<Proxy> {
    const proxy = new Proxy(tls);
    proxy.#server.listen(0, '127.0.0.1');
    await once(proxy.#server, 'listening');
    return proxy;
  }

  /** Tunnels that are open, and connections that wait for one. */
  get connections(): number {
    return this.#open.size;
  }

  url(userInfo = ''): string {
    const port = String((this.#server.address() as AddressInfo).port);
    return `${this.#scheme}://${userInfo === '' ? '' : `${userInfo}@`}localhost:${port}`;
  }

  /** Ends every tunnel. */
  cut(): void {
    for (const socket of this.#open) socket.destroy();
  }

  async close(): Promise<void> {
    this.cut();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #connect({ url = '', headers }: IncomingMessage, socket: Socket): void {
    socket.on('error', () => undefined);
    this.asked.push(url);
    if (this.isMute) {
      socket.resume().once('end', () => socket.end());
      return;
    }
    const given = Buffer.from((headers['proxy-authorization'] ?? '').replace('Basic ', ''), 'base64').toString();
    const isKnown = this.credentials === null || given === this.credentials;
    const refusal = isKnown ? this.refuses : 407;
    if (refusal !== null) {
      socket.end(`HTTP/1.1 ${String(refusal)} No\r\ncontent-length: 0\r\n\r\n`);
      return;
    }
    const [, host = '', port = ''] = /^\[?(.*?)\]?:(\d+)$/.exec(url) ?? [];
    const target = connect({ host, port: Number(port) }, () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      join(socket, target, this.#open);
    });
    target.on('error', () => {
      socket.end('HTTP/1.1 502 No\r\ncontent-length: 0\r\n\r\n');
    });
  }
}
