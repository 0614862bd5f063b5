import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type HttpServer } from '../../../../src/edges/http-server/server.ts';
import { startWebhookServer } from '../../../../src/edges/http-server/webhooks.ts';
import { systemClock } from '../../../../src/edges/system/clock.ts';
import { type OutgoingRecord, type WriteOutcome } from '../../../../src/engine/ports.ts';
import { isFault } from '../../../../src/kernel/fault.ts';
import { createReviewsBridge } from '../../../../src/reviews/bridge.ts';
import { type WebhookReceiver } from '../../../../src/reviews/ports.ts';
import { replyTo } from '../../../../src/reviews/reply.ts';
import { exchange, RawConnection } from '../../../support/raw-http.ts';
import { reviewBody, SECRET, signedHeaders } from '../../../support/webhooks.ts';

const PATH = '/webhooks/fraud';
const MAX_BYTES = 4096;
const WRITTEN: WriteOutcome = { do: 'written', partition: 0, offset: 1n };

let server: HttpServer;
let written: OutgoingRecord[];
let results: string[];
let write: () => Promise<WriteOutcome>;

beforeEach(async () => {
  written = [];
  results = [];
  write = async () => await Promise.resolve(WRITTEN);
  const bridge = createReviewsBridge({
    secrets: () => [SECRET],
    writer: {
      write: async (record) => {
        written.push(record);
        return await write();
      },
    },
    encoder: { encode: (value) => Buffer.from(JSON.stringify(value)) },
    topic: 'fraud.reviews',
    account: 'eu',
    source: 'connector/eu',
    park: async () => await Promise.resolve('written'),
    clock: systemClock,
    emit: (name, fields) => {
      if (name === 'webhook' && 'result' in fields) results.push(fields.result);
    },
    options: {
      signatureForms: ['hex'],
      timestampForms: ['unix_s'],
      toleranceSeconds: 300,
      publishTimeoutMs: 3000,
    },
  });
  const options = { host: '127.0.0.1', port: 0, path: PATH, maxBytes: MAX_BYTES, requestTimeoutMs: 300 };
  server = await startWebhookServer(options, bridge);
});

afterEach(async () => {
  await server.close();
});

function now(): string {
  return String(Math.floor(Date.now() / 1000));
}

interface Parts {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string | null>>;
  readonly body?: Buffer;
  readonly proof?: readonly string[];
}

