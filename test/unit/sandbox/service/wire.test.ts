import { request } from 'node:http';
import { gunzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { type FaultSettings } from '../../../../src/sandbox/service/faults.ts';
import { approved, payment, start } from './started-service.ts';

type Started = Awaited<ReturnType<typeof start>>;

/** The bytes of one answer, whatever they are, until the connection ends or `until` is seen. */
async function bytesOf(settings: FaultSettings, until?: RegExp): Promise<string> {
  const { service, raw } = await start();
  service.faults.set(settings);
  const connection = await raw('POST', payment());
  if (until === undefined) return await connection.closed();
  await expect.poll(() => connection.received, { interval: 5 }).toMatch(until);
  return connection.received;
}

const bodyOf = (text: string): string => text.slice(text.indexOf('\r\n\r\n') + 4);
const lengthOf = (text: string): number => Number(/content-length: (\d+)/iu.exec(text)?.[1]);

async function scoredWith(settings: FaultSettings) {
  const started = await start();
  started.service.faults.set(settings);
  const response = await fetch(`${started.service.baseUrl}/api/v2/transaction`, {
    method: 'POST',
    headers: started.session(),
    body: JSON.stringify(payment()),
    redirect: 'manual',
  });
  return { ...started, response };
}

describe('answers that never come whole', () => {
  test('hang: nothing, and not carried out unless told', async () => {
    const { service, raw } = await start();
    service.faults.set({ answer: { as: 'hang', carriedOut: true }, next: 1 });
    const connection = await raw('POST', payment());
    await expect.poll(() => service.ledger().summary().scorings, { interval: 5 }).toBe(1);
    expect(connection.received).toBe('');
    service.faults.set({ answer: { as: 'hang' } });
    await raw('POST', payment({ trans_id: 't-2' }));
    await expect.poll(() => service.ledger().summary().scoreRequests, { interval: 5 }).toBe(2);
    expect(service.ledger().summary().scorings).toBe(1);
  });

  test('close: the connection ends without a byte', async () => {
    expect(await bytesOf({ answer: { as: 'close' } })).toBe('');
  });

  test('reset before: not carried out, and the batch is counted as refused', async () => {
    const { service, post, patch } = await start();
    service.faults.set({ resetBeforeShare: 1 });
    await expect(post(payment())).rejects.toThrow(TypeError);
    await expect(patch({ 't-1': approved })).rejects.toThrow(TypeError);
    expect(service.ledger().summary()).toMatchObject({ scoreRequests: 1, scorings: 0, updates: 0, refusedBatches: 1 });
    expect(service.ledger().batches()).toMatchObject([{ status: 0 }]);
  });

  test('truncated: half of a body, less than its length says', async () => {
    const text = await bytesOf({ answer: { as: 'truncated' } });
    expect(bodyOf(text).length).toBeGreaterThan(10);
    expect(bodyOf(text).length).toBeLessThan(lengthOf(text));
  });

  test('length_long and length_short: the length is not that of the body', async () => {
    const long = await bytesOf({ answer: { as: 'length_long' } }, /"frg_device_id":""\}/u);
    expect(lengthOf(long)).toBe(bodyOf(long).length + 10);
    const short = await bytesOf({ answer: { as: 'length_short' } }, /"frg_device_id":""\}/u);
    expect(lengthOf(short)).toBe(bodyOf(short).length - 10);
  });

  test('not_http: bytes that no client understands', async () => {
    expect(await bytesOf({ answer: { as: 'not_http' } })).not.toContain('HTTP/1.1');
  });
});

describe('slow answers', () => {
  test('slow headers: the status line first', async () => {
    const { service, raw } = await start();
    service.faults.set({ slowHeadersMs: 60 });
    const connection = await raw('POST', payment());
    await expect.poll(() => connection.received, { interval: 2 }).not.toBe('');
    expect(connection.received).toBe('HTTP/1.1 200 OK\r\n');
    const text = await connection.closed();
    expect(JSON.parse(bodyOf(text))).toHaveProperty('frg_trans_id');
    expect(service.ledger().transaction('t-1')?.lastEnd).toBeGreaterThan(0);
  });

  test('a body that drips comes whole', async () => {
    const { response } = await scoredWith({ answer: { as: 'not_object' }, dripMs: 1 });
    expect(await response.json()).toEqual([]);
  });
});

