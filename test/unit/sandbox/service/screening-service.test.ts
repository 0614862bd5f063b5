import { createServer, type IncomingHttpHeaders } from 'node:http';
import { type AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { isFault } from '../../../../src/kernel/fault.ts';
import {
  type ScreeningService,
  type ScreeningServiceOptions,
  startScreeningService,
} from '../../../../src/sandbox/service/screening-service.ts';
import { signWebhook } from '../../../../src/sandbox/service/signature.ts';

const releases: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const release of releases.splice(0).toReversed()) await release();
});

interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly json: Record<string, unknown>;
}

async function start(options: ScreeningServiceOptions = {}) {
  const service = await startScreeningService({ seed: 1, ...options });
  releases.push(async () => {
    await service.close();
  });
  const call = async (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) => {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    const response = await fetch(service.baseUrl + path, {
      method,
      headers,
      ...(body === undefined ? {} : { body: text }),
    });
    const reply: Reply = {
      status: response.status,
      headers: response.headers,
      json: (await response.json()) as Record<string, unknown>,
    };
    return reply;
  };
  const login = async () => await call('POST', '/api/v2/sessions', undefined, basic(service));
  const { json } = await login();
  let session = { authorization: `SessionToken ${String(json['sessionToken'])}` };
  const api = async (method: string, body: unknown) => await call(method, '/api/v2/transaction', body, session);
  const renew = async () => {
    session = { authorization: `SessionToken ${String((await login()).json['sessionToken'])}` };
  };
  return {
    service,
    call,
    login,
    renew,
    post: async (b: unknown) => await api('POST', b),
    patch: async (b: unknown) => await api('PATCH', b),
  };
}

