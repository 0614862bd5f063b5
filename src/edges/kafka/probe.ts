import { Buffer } from 'node:buffer';
import { type Socket } from 'node:net';
import { type Address, type KafkaTls, openPlain, openTls, PEER_ENDED_HANDSHAKE, PEER_SPEAKS_TLS } from './sockets.ts';

/** The other side speaks plain text, and we are to speak TLS. */
export const PEER_SPEAKS_PLAIN_TEXT = 'PEER_SPEAKS_PLAIN_TEXT';
/** It takes connections, and ends them without a word: no broker, or one that expects something else. */
export const PEER_ENDED = 'PEER_ENDED_CONNECTION';

/**
 * Which versions of requests do you take: the one request that every broker answers, before anybody has said who they are.
 * Version 0, without a client's name: length, key 18, version, correlation id, no name.
 */
const API_VERSIONS = Buffer.from([0, 0, 0, 10, 0, 18, 0, 0, 0, 0, 0, 1, 0xff, 0xff]);

/**
 * Whether a broker answers at an address, spoken to in TLS or (`tls` null) in plain text: null, or why not, by the
 * system's name of it (`ECONNREFUSED`, `timeout`), that of TLS (`CERT_HAS_EXPIRED`) or one of ours. Logs in nowhere.
 */
export async function brokerError(address: Address, tls: KafkaTls | null, limitMs: number): Promise<string | null> {
  const error = await ask(() => (tls === null ? openPlain(address) : openTls(address, tls)), limitMs);
  if (tls !== null && error === PEER_ENDED_HANDSHAKE)
    return (await ask(() => openPlain(address), limitMs)) === null ? PEER_SPEAKS_PLAIN_TEXT : error;
  if (tls === null && (error === PEER_ENDED || error === 'ECONNRESET')) {
    const secured = await ask(() => openTls(address, { authorities: null, pair: null }), limitMs);
    return secured === null || ABOUT_CERTIFICATES.test(secured) ? PEER_SPEAKS_TLS : error;
  }
  return error;
}

/** Errors of a handshake that has come so far that there was a certificate. */
const ABOUT_CERTIFICATES = /CERT|_VERIFY_|ALTNAME|ALERT/;

async function ask(open: () => Socket, limitMs: number): Promise<string | null> {
  return await new Promise((resolve) => {
    const socket = open();
    const end = (error: string | null): void => {
      socket.destroy();
      resolve(error);
    };
    socket.setTimeout(limitMs, () => {
      end('timeout');
    });
    // Certificates of ours are judged by the other side only when the handshake is over for us: an answer proves more.
    socket.write(API_VERSIONS);
    socket.on('data', () => {
      if (!socket.destroyed) end(null);
    });
    socket.once('error', (error: NodeJS.ErrnoException) => {
      end(error.code ?? error.name);
    });
    socket.once('close', () => {
      end(PEER_ENDED);
    });
  });
}
