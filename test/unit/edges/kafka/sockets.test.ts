import { createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type TlsOptions } from 'node:tls';
import { afterEach, describe, expect, test } from 'vitest';
import { brokerError } from '../../../../src/edges/kafka/probe.ts';
import { brokerAt, type KafkaTls, socketFactory } from '../../../../src/edges/kafka/sockets.ts';
import { Authority, type MadeCertificate, selfSigned } from '../../../support/certificates.ts';

const authority = new Authority();
const stranger = new Authority('Another Authority');
const trusting: KafkaTls = { authorities: authority.certificate, pair: null };
const good = authority.issue();

const open: Server[] = [];
const accepted = new Set<Socket>();
afterEach(() => {
  for (const socket of accepted) socket.destroy();
  for (const server of open.splice(0)) server.close();
});

async function listen(server: Server): Promise<{ host: string; port: number }> {
  open.push(server);
  server.on('connection', (socket) => accepted.add(socket));
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const address = server.address();
  return { host: '127.0.0.1', port: typeof address === 'object' && address !== null ? address.port : 0 };
}

/** What answers as a broker does: something for something. */
function answering(socket: Socket): void {
  socket.on('error', () => undefined);
  socket.on('data', () => socket.write(Buffer.from([0, 0, 0, 6, 0, 0, 0, 1, 0, 0])));
}

async function secured(shown: MadeCertificate, more: TlsOptions = {}): Promise<{ host: string; port: number }> {
  const server = createTlsServer({ cert: shown.certificate, key: shown.key, ...more }, answering);
  server.on('tlsClientError', () => undefined);
  return await listen(server);
}

const DAY_MS = 86_400_000;
const LIMIT_MS = 10_000;

describe('a broker in TLS', () => {
  test.each<[what: string, shown: MadeCertificate, code: string]>([
    ['of an unknown authority', stranger.issue(), 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'],
    ['of no authority', selfSigned(), 'DEPTH_ZERO_SELF_SIGNED_CERT'],
    ['for another name', authority.issue({ isLoopback: false }), 'ERR_TLS_CERT_ALTNAME_INVALID'],
    ['that has expired', authority.issue({ untilMs: Date.now() - DAY_MS, fromMs: 0 }), 'CERT_HAS_EXPIRED'],
    ['that is not valid yet', authority.issue({ fromMs: Date.now() + DAY_MS }), 'CERT_NOT_YET_VALID'],
  ])('is not spoken to with a certificate %s', async (_, shown, code) => {
    expect(await brokerError(await secured(shown), trusting, LIMIT_MS)).toBe(code);
  });

  test('is not spoken to when it speaks plain text, which is told', async () => {
    const address = await listen(createServer((socket) => answering(socket)));
    // A broker ends what is no request of its own.
    const ending = await listen(
      createServer((socket) => {
        socket.on('error', () => undefined);
        socket.on('data', (chunk) => (chunk[0] === 0 ? socket.write(chunk) : socket.destroy()));
      }),
    );
    expect(await brokerError(address, trusting, LIMIT_MS)).toMatch(/^EPROTO$|^ERR_SSL_/);
    expect(await brokerError(ending, trusting, LIMIT_MS)).toBe('PEER_SPEAKS_PLAIN_TEXT');
  });

  test('that wants a certificate of ours is told from one that does not', async () => {
    const wanting = await secured(good, { ca: authority.certificate, requestCert: true, rejectUnauthorized: true });
    const ours = (issued: MadeCertificate): KafkaTls => ({ ...trusting, pair: issued });
    expect(await brokerError(wanting, trusting, LIMIT_MS)).toMatch(/CERTIFICATE_REQUIRED|PEER_ENDED|ECONNRESET/);
    expect(await brokerError(wanting, ours(stranger.issue()), LIMIT_MS)).not.toBeNull();
    expect(await brokerError(wanting, ours(authority.issue({ name: 'connector' })), LIMIT_MS)).toBeNull();
  });

  test('is not spoken to in plain text, and that is told by its alert', async () => {
    const alert = Buffer.from([0x15, 3, 1, 0, 2, 2, 10]);
    const alerting = await listen(
      createServer((socket) => {
        socket.once('data', () => socket.end(alert));
      }),
    );
    expect(await brokerError(alerting, null, LIMIT_MS)).toBe('PEER_SPEAKS_TLS');
  });

  test('is not spoken to in plain text, and that is told although it ends the connection without a word', async () => {
    expect(await brokerError(await secured(good), null, LIMIT_MS)).toBe('PEER_SPEAKS_TLS');
  });
});

test('somebody who takes connections and says nothing, or ends them, is no broker', async () => {
  const silent = await listen(createServer(() => undefined));
  const ending = await listen(createServer((socket) => socket.destroy()));
  expect(await brokerError(silent, null, 50)).toBe('timeout');
  expect(await brokerError(ending, null, LIMIT_MS)).toMatch(/PEER_ENDED_CONNECTION|ECONNRESET|EPIPE/);
  const [server] = open.splice(1, 1);
  await new Promise((resolve) => {
    server?.close(resolve);
  });
  expect(await brokerError(ending, null, LIMIT_MS)).toBe('ECONNREFUSED');
});

test('each connection trusts and shows what is to be trusted and shown when it is opened', async () => {
  const shown: string[] = [];
  const server = createTlsServer(
    { cert: good.certificate, key: good.key, ca: [authority.certificate, stranger.certificate], requestCert: true },
    (socket) => {
      shown.push(String(socket.getPeerCertificate().subject?.CN));
      answering(socket);
    },
  );
  const { host, port } = await listen(server);
  let now: KafkaTls = { ...trusting, pair: authority.issue({ name: 'old' }) };
  const factory = socketFactory(() => now);
  const connect = async (): Promise<string> =>
    await new Promise((resolve) => {
      const socket = factory({
        host,
        port,
        ssl: {},
        onConnect: () => {
          socket.write('?');
        },
      });
      socket.once('data', () => {
        socket.destroy();
        resolve('connected');
      });
      socket.once('error', (error: NodeJS.ErrnoException) => {
        resolve(String(error.code));
      });
    });
  expect(await connect()).toBe('connected');
  now = { ...now, pair: stranger.issue({ name: 'new' }) };
  expect(await connect()).toBe('connected');
  expect(shown).toEqual(['old', 'new']);
  now = { ...now, authorities: stranger.certificate };
  expect(await connect()).toBe('SELF_SIGNED_CERT_IN_CHAIN');
});

test('an attempt that is ended before it has come to anything never says that it is open', async () => {
  const { host, port } = await listen(createServer(answering));
  const said: string[] = [];
  const socket = socketFactory(null)({ host, port, ssl: {}, onConnect: () => said.push('open') });
  socket.once('connect', () => said.push('connected'));
  socket.end();
  await new Promise((resolve) => {
    socket.once('close', resolve);
  });
  expect([said, socket.destroyed]).toEqual([[], true]);
});

test('a broker is heard when something comes in from it, in plain text and in TLS, and not before', async () => {
  for (const [address, tls] of [
    [await listen(createServer(answering)), null],
    [await secured(good), () => trusting],
  ] as const) {
    const heard: string[] = [];
    const socket = await new Promise<Socket>((resolve) => {
      const opened = socketFactory(tls, (broker) => heard.push(broker))({
        ...address,
        ssl: {},
        onConnect: () => {
          resolve(opened);
        },
      });
    });
    expect(heard).toEqual([]);
    socket.write('?');
    await new Promise((resolve) => {
      socket.once('data', resolve);
    });
    expect(heard).toEqual([brokerAt(address)]);
    socket.destroy();
  }
});