describe('answers that are not what they should be', () => {
  test.each([
    ['html', 'text/html', /^<!doctype html>/u],
    ['empty', 'application/json', /^$/u],
    ['invalid_json', 'application/json', /^\{.*,$/u],
    ['not_object', 'application/json', /^\[\]$/u],
    ['wrong_type', 'text/plain', /^\{.*\}$/u],
    ['error_msg', 'application/json', /^\{"error_msg":"[^"]+"\}$/u],
    ['score_null', 'application/json', /"score":null/u],
    ['score_7', 'application/json', /"score":7[,}]/u],
    ['score_negative', 'application/json', /"score":-0\.5/u],
    ['score_text', 'application/json', /"score":"high"/u],
    ['decision_9', 'application/json', /"fraugster_approved":9/u],
    ['decision_text', 'application/json', /"fraugster_approved":"1"/u],
    ['decision_missing', 'application/json', /^(?!.*fraugster_approved)/u],
    ['id_missing', 'application/json', /^(?!.*frg_trans_id)/u],
    ['id_other', 'application/json', /"frg_trans_id":"frg-of-another-transaction"/u],
    ['unknown_fields', 'application/json', /"new_field"/u],
  ] as const)('200 with %s', async (as, type, body) => {
    const { response } = await scoredWith({ answer: { as } });
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe(type);
    expect(await response.text()).toMatch(body);
  });

  test('200 with bytes that are no text, and with a byte order mark', async () => {
    const garbage = await scoredWith({ answer: { as: 'garbage' } });
    expect(Buffer.from(await garbage.response.arrayBuffer())[0]).toBe(255);
    const marked = await scoredWith({ answer: { as: 'bom' } });
    expect(Buffer.from(await marked.response.arrayBuffer()).subarray(0, 3)).toEqual(Buffer.of(0xef, 0xbb, 0xbf));
  });

  test('204 for a PATCH, which is carried out', async () => {
    const { service, session } = await start();
    service.faults.set({ answer: { as: 'no_content' } });
    const body = JSON.stringify({ 't-1': approved });
    const response = await fetch(`${service.baseUrl}/api/v2/transaction`, {
      method: 'PATCH',
      headers: session(),
      body,
    });
    expect([response.status, await response.text()]).toEqual([204, '']);
    expect(service.ledger().summary()).toMatchObject({ updates: 1, refusedBatches: 0 });
  });

  test('gzip: unasked, broken, and 64 MiB in 64 KiB', async () => {
    const asked = await scoredWith({ answer: { as: 'gzip' } });
    expect(await asked.response.json()).toHaveProperty('frg_trans_id');
    const broken = await scoredWith({ answer: { as: 'gzip_broken' } });
    await expect(broken.response.text()).rejects.toThrow(TypeError);
    const bomb = await rawBody({ answer: { as: 'gzip_bomb' } });
    expect(bomb.length).toBeLessThan(100_000);
    expect(gunzipSync(bomb)).toHaveLength(64 * 1024 * 1024);
  });

  test('a huge body and huge headers', async () => {
    const body = await scoredWith({ answer: { as: 'huge_body' } });
    const text = await body.response.text();
    expect(text.length).toBeGreaterThan(20 * 1024 * 1024);
    expect(JSON.parse(text)).toHaveProperty('frg_trans_id');
    const headers = await bytesOf({ answer: { as: 'huge_headers' } }, /"frg_device_id":""\}/u);
    expect(headers.length).toBeGreaterThan(64 * 1024);
  });

  test('an answer that is an error already stays as it is', async () => {
    const { service, post, call } = await start();
    service.faults.set({ answer: { as: 'html' } });
    expect((await post({})).status).toBe(400);
    expect((await call('POST', '/api/v2/transaction', payment())).status).toBe(401);
  });
});

describe('redirects', () => {
  test.each([301, 302, 307, 308])('%i to itself', async (code) => {
    const { response } = await scoredWith({ status: { code, location: 'self' } });
    expect([response.status, response.headers.get('location')]).toEqual([code, '/api/v2/transaction']);
  });

  test('elsewhere is another origin on this machine, and the ledger counts who goes there', async () => {
    const { response, call, service } = await scoredWith({ status: { code: 307, location: 'elsewhere' } });
    const location = response.headers.get('location') ?? '';
    expect(location).toBe(`http://localhost:${new URL(service.baseUrl).port}/sandbox/elsewhere`);
    await call('POST', new URL(location).pathname, {});
    expect(service.ledger().summary()).toMatchObject({ redirectsFollowed: 1 });
  });

  test('any other text goes out as it is', async () => {
    const { response } = await scoredWith({ status: { code: 302, location: 'not a place' } });
    expect(response.headers.get('location')).toBe('not a place');
  });
});

describe('connections that end', () => {
  test('after each answer, and said so', async () => {
    const text = await bytesOf({ closeAfterAnswer: 'said' });
    expect(text).toMatch(/connection: close/iu);
    expect(text).toContain('frg_trans_id');
  });

  test('after each answer, and not said', async () => {
    const text = await bytesOf({ closeAfterAnswer: 'unsaid' });
    expect(text).toMatch(/connection: keep-alive/iu);
    expect(text).toContain('frg_trans_id');
  });
});

async function rawBody(settings: FaultSettings): Promise<Buffer> {
  const { service, session }: Started = await start();
  service.faults.set(settings);
  return await new Promise((resolve, reject) => {
    const options = { method: 'POST', headers: session() };
    const sent = request(`${service.baseUrl}/api/v2/transaction`, options, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => {
        resolve(Buffer.concat(chunks));
      });
    });
    sent.on('error', reject);
    sent.end(JSON.stringify(payment()));
  });
}
