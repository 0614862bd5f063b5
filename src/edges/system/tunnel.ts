import { type IncomingMessage, request as httpRequest, type RequestOptions } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { type Socket } from 'node:net';
import { type Clock } from '../../kernel/clock.ts';

export interface TunnelOptions {
  /** http or https; user info in it becomes basic credentials. */
  readonly proxy: URL;
  /** `host:port`, where an IPv6 address stands in brackets. */
  readonly target: string;
  readonly limitMs: number;
  readonly clock: Clock;
}

export type TunnelEnd = (...end: [error: null, socket: Socket] | [error: Error, socket: null]) => void;

/**
 * Asks a proxy for a tunnel (RFC 9110, section 9.3.6) and calls back once: with a socket whose other end is the target, or
 * with an error whose code is `PROXY_` and a status, `TIMEOUT` or the code of the error. A proxy that speaks TLS is
 * believed by the authorities that Node brings, and by those of `NODE_EXTRA_CA_CERTS`: those of the target say nothing of it.
 */
export function openTunnel({ proxy, target, limitMs, clock }: TunnelOptions, end: TunnelEnd): void {
  const request =
    proxy.protocol === 'https:' ? httpsRequest(optionsOf(proxy, target)) : httpRequest(optionsOf(proxy, target));
  let isOver = false;
  const fail = (what: string): void => {
    if (isOver) return;
    isOver = true;
    cancel();
    request.destroy();
    end(Object.assign(new Error('The proxy gave no way through.'), { code: `PROXY_${what}` }), null);
  };
  const cancel = clock.after(limitMs, () => {
    fail('TIMEOUT');
  });
  request.on('error', (error: NodeJS.ErrnoException) => {
    fail(error.code ?? error.name);
  });
  request.once('connect', (response: IncomingMessage, socket: Socket, first: Buffer) => {
    const status = response.statusCode ?? 0;
    if (isOver || status < 200 || status > 299) {
      socket.destroy();
      fail(String(status));
      return;
    }
    isOver = true;
    cancel();
    if (first.length > 0) socket.unshift(first);
    end(null, socket);
  });
  request.end();
}

function optionsOf(proxy: URL, target: string): RequestOptions {
  const { hostname, port, username, password } = proxy;
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  const authorization = `Basic ${Buffer.from(credentials, 'utf8').toString('base64')}`;
  return {
    method: 'CONNECT',
    host: hostname.replace(/^\[(.*)\]$/, '$1'),
    port: port === '' ? null : Number(port),
    path: target,
    headers: {
      host: target,
      connection: 'keep-alive',
      ...(credentials === ':' ? {} : { 'proxy-authorization': authorization }),
    },
    agent: false,
    ...TLS_OF_PROXY,
  };
}

const TLS_OF_PROXY = { minVersion: 'TLSv1.2', rejectUnauthorized: true, ALPNProtocols: ['http/1.1'] } as const;
