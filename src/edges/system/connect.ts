import { createSecureContext } from 'node:tls';
import { buildConnector } from 'undici';
import { type Clock } from '../../kernel/clock.ts';
import { openTunnel } from './tunnel.ts';

/** Opens a connection for a pool of undici. */
export type Connect = buildConnector.connector;

/** What is trusted and shown on a connection that is opened now, in PEM; another object once either has changed. */
export interface TlsMaterial {
  /** Instead of those that Node brings; null: those. */
  readonly authorities: string | null;
  /** Shown where it is asked for; null: none. */
  readonly pair: { readonly certificate: string; readonly key: string } | null;
}

export interface ConnectSettings {
  /** For the whole of it: address, proxy, TLS. Milliseconds. */
  readonly limitMs: number;
  /** Asked for each connection, so that what has changed counts. */
  readonly tls: () => TlsMaterial;
  /** The URL of a proxy, perhaps with user info; asked for each connection; null: none. */
  readonly proxy: () => string | null;
  /** Told the code of each connection that came to nothing. */
  readonly onFailed?: (code: string) => void;
}

/** Alerts of RFC 8446 (section 6.2) that refuse our certificate, or the lack of one; with TLS 1.3 they come after our side has agreed. */
const CERTIFICATE_REFUSED =
  /_ALERT_(CERTIFICATE_\w+|BAD_CERTIFICATE|UNSUPPORTED_CERTIFICATE|UNKNOWN_CA|ACCESS_DENIED)$/;

/**
 * Opens connections with TLS 1.2 or newer, HTTP/1.1, and the other side's certificate checked whatever the environment
 * says; through the proxy where there is one. Open connections stay as they are when certificates or the proxy change.
 */
export function createConnect({ limitMs, tls, proxy, onFailed }: ConnectSettings, clock: Clock): Connect {
  let known = tls();
  let direct = directWith(known, limitMs);
  return (options, callback) => {
    const material = tls();
    if (material !== known) {
      // A connector of its own, because it remembers sessions: one that is taken up again is not checked again.
      direct = directWith(material, limitMs);
      known = material;
    }
    const url = proxy();
    const end = onFailed === undefined ? callback : watched(callback, onFailed);
    if (url === null) direct(options, end);
    else through({ url, options, direct, limitMs, clock, callback: end });
  };
}

function directWith({ authorities, pair }: TlsMaterial, limitMs: number): Connect {
  const secureContext = createSecureContext({
    minVersion: 'TLSv1.2',
    ...(authorities === null ? {} : { ca: authorities }),
    ...(pair === null ? {} : { cert: pair.certificate, key: pair.key }),
  });
  return buildConnector({ timeout: limitMs, allowH2: false, secureContext, rejectUnauthorized: true });
}

function watched(callback: buildConnector.Callback, onFailed: (code: string) => void): buildConnector.Callback {
  return (...end) => {
    const [error, socket] = end;
    if (error !== null) onFailed(codeOf(error));
    socket?.on('error', (broken: Error) => {
      if (CERTIFICATE_REFUSED.test(codeOf(broken))) onFailed(codeOf(broken));
    });
    callback(...end);
  };
}

/** Opens a connection to the server of a URL, TLS included, and closes it: null, or the code of why there was none. Sends no request. */
export async function connectError(connect: Connect, url: URL): Promise<string | null> {
  const { hostname, host, protocol, port } = url;
  return await new Promise((resolve) => {
    connect({ hostname: hostname.replace(/^\[(.*)\]$/, '$1'), host, protocol, port }, (error, socket) => {
      // What its peer says of the end has no listener of ours.
      socket?.on('error', () => undefined).destroy();
      resolve(error === null ? null : codeOf(error));
    });
  });
}

function codeOf(error: Error): string {
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}

interface Through {
  readonly url: string;
  readonly options: buildConnector.Options;
  readonly direct: Connect;
  readonly limitMs: number;
  readonly clock: Clock;
  readonly callback: buildConnector.Callback;
}

/** One limit for tunnel and TLS together: what comes later than that is closed. */
function through({ url, options, direct, limitMs, clock, callback }: Through): void {
  const startedMs = clock.monotonicMs();
  const { hostname, port, protocol } = options;
  const host = hostname.includes(':') ? `[${hostname}]` : hostname;
  const target = `${host}:${port === '' ? (protocol === 'https:' ? '443' : '80') : port}`;
  openTunnel({ proxy: new URL(url), target, limitMs, clock }, (error, socket) => {
    if (socket === null) {
      callback(error, null);
      return;
    }
    if (protocol !== 'https:') {
      callback(null, socket);
      return;
    }
    const cancel = clock.after(Math.max(0, limitMs - (clock.monotonicMs() - startedMs)), () => {
      socket.destroy(Object.assign(new Error('TLS through the proxy took too long.'), { code: 'PROXY_TIMEOUT' }));
    });
    direct({ ...options, httpSocket: socket }, (...end) => {
      cancel();
      callback(...end);
    });
  });
}