function basic({ user, password }: Pick<ScreeningService, 'user' | 'password'>): Record<string, string> {
  return { authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}` };
}

const payment = (change: Record<string, unknown> = {}) => ({
  trans_id: 't-1',
  cust_id: 'c-1',
  order_id: 'c-1-1',
  trans_amt: 40,
  trans_currency: 'EUR',
  cust_email: 'ada@example.com',
  ...change,
});
const approved = { status: 'approved', ts: '2026-03-01T09:30:00Z', acq_ref_id: 'arn-1' };

describe('the interface of the service', () => {
  test('refuses wrong credentials with 401 and counts them', async () => {
    const { service, call } = await start();
    const reply = await call('POST', '/api/v2/sessions', undefined, basic({ user: service.user, password: 'wrong' }));
    expect(reply).toMatchObject({ status: 401, json: { error_msg: 'wrong user or password' } });
    expect(service.password).toMatch(/^[a-z0-9]{64}$/u);
    expect(service.ledger().summary()).toMatchObject({ logins: 1, refusedLogins: 1 });
  });

  test('refuses a call without a session', async () => {
    const { service, call } = await start();
    for (const method of ['POST', 'PATCH']) {
      const reply = await call(method, '/api/v2/transaction', payment(), { authorization: 'SessionToken no' });
      expect(reply).toMatchObject({ status: 401, json: { error_msg: 'missing or invalid session token' } });
    }
    expect(service.ledger().summary()).toMatchObject({ unauthorised: 2, scoreRequests: 0 });
  });

  test.each([
    ['[]'],
    ['{"trans_id":"t-1"'],
    ['"text"'],
    [''],
    ['{}'],
    ['{"trans_id":""}'],
    ['{"trans_id":1.5}'],
    ['{"trans_id":null}'],
  ])('refuses to score %j', async (body) => {
    const { post } = await start();
    const reply = await post(body);
    expect(reply.status).toBe(400);
    expect(reply.json).toEqual({ error_msg: expect.any(String) as unknown });
  });

  test('refuses what is too large, another method and another path', async () => {
    const { call, post } = await start();
    expect((await post(payment({ cust_email: 'x'.repeat(2 * 1024 * 1024) }))).status).toBe(413);
    expect((await call('PUT', '/api/v2/transaction', {})).status).toBe(405);
    expect((await call('GET', '/api/v1/transaction')).status).toBe(404);
  });

  test('answers a scoring with every field of the spec', async () => {
    const { post } = await start();
    const { status, json } = await post(payment({ ip: '198.51.100.1' }));
    expect(status).toBe(200);
    expect(json).toEqual({
      frg_trans_id: expect.stringMatching(/^frg-/u) as unknown,
      fraugster_approved: 1,
      score: expect.any(Number) as unknown,
      is_liable: true,
      liability_reason: '',
      validation: { ok: true },
      evidence: { signals: [] },
      frg_device_id: expect.stringMatching(/^dev-[0-9a-f]{8}$/u) as unknown,
    });
  });

  test('complaints about datapoints do not stop a scoring', async () => {
    const { post } = await start();
    const { status, json } = await post(payment({ bill_ad_ctry: 'UK' }));
    expect(status).toBe(200);
    expect(json['validation']).toMatchObject({ ok: false, errors: [{ datapoint: 'bill_ad_ctry' }] });
  });

  test('links an update to what was scored, also by a trans_id that is a number or a strange name', async () => {
    const { service, post, patch } = await start();
    await post(payment({ trans_id: 77 }));
    await post('{"trans_id":"__proto__"}');
    const reply = await patch(
      `{"77":${JSON.stringify(approved)},"__proto__":${JSON.stringify(approved)},"t-x":${JSON.stringify(approved)}}`,
    );
    expect(reply).toMatchObject({ status: 200, json: {} });
    expect(service.ledger().summary()).toMatchObject({
      updates: 3,
      linked: 2,
      unlinked: 1,
      batches: 1,
      largestBatch: 3,
    });
  });

  test('one broken update refuses the batch, and nothing of it is kept', async () => {
    const { service, patch } = await start();
    const reply = await patch({ 't-1': approved, 't-2': { ...approved, status: 'declined' } });
    expect(reply).toMatchObject({
      status: 400,
      json: { error_msg: expect.stringContaining('declined needs') as unknown },
    });
    expect(service.ledger().summary()).toMatchObject({ updates: 0, refusedBatches: 1 });
  });
});

describe('faults', () => {
  test('status: answered with Retry-After, and not carried out', async () => {
    const { service, post } = await start();
    service.faults.set({ status: { code: 429, share: 1, retryAfter: '2' } });
    const reply = await post(payment());
    expect(reply.status).toBe(429);
    expect(reply.headers.get('retry-after')).toBe('2');
    expect(service.ledger().summary()).toMatchObject({ scoreRequests: 1, scorings: 0 });
  });

  test('reset: no answer, but carried out', async () => {
    const { service, post } = await start();
    service.faults.set({ resetShare: 1 });
    await expect(post(payment())).rejects.toThrow(TypeError);
    expect(service.ledger().summary()).toMatchObject({ scorings: 1 });
  });

  test('latency: two requests of one customer overlap, one after the other do not', async () => {
    const { service, post } = await start();
    service.faults.set({ latencyMs: 30 });
    await post(payment());
    await post(payment({ trans_id: 't-2' }));
    expect(service.ledger().summary().overlaps).toBe(0);
    await Promise.all([post(payment({ trans_id: 't-3' })), post(payment({ trans_id: 't-4' }))]);
    expect(service.ledger().summary().overlaps).toBe(1);
  });

  test('slow body: the answer comes whole', async () => {
    const { service, post } = await start();
    service.faults.set({ slowBodyMs: 20 });
    expect((await post(payment())).json).toHaveProperty('frg_trans_id');
  });

  test('expired tokens: 401 until the next login', async () => {
    const { service, post, renew } = await start();
    service.faults.set({ expireTokens: true });
    expect((await post(payment())).status).toBe(401);
    await renew();
    expect((await post(payment())).status).toBe(200);
  });

  test('login status and rejected ids', async () => {
    const { service, login, patch } = await start();
    service.faults.set({ loginStatus: 503, patchRejects: ['t-7'] });
    expect((await login()).status).toBe(503);
    expect((await patch({ 't-1': approved, 't-7': approved })).status).toBe(400);
    expect((await patch({ 't-1': approved })).status).toBe(200);
  });

  test('a wrong fault is thrown back', async () => {
    const { service } = await start();
    expect(() => {
      service.faults.set({ resetShare: 2 });
    }).toThrow(expect.objectContaining({ code: 'USAGE' }) as Error);
  });
});

describe('control', () => {
  test('says what is wrong, by the name of the field', async () => {
    const { call } = await start();
    const replies = await Promise.all([
      call('PUT', '/sandbox/faults', { latencyMs: 'long' }),
      call('PUT', '/sandbox/faults', 'nonsense'),
      call('POST', '/sandbox/reviews', { trans_id: 7 }),
      call('POST', '/sandbox/reviews', { trans_id: 't-1', decision: 'fine' }),
      call('GET', '/sandbox/activity?status=done'),
      call('GET', '/sandbox/activity?from=yesterday'),
    ]);
    expect(replies.map(({ status }) => status)).toEqual([400, 400, 400, 400, 400, 400]);
    const messages = replies.map(({ json }) => String(json['error_msg']));
    expect(messages.join('\n')).toMatch(/latencyMs.*\n.*body.*\n.*trans_id.*\n.*decision.*\n.*status.*\n.*from/u);
    expect((await call('POST', '/sandbox/reviews', { trans_id: 't-none' })).status).toBe(404);
    expect((await call('DELETE', '/sandbox/ledger')).status).toBe(405);
    expect((await call('GET', '/sandbox/constructor')).status).toBe(404);
  });

  test('faults are set and read', async () => {
    const { call } = await start();
    await call('PUT', '/sandbox/faults', { latencyMs: 1 });
    expect((await call('GET', '/sandbox/faults')).json).toMatchObject({ latencyMs: 1, resetShare: 0 });
  });

  test('the ledger is a summary, or whole', async () => {
    const { call, post } = await start();
    await post(payment());
    await post(payment({ trans_id: 't-2', order_id: 'c-1-2' }));
    expect((await call('GET', '/sandbox/ledger')).json).toMatchObject({ transactions: 2 });
    expect((await call('GET', '/sandbox/ledger')).json).not.toHaveProperty('list');
    const { json } = await call('GET', '/sandbox/ledger?full=1');
    expect(json).toMatchObject({
      transactions: 2,
      recentBatches: [],
      list: [{ transId: 't-1' }, { transId: 't-2', orderSequence: 2 }],
    });
  });

  test('a reset keeps the session and forgets the rest', async () => {
    const { service, call, post } = await start();
    service.faults.set({ latencyMs: 1 });
    await post(payment());
    await call('POST', '/sandbox/reset');
    expect(service.faults.get().latencyMs).toBe(0);
    expect(service.ledger().summary().scorings).toBe(0);
    expect((await post(payment())).status).toBe(200);
  });
});

test('a review ends in a signed webhook, and in the activity log', async () => {
  const received: { headers: IncomingHttpHeaders; body: Buffer }[] = [];
  const arrived = Promise.withResolvers<undefined>();
  const receiver = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      received.push({ headers: request.headers, body: Buffer.concat(chunks) });
      response.end('{}', () => {
        arrived.resolve(undefined);
      });
    });
  });
  await new Promise<void>((resolve) => {
    receiver.listen(0, '127.0.0.1', resolve);
  });
  releases.push(async () => {
    await new Promise((resolve) => {
      receiver.close(resolve);
      receiver.closeAllConnections();
    });
  });
  const webhookUrl = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`;
  const { service, call, post } = await start({ webhookUrl, reviewAfterMs: 0 });
  await post(payment({ cust_email: 'review@example.com' }));
  await arrived.promise;
  const [webhook] = received;
  const timestamp = String(webhook?.headers['x-servicewebhook-timestamp']);
  expect(webhook?.headers['content-type']).toBe('application/json');
  expect(webhook?.headers['x-servicewebhook-signature']).toBe(
    signWebhook(service.webhookSecret, timestamp, webhook?.body ?? Buffer.of()),
  );
  await expect
    .poll(async () => (await call('GET', '/sandbox/activity?status=delivered')).json)
    .toMatchObject({
      events: [{ type: 'txn_manual_review', transId: 't-1', status: 'delivered', attempts: 1 }],
    });
});

describe('starting', () => {
  test('refuses a port that is taken', async () => {
    const { service } = await start();
    const port = Number(new URL(service.baseUrl).port);
    const error: unknown = await startScreeningService({ port }).catch((reason: unknown) => reason);
    expect(isFault(error, 'PORT_TAKEN')).toBe(true);
  });

  test.each([{ user: 'a:b' }, { speed: 0 }, { webhookUrl: 'ftp://example.com' }, { webhookUrl: '/hook' }])(
    'refuses %j',
    async (options) => {
      const error: unknown = await startScreeningService(options).catch((reason: unknown) => reason);
      expect(isFault(error, 'USAGE')).toBe(true);
    },
  );
});
