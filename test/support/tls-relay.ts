import { once } from 'node:events';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { createServer, type TlsOptions, type TLSSocket } from 'node:tls';
import { type MadeCertificate } from './certificates.ts';

/** What a relay shows, and whom it lets in. */
export interface RelayTls extends MadeCertificate {
  /** Certificates it takes of its peers; absent: it asks for none. */
  readonly peers?: readonly string[];
}

/** Speaks TLS before a server that does not: what comes in goes on to it byte by byte. */
export class TlsRelay {
  /** Connections on which TLS was agreed. */
  opened = 0;
  /** The codes of the connections that came to nothing. */
  readonly failures: string[] = [];
  /** The common names of the certificates that peers have shown. */
  readonly shown: string[] = [];
  readonly #open = new Set<Socket>();
  readonly #targetPort: number;
  readonly #server;

  private constructor(targetPort: number, tls: RelayTls) {
    this.#targetPort = targetPort;
    this.#server = createServer(optionsOf(tls), (socket) => {
      this.#pass(socket);
    });
    this.#server.on('tlsClientError', (error: NodeJS.ErrnoException) => {
      this.failures.push(error.code ?? error.name);
    });
  }

  /** Before the server of a URL on this machine. */
  static async open(targetUrl: string, tls: RelayTls): Promise<TlsRelay> {
    const relay = new TlsRelay(Number(new URL(targetUrl).port), tls);
    relay.#server.listen(0, '127.0.0.1');
    await once(relay.#server, 'listening');
    return relay;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** By the name `localhost`. */
  get url(): string {
    return `https://localhost:${String(this.port)}`;
  }

  /** Shows another certificate on connections from now on; those that are open end. */
  change(tls: MadeCertificate): void {
    this.#server.setSecureContext(optionsOf(tls));
    this.cut();
  }

  /** Ends the connections that are open. */
  cut(): void {
    for (const socket of this.#open) socket.destroy();
  }

  async close(): Promise<void> {
    this.cut();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #pass(socket: TLSSocket): void {
    this.opened += 1;
    const name = socket.getPeerCertificate().subject?.CN;
    if (typeof name === 'string') this.shown.push(name);
    join(socket, connect({ host: '127.0.0.1', port: this.#targetPort }), this.#open);
  }
}

/** Joins two sockets: what one receives the other sends, and where one ends the other does. */
export function join(one: Socket, other: Socket, open: Set<Socket>): void {
  for (const [from, to] of [
    [one, other],
    [other, one],
  ] as const) {
    open.add(from);
    from.pipe(to);
    from.on('error', () => undefined);
    from.once('close', () => {
      open.delete(from);
      to.destroy();
    });
  }
}

function optionsOf({ certificate, key, peers }: RelayTls): TlsOptions {
  const asks = peers === undefined ? {} : { requestCert: true, rejectUnauthorized: true, ca: [...peers] };
  return { cert: certificate, key, ...asks };
}
