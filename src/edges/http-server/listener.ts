import { createServer as createHttp, type RequestListener, type Server } from 'node:http';
import { createServer as createHttps } from 'node:https';
import { Server as NetServer } from 'node:net';
import { type Certificate } from './certificate.ts';
import { tlsOptions } from './tls.ts';

export interface ListenerOptions {
  /** From a request's first byte to its last; for a TLS handshake, too. */
  readonly requestTimeoutMs: number;
  readonly maxConnections: number;
  /** Null: plain HTTP. */
  readonly certificate: Certificate | null;
}

export const REQUEST_TIMEOUT_MS = 2000;
/** How often the time limits are looked at: a slow sender is cut off this much late at most. */
const TIMEOUT_CHECK_MS = 250;
/** Longer than the 60 s of common load balancers: whoever reuses a connection must be the one that ends idle ones. */
const KEEP_ALIVE_MS = 75_000;
/**
 * Connections that wait to be let in, and so the most that one turn of the loop lets in. A longer queue is no help
 * against a crowd: whoever is at its end waits for all before it, where a sender that was not heard tries again.
 */
export const BACKLOG = 511;
const MAX_HEAD_BYTES = 8192;
const MAX_REQUESTS_PER_SOCKET = 10_000;

/** A server of Node's with every limit set, that does not listen yet. */
export function createListener(options: ListenerOptions, handler: RequestListener): Server {
  const { requestTimeoutMs, maxConnections, certificate } = options;
  const limits = {
    requestTimeout: requestTimeoutMs,
    headersTimeout: requestTimeoutMs,
    connectionsCheckingInterval: TIMEOUT_CHECK_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    maxHeaderSize: MAX_HEAD_BYTES,
    // Checked by us: Node's own answer would go out uncounted.
    requireHostHeader: false,
  };
  const server =
    certificate === null
      ? createHttp(limits, handler)
      : createHttps({ ...limits, ...tlsOptions(certificate), handshakeTimeout: requestTimeoutMs }, handler);
  // Newcomers are let in first, all that wait in one turn, and then others go, who may have to be answered before.
  server.maxConnections = maxConnections + BACKLOG;
  server.maxRequestsPerSocket = MAX_REQUESTS_PER_SOCKET;
  // The size of the head is limited; a limit on their number would silently drop the last ones.
  server.maxHeadersCount = 0;
  server.setTimeout(0);
  return server;
}

/** Accepts no more connections; unlike the server's own `close` it leaves idle ones alone and the time limits in force. */
export function stopAccepting(server: Server): void {
  NetServer.prototype.close.call(server);
}
