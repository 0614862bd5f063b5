import { type ISocketFactory } from 'kafkajs';
import { connect, isIP, type Socket } from 'node:net';
import { connect as connectTls, createSecureContext, type SecureContext, type TLSSocket } from 'node:tls';

/** What is trusted and shown on a connection that is opened now; another object once either has changed. */
export interface KafkaTls {
  /** In PEM, instead of those of this machine; null: those. */
  readonly authorities: string | null;
  /** In PEM; null: none is shown. */
  readonly pair: { readonly certificate: string; readonly key: string } | null;
}

/** An address, with an IPv6 one in brackets or not. */
export interface Address {
  readonly host: string;
  readonly port: number;
}

/** Of errors of a connection: the other side speaks TLS, and we do not. */
export const PEER_SPEAKS_TLS = 'PEER_SPEAKS_TLS';
/** The other side ended the connection before there was TLS on it: as a listener does that speaks plain text. */
export const PEER_ENDED_HANDSHAKE = 'PEER_ENDED_TLS_HANDSHAKE';

/** Told, by `host:port`, of each broker from which something has come in. */
export type Heard = (broker: string) => void;

const KEEP_ALIVE_MS = 60_000;
/** A TLS alert of any version (RFC 8446, section 5.1); as the length of an answer of Kafka's it would be 352 MB. */
const ALERT = 0x15;
const TLS_MAJOR = 3;

/**
 * How kafkajs opens its connections: `tls` is asked at each one, so that a changed file counts at the next. Its own
 * factory takes options once and for all. Certificates are always checked, also against the name of the host.
 */
export function socketFactory(tls: (() => KafkaTls) | null, heard?: Heard): ISocketFactory {
  return ({ host, port, onConnect }) => {
    const socket = tls === null ? openPlain({ host, port }) : openTls({ host, port }, tls());
    const broker = brokerAt({ host, port });
    if (heard !== undefined) socket.on('data', () => heard(broker));
    let isOpen = false;
    socket.once(tls === null ? 'connect' : 'secureConnect', () => {
      isOpen = true;
      onConnect();
    });
    // kafkajs ends an attempt that took too long, and goes on listening to it: what came of it would end the next one.
    const end = socket.end.bind(socket);
    socket.end = (): Socket => (isOpen ? end() : socket.destroy());
    socket.setKeepAlive(true, KEEP_ALIVE_MS);
    return socket;
  };
}

/** A broker as it is named where it is heard. */
export function brokerAt({ host, port }: Address): string {
  return `${host}:${String(port)}`;
}

/** A connection in plain text; an alert of TLS as the first answer ends it with `PEER_SPEAKS_TLS`. */
export function openPlain({ host, port }: Address): Socket {
  const socket = connect({ host: withoutBrackets(host), port });
  socket.once('data', (chunk: Buffer) => {
    if (chunk[0] === ALERT && chunk[1] === TLS_MAJOR) socket.destroy(coded(PEER_SPEAKS_TLS));
  });
  return socket;
}

/** A connection in TLS, from 1.2 on. Throws where the texts are no PEM. */
export function openTls({ host, port }: Address, tls: KafkaTls): TLSSocket {
  const name = withoutBrackets(host);
  const socket = connectTls({
    host: name,
    port,
    ...(isIP(name) === 0 ? { servername: name } : {}),
    secureContext: contextOf(tls),
    // Not left to NODE_TLS_REJECT_UNAUTHORIZED.
    rejectUnauthorized: true,
  });
  socket.prependOnceListener('error', rename);
  socket.once('secureConnect', () => {
    socket.off('error', rename);
  });
  return socket;
}

function rename(error: NodeJS.ErrnoException): void {
  if (error.code === 'ECONNRESET') error.code = PEER_ENDED_HANDSHAKE;
}

const contexts = new WeakMap<KafkaTls, SecureContext>();

/** Made once for each pair: parsing the machine's authorities takes milliseconds. */
function contextOf(tls: KafkaTls): SecureContext {
  const known = contexts.get(tls);
  if (known !== undefined) return known;
  const { authorities, pair } = tls;
  const made = createSecureContext({
    minVersion: 'TLSv1.2',
    ...(authorities === null ? {} : { ca: authorities }),
    ...(pair === null ? {} : { cert: pair.certificate, key: pair.key }),
  });
  contexts.set(tls, made);
  return made;
}

function coded(code: string): Error {
  return Object.assign(new Error('The other side speaks TLS.'), { code });
}

function withoutBrackets(host: string): string {
  return host.replace(/^\[(.*)\]$/, '$1');
}