/** A webhook that is right in everything, as bytes on the wire; a test breaks one thing. `null` leaves a header out. */
function wire({ method = 'POST', path = PATH, headers = {}, body = reviewBody(), proof }: Parts = {}): Buffer {
  const all = {
    host: 'connector.test',
    'content-type': 'application/json',
    'content-length': String(body.length),
    connection: 'close',
    ...headers,
  };
  const lines = Object.entries(all).flatMap(([name, value]) => (value === null ? [] : [`${name}: ${value}`]));
  const signed = proof ?? signedHeaders(body, now());
  for (let at = 0; at < signed.length; at += 2) lines.push(`${signed[at]}: ${signed[at + 1]}`);
  return Buffer.concat([Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`, 'latin1'), body]);
}

async function answer(parts: Parts = {}): Promise<{ status: number; text: string }> {
  return await exchange(server.url, wire(parts));
}

test('a good webhook is published, then answered 200, and nothing else is told', async () => {
  const { status, text } = await answer();
  expect(status).toBe(200);
  expect(text).toMatch(/\r\n\r\n\{\}$/);
  expect(text.toLowerCase()).toContain('cache-control: no-store');
  expect(text.toLowerCase()).not.toMatch(/server:|x-powered-by|etag/);
  expect(written.map((record) => record.topic)).toEqual(['fraud.reviews']);
});

describe('refuses, each with its status, and publishes nothing', () => {
  const gzip = { 'content-encoding': 'gzip' };
  test.each([
    ['another path', 404, 'bad_path', { path: '/webhooks' }],
    ['the path in another case', 404, 'bad_path', { path: '/Webhooks/fraud' }],
    ['a path below', 404, 'bad_path', { path: `${PATH}/` }],
    ['a path that is not a path', 404, 'bad_path', { path: '/%zz' }],
    ['GET', 405, 'bad_method', { method: 'GET' }],
    ['HEAD', 405, 'bad_method', { method: 'HEAD' }],
    ['PUT', 405, 'bad_method', { method: 'PUT' }],
    ['OPTIONS', 405, 'bad_method', { method: 'OPTIONS' }],
    ['PROPFIND', 405, 'bad_method', { method: 'PROPFIND' }],
    ['QUERY', 405, 'bad_method', { method: 'QUERY' }],
    ['GET of another path', 405, 'bad_method', { method: 'GET', path: '/' }],
    ['another type', 415, 'bad_type', { headers: { 'content-type': 'text/plain' } }],
    ['a type that only begins like it', 415, 'bad_type', { headers: { 'content-type': 'application/jsonp' } }],
    ['no type', 415, 'bad_type', { headers: { 'content-type': null } }],
    ['an encoding', 415, 'bad_type', { headers: gzip }],
    ['a body that declares too much', 413, 'too_large', { body: Buffer.alloc(MAX_BYTES + 1, 0x20) }],
    ['no signature and no timestamp', 401, 'bad_signature', { proof: [] }],
    ['an empty body', 400, 'not_an_object', { body: Buffer.alloc(0) }],
    ['a body that is a list', 400, 'not_an_object', { body: Buffer.from('[]') }],
    ['no host', 400, 'malformed', { headers: { host: null } }],
    ['CONNECT', 405, 'bad_method', { method: 'CONNECT', path: 'hooks.example:443' }],
    ['an expectation that nobody can meet', 400, 'malformed', { headers: { expect: 'tea' } }],
  ] satisfies [string, number, string, Parts][])('%s', async (_name, status, result, parts) => {
    const { status: got, text } = await answer(parts);
    expect(got).toBe(status);
    expect(text.toLowerCase()).toContain('cache-control: no-store');
    expect(results).toEqual([result]);
    expect(written).toEqual([]);
  });

  test('says which method there is', async () => {
    expect((await answer({ method: 'DELETE' })).text.toLowerCase()).toContain('allow: post');
  });

  test('a signature header that is there twice, though Node would join the two', async () => {
    const body = reviewBody();
    const proof = signedHeaders(body, now());
    const { status } = await answer({ body, proof: [...proof, ...proof.slice(0, 2)] });
    expect([status, results]).toEqual([401, ['bad_signature']]);
  });

  test('what is too large without having said so, before all of it has come', async () => {
    const connection = await RawConnection.open(server.url);
    const headers = { 'content-length': null, 'transfer-encoding': 'chunked', connection: null };
    connection.write(wire({ headers, body: Buffer.alloc(0) }));
    const chunk = `800\r\n${' '.repeat(0x800)}\r\n`;
    connection.write(`${chunk}${chunk}${chunk}`);
    await connection.closed();
    expect([connection.statuses, results, written]).toEqual([[413], ['too_large'], []]);
  });

  test.each([
    ['no HTTP', 'hello\r\n\r\n'],
    ['HTTP of the first days', `GET ${PATH}\r\n\r\n`],
    [
      'a length and chunks at once',
      `POST ${PATH} HTTP/1.1\r\nhost: x\r\ncontent-length: 4\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`,
    ],
    ['two lengths', `POST ${PATH} HTTP/1.1\r\nhost: x\r\ncontent-length: 4\r\ncontent-length: 5\r\n\r\nabcde`],
    ['a line end without its return', `POST ${PATH} HTTP/1.1\nhost: x\n\n`],
    ['a folded header', `POST ${PATH} HTTP/1.1\r\nhost: x\r\na: b\r\n c\r\nno colon\r\n\r\n`],
    ['headers beyond the limit', `POST ${PATH} HTTP/1.1\r\nhost: x\r\na: ${'b'.repeat(20_000)}\r\n\r\n`],
    [
      'a chunk of no size',
      `POST ${PATH} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n`,
    ],
  ])('malformed: %s', async (_name, text) => {
    expect((await exchange(server.url, text)).status).toBe(400);
    expect([results, written]).toEqual([['malformed'], []]);
  });

  test.each([
    ['a head that does not come', () => `POST ${PATH} HTTP/1.1\r\nhost: x\r\n`],
    ['a body that does not come', () => wire().subarray(0, -10)],
  ])('too slow: %s', async (_name, start) => {
    expect((await exchange(server.url, start())).status).toBe(408);
    expect([results, written]).toEqual([['too_slow'], []]);
  });

  test('nobody: a connection that never says anything is closed without a word', async () => {
    const connection = await RawConnection.open(server.url);
    expect(await connection.closed()).toBe('');
    expect(results).toEqual([]);
  });
});

describe('takes', () => {
  test.each([
    ['a query after the path', { path: `${PATH}?from=service` }],
    ['parameters of the type', { headers: { 'content-type': 'Application/JSON; charset=utf-8' } }],
    ['parameters that are none', { headers: { 'content-type': 'application/json; ;=' } }],
    ['a parameter that does not end', { headers: { 'content-type': 'application/json\t; a="b' } }],
    ['an offer to speak something else', { headers: { connection: 'close, upgrade', upgrade: 'h2c' } }],
    ['the encoding that changes nothing', { headers: { 'content-encoding': 'identity' } }],
    ['a body in chunks', { headers: { 'content-length': null, 'transfer-encoding': 'chunked' }, body: reviewBody() }],
    ['the largest body', { body: Buffer.concat([Buffer.alloc(MAX_BYTES - reviewBody().length, 0x20), reviewBody()]) }],
  ] as [string, Parts][])('%s', async (_name, parts) => {
    const bytes = wire(parts);
    const body = parts.body ?? reviewBody();
    const isChunked = parts.headers?.['transfer-encoding'] === 'chunked';
    const sent = isChunked
      ? [bytes.subarray(0, bytes.length - body.length), `${body.length.toString(16)}\r\n`, body, '\r\n0\r\n\r\n']
      : [bytes];
    expect((await exchange(server.url, ...sent)).status).toBe(200);
    expect(written).toHaveLength(1);
  });

  test('several on one connection, one after the other and sent ahead, answered in order', async () => {
    const connection = await RawConnection.open(server.url);
    const one = wire({ headers: { connection: null }, body: reviewBody({ trans_id: 'a' }) });
    const bad = wire({ headers: { connection: null }, body: reviewBody({ trans_id: 'b' }), proof: [] });
    const last = wire({ body: reviewBody({ trans_id: 'c' }) });
    connection.write(Buffer.concat([one, bad, last]));
    await connection.closed();
    expect(connection.statuses).toEqual([200, 401, 200]);
    expect(written.map((record) => record.key?.toString())).toEqual(['a', 'c']);
  });

  test('the same event from many connections at once with one record', async () => {
    const { promise, resolve } = Promise.withResolvers<WriteOutcome>();
    write = async () => await promise;
    const answers = Array.from({ length: 8 }, async () => await answer());
    await expect.poll(() => written.length).toBe(1);
    resolve(WRITTEN);
    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual(Array(8).fill(200));
    expect(written).toHaveLength(1);
  });
});

test('says 503 with Retry-After while the writer is unavailable, and 200 when it is back', async () => {
  write = async () => await Promise.resolve({ do: 'unavailable', error: 'Error' });
  const { status, text } = await answer();
  expect(status).toBe(503);
  expect(text.toLowerCase()).toMatch(/retry-after: \d+\r\n/);
  write = async () => await Promise.resolve(WRITTEN);
  expect((await answer()).status).toBe(200);
});

describe('when there is not room for all', () => {
  test('the oldest body that is not whole goes, with 503, and the newcomer is taken', async () => {
    const maxBytes = 40 * 1024 * 1024;
    const counting = countingReceiver();
    const other = await startWebhookServer({ host: '127.0.0.1', port: 0, path: PATH, maxBytes }, counting);
    try {
      const large = wire({ headers: { 'content-length': String(maxBytes) } });
      const first = await RawConnection.open(other.url);
      first.write(large);
      const second = await RawConnection.open(other.url);
      second.write(large);
      expect(await first.closed()).toMatch(/^HTTP\/1.1 503 /);
      expect((await exchange(other.url, wire())).status).toBe(200);
      second.socket.resetAndDestroy();
      expect(counting.refusals).toEqual(['unavailable']);
    } finally {
      await other.close();
    }
  });

  test('whoever has proven nothing for longest goes, and webhooks come through', async () => {
    const options = { host: '127.0.0.1', port: 0, path: PATH, maxBytes: MAX_BYTES, maxConnections: 4 };
    const other = await startWebhookServer(options, countingReceiver());
    try {
      const proven = await RawConnection.open(other.url);
      proven.write(wire({ headers: { connection: null } }));
      await expect.poll(() => proven.statuses).toEqual([200]);
      const half = await RawConnection.open(other.url);
      half.write(`POST ${PATH} HTTP/1.1\r\n`);
      const silent = await RawConnection.open(other.url);
      const crowd: RawConnection[] = [];
      for (let n = 0; n < 20; n += 1) {
        crowd.push(await RawConnection.open(other.url));
        expect((await exchange(other.url, wire())).status).toBe(200);
      }
      expect(await half.closed()).toMatch(/^HTTP\/1.1 503 /);
      expect(await silent.closed()).toBe('');
      proven.write(wire());
      await proven.closed();
      expect(proven.statuses).toEqual([200, 200]);
      for (const { socket } of crowd) socket.destroy();
    } finally {
      await other.close();
    }
  });
});

test('a tunnel that is asked for and reset at once ends nothing but itself', async () => {
  for (let n = 0; n < 50; n += 1) {
    const connection = await RawConnection.open(server.url);
    connection.write('CONNECT example.test:443 HTTP/1.1\r\nhost: x\r\n\r\n');
    connection.socket.resetAndDestroy();
  }
  expect((await answer()).status).toBe(200);
});

test('a sender that goes away in the middle leaves nothing behind', async () => {
  const connection = await RawConnection.open(server.url);
  connection.write(wire().subarray(0, -10));
  connection.socket.resetAndDestroy();
  expect((await answer()).status).toBe(200);
  expect(written).toHaveLength(1);
});

test('close lets what runs end, answers it, and cuts off at its time limit what has not come whole', async () => {
  const { promise, resolve } = Promise.withResolvers<WriteOutcome>();
  write = async () => await promise;
  const running = await RawConnection.open(server.url);
  running.write(wire({ headers: { connection: null } }));
  const half = await RawConnection.open(server.url);
  half.write(wire().subarray(0, -10));
  const silent = await RawConnection.open(server.url);
  await expect.poll(() => written.length).toBe(1);
  let isClosed = false;
  const closed = server.close().then(() => {
    isClosed = true;
  });
  const again = server.close();
  await expect(RawConnection.open(server.url)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  expect([isClosed, running.statuses]).toEqual([false, []]);
  resolve(WRITTEN);
  await closed;
  await again;
  await running.closed();
  expect(running.statuses).toEqual([200]);
  await half.closed();
  expect(half.statuses).toEqual([408]);
  expect(await silent.closed()).toBe('');
});

test('a port that is taken is a fault that names the option and the port', async () => {
  const { port } = new URL(server.url);
  const options = { host: '127.0.0.1', port: Number(port), path: PATH, maxBytes: MAX_BYTES };
  const receiver = { handle: async () => await Promise.reject(new Error('unused')), refuse: () => neverAsked() };
  const fault: unknown = await startWebhookServer(options, receiver).catch((error: unknown) => error);
  expect(isFault(fault, 'PORT_TAKEN') && fault.message).toMatch(new RegExp(`WEBHOOK_PORT.*${port}.*EADDRINUSE`));
});

function countingReceiver(): WebhookReceiver & { readonly refusals: string[] } {
  const refusals: string[] = [];
  return {
    refusals,
    handle: async () => await Promise.resolve(replyTo('published')),
    refuse: (why) => {
      refusals.push(why);
      return replyTo(why);
    },
  };
}

function neverAsked(): never {
  throw new Error('unused');
}
