import { createServer, type IncomingHttpHeaders } from 'node:http';
import { type AddressInfo } from 'node:net';
import { describe, expect, test } from 'vitest';
import { isFault } from '../../../../src/kernel/fault.ts';
import { startScreeningService } from '../../../../src/sandbox/service/screening-service.ts';
import { signWebhook } from '../../../../src/sandbox/service/signature.ts';
import { readScore } from '../../../../src/screening/score.ts';
import { approved, basic, payment, releases, start } from './started-service.ts';

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

  test('has opt-in fields and rule hits only when they are switched on', async () => {
    const { service, post, call } = await start();
    const plain = (await post(payment())).json;
    expect(plain).not.toHaveProperty('exemption_advice');
    expect(plain).not.toHaveProperty('rule_hits');
    await call('PUT', '/sandbox/settings', { optInFeatures: true, ruleHits: true });
    const { json } = await post(payment({ trans_amt: 20, ip: '10.0.0.1', cust_email: 'ada@example.com' }));
    expect(json['rule_hits']).toEqual([{ rule_id: 'ip_reserved', points: 0.1 }]);
    expect(json['exemption_advice']).toEqual(expect.arrayContaining(['low_value']));
    expect(service.settings.get()).toMatchObject({ optInFeatures: true, ruleHits: true });
  });

  test('takes the headers that the interface has as optional', async () => {
    const { call, session } = await start();
    const headers = { ...session(), 'x-forwarded-for': '198.51.100.9', 'user-agent': 'shop/1' };
    expect((await call('POST', '/api/v2/transaction', payment(), headers)).status).toBe(200);
  });

  test('says with 401 how to authenticate, and with 405 which methods there are', async () => {
    const { call } = await start();
    expect((await call('POST', '/api/v2/sessions')).headers.get('www-authenticate')).toMatch(/^Basic /u);
    expect((await call('POST', '/api/v2/transaction', {})).headers.get('www-authenticate')).toBe('SessionToken');
    expect((await call('GET', '/api/v2/transaction')).headers.get('allow')).toBe('POST, PATCH');
  });

  test('a login ends the older token where it is set so', async () => {
    const { call, post, login, renew } = await start();
    await call('PUT', '/sandbox/settings', { oneTokenPerUser: true });
    await login();
    expect((await post(payment())).status).toBe(401);
    await renew();
    expect((await post(payment())).status).toBe(200);
  });

  test('under chargeback protection approved by credit card needs acq_ref_id, other payments do not', async () => {
    const { post, patch, service } = await start({ chargebackProtection: true });
    await post(payment({ trans_id: 't-card', cc_bin: '400000' }));
    await post(payment({ trans_id: 't-invoice', pmt_method: 'invoice' }));
    const bare = { status: 'approved', ts: '2026-03-01T09:30:00Z' };
    expect((await patch({ 't-card': bare })).status).toBe(400);
    expect((await patch({ 't-card': approved, 't-invoice': bare })).status).toBe(200);
    expect(service.ledger().summary()).toMatchObject({ linked: 2 });
  });

  test('knows datapoints that it was told of', async () => {
    const { post } = await start({ datapoints: { cust_since: 'date' } });
    const { json } = await post(payment({ cust_since: '2026' }));
    expect(json['validation']).toMatchObject({ ok: false, errors: [{ datapoint: 'cust_since' }] });
    expect((await post(payment({ cust_since: '2020-01-31Z' }))).json['validation']).toEqual({ ok: true });
  });

  test('gives one device for one device_id_mapped, whatever the address', async () => {
    const { post } = await start();
    const deviceOf = async (change: Record<string, unknown>) => (await post(payment(change))).json['frg_device_id'];
    const first = await deviceOf({ device_id_mapped: 'd-1', ip: '198.51.100.1' });
    expect(await deviceOf({ device_id_mapped: 'd-1', ip: '198.51.100.2' })).toBe(first);
    expect(await deviceOf({ device_id_mapped: 'd-2', ip: '198.51.100.1' })).not.toBe(first);
    expect(await deviceOf({})).toBe('');
  });

  test('says nothing by an empty text, which is null in a score record', async () => {
    const { post } = await start();
    const { json } = await post(payment({ cust_email: 'custom+1@example.com', ip: undefined }));
    expect(json).toMatchObject({ liability_reason: '', frg_device_id: '' });
    const { reading, unrecognised } = readScore(json, Buffer.from(JSON.stringify(json)));
    expect(reading).toMatchObject({ liability_reason: null, frg_device_id: null, extra: '{}' });
    expect(unrecognised).toEqual([]);
  });

  test('answers a login with a JWT in sessionToken, and nothing else', async () => {
    const { login } = await start();
    const { status, json } = await login();
    expect(status).toBe(200);
    expect(json).toEqual({ sessionToken: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/u) as unknown });
  });

  test.each(['[]', '"text"', 'null', '{'])('refuses a PATCH that is no object: %s', async (body) => {
    const { patch } = await start();
    expect((await patch(body)).status).toBe(400);
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

function pendingReview(transId: string): object {
  return { transId, frgTransId: expect.any(String) as unknown, dueInMs: expect.any(Number) as unknown };
}

describe('control', () => {
  test('says what is wrong, by the name of the field', async () => {
    const { call } = await start();
    const replies = await Promise.all([
      call('PUT', '/sandbox/faults', { latencyMs: 'long' }),
      call('PUT', '/sandbox/faults', 'nonsense'),
      call('POST', '/sandbox/reviews', { trans_id: 7.5 }),
      call('POST', '/sandbox/reviews', { trans_id: 't-1', decision: 'fine' }),
      call('GET', '/sandbox/activity?status=done'),
      call('GET', '/sandbox/activity?from=yesterday'),
      call('PUT', '/sandbox/settings', { reviewShare: 2 }),
    ]);
    expect(replies.map(({ status }) => status)).toEqual([400, 400, 400, 400, 400, 400, 400]);
    const messages = replies.map(({ json }) => String(json['error_msg']));
    expect(messages.join('\n')).toMatch(
      /latencyMs.*\n.*body.*\n.*trans_id.*\n.*decision.*\n.*status.*\n.*from.*\n.*reviewShare/u,
    );
    expect((await call('POST', '/sandbox/reviews', { trans_id: 't-none' })).status).toBe(404);
    expect((await call('DELETE', '/sandbox/ledger')).status).toBe(405);
    expect((await call('GET', '/sandbox/constructor')).status).toBe(404);
  });

  test('lists the reviews that are to come, until they are decided', async () => {
    const { call, post } = await start({ reviewAfterMs: 60_000 });
    const review = { cust_email: 'review+1@example.com' };
    await post(payment({ trans_id: 't-1', ...review }));
    await post(payment({ trans_id: 't-2', ...review }));
    await post(payment({ trans_id: 't-3', cust_email: 'approve@example.com' }));
    const { json } = await call('GET', '/sandbox/reviews');
    expect(json).toEqual({ pending: 2, list: [pendingReview('t-1'), pendingReview('t-2')] });
    expect(JSON.stringify(json)).toMatch(/"dueInMs":(60000|5\d{4})[,}]/u);
    await call('POST', '/sandbox/reviews', { trans_id: 't-1', decision: 'good' });
    expect((await call('GET', '/sandbox/reviews')).json).toMatchObject({ pending: 1, list: [{ transId: 't-2' }] });
    await call('POST', '/sandbox/reset');
    expect((await call('GET', '/sandbox/reviews')).json).toEqual({ pending: 0, list: [] });
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

  test('one transaction of the ledger by its id', async () => {
    const { call, post } = await start();
    await post(payment());
    expect((await call('GET', '/sandbox/ledger?trans_id=t-1')).json).toMatchObject({ transId: 't-1', scored: 1 });
    expect((await call('GET', '/sandbox/ledger?trans_id=t-2')).status).toBe(404);
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

describe('the webhook endpoint', () => {
  test('is shown and set next to its secret', async () => {
    const { service, call } = await start();
    expect((await call('GET', '/sandbox/webhook')).json).toEqual({ url: null, secret: service.webhookSecret });
    const url = 'http://127.0.0.1:9/hook';
    expect((await call('PUT', '/sandbox/webhook', { url, secret: 'next' })).json).toEqual({ url, secret: 'next' });
    expect((await call('PUT', '/sandbox/webhook', { url: null })).json).toEqual({ url: null, secret: 'next' });
  });

  test.each([
    [{ url: 'ftp://example.com' }, /^url/u],
    [{ url: 7 }, /^url/u],
    [{ secret: '' }, /^secret/u],
    [{ address: 'x' }, /"address"/u],
  ])('refuses %j', async (body, message) => {
    const { call } = await start();
    const reply = await call('PUT', '/sandbox/webhook', body);
    expect(reply.status).toBe(400);
    expect(reply.json['error_msg']).toMatch(message);
  });

  test('must have a URL: without one a review is decided, not sent, and the log says so', async () => {
    const { call, post, service } = await start();
    await post(payment());
    await call('POST', '/sandbox/reviews', { trans_id: 't-1', decision: 'good' });
    expect((await call('GET', '/sandbox/activity')).json).toMatchObject({ events: [{ status: 'not_sent' }] });
    expect(service.ledger().summary()).toMatchObject({ reviews: 1, webhooksNotSent: 1, webhookAttempts: 0 });
  });
});

describe('starting', () => {
  test('refuses a port that is taken', async () => {
    const { service } = await start();
    const port = Number(new URL(service.baseUrl).port);
    const error: unknown = await startScreeningService({ port }).catch((reason: unknown) => reason);
    expect(isFault(error, 'PORT_TAKEN')).toBe(true);
  });

  test.each([
    { user: 'a:b' },
    { speed: 0 },
    { webhookUrl: 'ftp://example.com' },
    { webhookUrl: '/hook' },
    { reviewShare: 2 },
    { tokenLifetimeMs: -1 },
  ])('refuses %j', async (options) => {
    const error: unknown = await startScreeningService(options).catch((reason: unknown) => reason);
    expect(isFault(error, 'USAGE')).toBe(true);
  });
});
