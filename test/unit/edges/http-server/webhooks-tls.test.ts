import { once } from 'node:events';
import { connect as connectTcp } from 'node:net';
import { connect, type ConnectionOptions, type TLSSocket } from 'node:tls';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { readKeyPair } from '../../../../src/config/pem.ts';
import { type Certificate } from '../../../../src/edges/http-server/certificate.ts';
import { type HttpServer } from '../../../../src/edges/http-server/server.ts';
import { startWebhookServer } from '../../../../src/edges/http-server/webhooks.ts';
import { type TransportRefusal, type WebhookReply } from '../../../../src/reviews/ports.ts';
import { replyTo } from '../../../../src/reviews/reply.ts';
import { selfSigned } from '../../../support/certificates.ts';
import { exchange, RawConnection } from '../../../support/raw-http.ts';

const FIRST = made();
const SECOND = made();
const PATH = '/webhooks/fraud';
const REQUEST = [
  `POST ${PATH} HTTP/1.1`,
  'host: hooks.example',
  'content-type: application/json',
  'content-length: 2',
  '',
  '{}',
].join('\r\n');

let server: HttpServer;
let refused: TransportRefusal[];
let failures: string[];
let handle: () => Promise<WebhookReply>;

function made(): Certificate {
  const { certificate, key } = selfSigned();
  const read = readKeyPair(certificate, key);
  if ('problem' in read) throw new Error(read.problem);
  return read;
}

beforeEach(async () => {
  refused = [];
  failures = [];
  handle = async () => await Promise.resolve(replyTo('published'));
  server = await startWebhookServer(
    {
      host: '127.0.0.1',
      port: 0,
      path: PATH,
      maxBytes: 1024,
      requestTimeoutMs: 300,
      certificate: FIRST,
      onTlsFailed: (why) => failures.push(why),
    },
    {
      handle: async () => await handle(),
      refuse: (why) => {
        refused.push(why);
        return replyTo(why);
      },
    },
  );
});
afterEach(async () => {
  await server.close();
});

function port(): number {
  return Number(new URL(server.url).port);
}

/** A connection that trusts only `trusted`. */
async function open(trusted: Certificate, options: ConnectionOptions = {}): Promise<TLSSocket> {
  const socket = connect({ host: '127.0.0.1', port: port(), ca: [trusted.certificate], ...options });
  await once(socket, 'secureConnect');
  return socket.setEncoding('latin1');
}

/** Sends on a connection and gives what comes until `isEnough`, or until it ends. */
async function say(
  socket: TLSSocket,
  text: string,
  isEnough: (received: string) => boolean = () => false,
): Promise<string> {
  let received = '';
  socket.write(text);
  return await new Promise((resolve, reject) => {
    const take = (chunk: string): void => {
      received += chunk;
      if (isEnough(received)) resolve(received);
    };
    socket.on('data', take);
    socket.once('error', reject);
    socket.once('close', () => {
      resolve(received);
    });
  });
}

const isAnswer = (received: string): boolean => received.endsWith('\r\n\r\n{}');

/** The code that a connection fails with. */
async function failureOf(options: ConnectionOptions): Promise<string> {
  try {
    (await open(FIRST, options)).destroy();
    return 'none';
  } catch (error) {
    return error instanceof Error && 'code' in error ? String(error.code) : String(error);
  }
}

test('a webhook over TLS is answered as without', async () => {
  expect(server.url).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/);
  const socket = await open(FIRST);
  expect(await say(socket, REQUEST, isAnswer)).toMatch(/^HTTP\/1\.1 200 /);
  socket.destroy();
  expect([failures, refused]).toEqual([[], []]);
});

describe('a connection comes to nothing, is counted, and costs no more than its time', () => {
  test('with plain HTTP', async () => {
    expect((await exchange(server.url, REQUEST)).text).not.toContain('HTTP/1.1 200');
    await expect.poll(() => failures).toEqual(['plain_http']);
  });

  test('with TLS 1.1', async () => {
    const old = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT:@SECLEVEL=0' } as const;
    expect(await failureOf(old)).not.toBe('none');
    await expect.poll(() => failures).toEqual(['no_common_version']);
  });

  test('with something that is no protocol at all', async () => {
    await exchange(server.url, Buffer.alloc(600, 0xff));
    await expect.poll(() => failures).toEqual(['other']);
  });

  test('with a handshake that does not come', async () => {
    const connection = await RawConnection.open(server.url);
    expect(await connection.closed()).toBe('');
    await expect.poll(() => failures).toEqual(['too_slow']);
  });

  test('but not when it is closed before a word was said, as probes do', async () => {
    const socket = connectTcp(port(), '127.0.0.1');
    await once(socket, 'connect');
    socket.destroy();
    const good = await open(FIRST);
    expect(await say(good, REQUEST, isAnswer)).toMatch(/^HTTP\/1\.1 200 /);
    good.destroy();
    expect(failures).toEqual([]);
  });
});

test('both newer versions of TLS are spoken, and HTTP/1.1 in them', async () => {
  for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
    const socket = await open(FIRST, {
      minVersion: version,
      maxVersion: version,
      ALPNProtocols: ['h2', 'http/1.1'],
    });
    expect([socket.getProtocol(), socket.alpnProtocol]).toEqual([version, 'http/1.1']);
    socket.destroy();
  }
});

test('the limits hold over TLS: a body that does not come is 408, no HTTP is 400', async () => {
  expect(await say(await open(FIRST), REQUEST.slice(0, -1))).toMatch(/^HTTP\/1\.1 408 /);
  expect(await say(await open(FIRST), 'hello\r\n\r\n')).toMatch(/^HTTP\/1\.1 400 /);
  expect(refused).toEqual(['too_slow', 'malformed']);
});

test('a renewed certificate is shown to new connections, and those that are open go on', async () => {
  const before = await open(FIRST);
  server.renew(SECOND);
  const after = await open(SECOND);
  for (const socket of [before, after]) {
    expect(await say(socket, REQUEST, isAnswer)).toMatch(/^HTTP\/1\.1 200 /);
    socket.destroy();
  }
  expect(await failureOf({ ca: [FIRST.certificate] })).not.toBe('none');
});

test('close lets what runs end, answers it, and closes the rest', async () => {
  const { promise, resolve } = Promise.withResolvers<WebhookReply>();
  let taken = 0;
  handle = async () => {
    taken += 1;
    return await promise;
  };
  const running = await open(FIRST);
  const idle = await open(FIRST);
  const idleEnded = once(idle, 'close');
  const answer = say(running, REQUEST);
  await expect.poll(() => taken).toBe(1);
  const closed = server.close();
  resolve(replyTo('published'));
  expect(await answer).toMatch(/^HTTP\/1\.1 200 [\s\S]*connection: close/i);
  await idleEnded;
  await closed;
});
