import { describe, expect, test } from 'vitest';
import { approved, payment, start } from './started-service.ts';

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

  test('the token expires in the middle of a batch: 401, nothing kept, and the next login mends it', async () => {
    const { service, patch, renew } = await start();
    service.faults.set({ rules: [{ operations: ['sync'], next: 1, answer: { as: 'token_expired' } }] });
    expect((await patch({ 't-1': approved })).status).toBe(401);
    expect((await patch({ 't-1': approved })).status).toBe(401);
    await renew();
    expect((await patch({ 't-1': approved })).status).toBe(200);
    expect(service.ledger().summary()).toMatchObject({ updates: 1, struck: 1 });
  });

  test('a fresh token that is refused, again and again', async () => {
    const { service, post, renew } = await start();
    service.faults.set({ operations: ['login'], answer: { as: 'token_dead' } });
    await renew();
    expect((await post(payment())).status).toBe(401);
    service.faults.set({ status: { code: 401 } });
    await renew();
    expect((await post(payment())).status).toBe(401);
  });

  test.each([
    ['token_missing', undefined],
    ['token_number', 12_345],
    ['token_odd', expect.stringContaining('\n')],
    ['token_past', expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/u)],
    ['token_opaque', expect.stringMatching(/^[0-9a-f]{64}$/u)],
  ] as const)('a login answered with %s', async (as, token) => {
    const { service, login } = await start();
    service.faults.set({ operations: ['login'], answer: { as } });
    const { status, json } = await login();
    expect(status).toBe(200);
    expect(json['sessionToken']).toEqual(token);
  });

  test.each(['error_msg', 'ok_false', 'errors'] as const)('PATCH answers for each id: %s', async (form) => {
    const { service, patch } = await start();
    service.faults.set({ patchPerId: { transIds: ['t-2'], form, code: 207 } });
    const { status, json } = await patch({ 't-1': approved, 't-2': approved });
    expect(status).toBe(207);
    expect(json['t-1']).toEqual({ ok: true });
    expect(Object.keys(json['t-2'] as object)).toEqual([form === 'ok_false' ? 'ok' : form]);
    expect(service.ledger().transaction('t-1')?.updateCount).toBe(1);
    expect(service.ledger().transaction('t-2')?.updateCount).toBe(0);
    expect(service.ledger().summary()).toMatchObject({ updates: 1, refusedUpdates: 1, refusedBatches: 0 });
  });

  test('409 for a trans_id that was scored before', async () => {
    const { service, post } = await start();
    service.faults.set({ conflictOnRepeat: true });
    expect([(await post(payment())).status, (await post(payment())).status]).toEqual([200, 409]);
    expect(service.ledger().summary()).toMatchObject({ scorings: 1, repeatedScorings: 0 });
  });

  test('413 above a limit of bytes', async () => {
    const { service, post } = await start();
    service.faults.set({ maxRequestBytes: 300 });
    expect((await post(payment())).status).toBe(200);
    expect((await post(payment({ cust_email: 'x'.repeat(300) }))).status).toBe(413);
  });

  test('429 above a rate, 503 above a capacity, and the ledger counts them', async () => {
    const { service, post } = await start();
    service.faults.set({ rateLimit: { perSecond: 0.001, retryAfter: '1000000000' } });
    await post(payment());
    const limited = await post(payment());
    expect([limited.status, limited.headers.get('retry-after')]).toEqual([429, '1000000000']);
    service.faults.set({ capacity: { atOnce: 1 }, latencyMs: 40 });
    const both = await Promise.all([post(payment({ trans_id: 't-8' })), post(payment({ trans_id: 't-9' }))]);
    expect(new Set(both.map(({ status }) => status))).toEqual(new Set([200, 503]));
    expect(service.ledger().summary()).toMatchObject({ limited: 2 });
  });

  test('Retry-After as a date', async () => {
    const { service, post } = await start();
    service.faults.set({ status: { code: 503, retryAfterDateSeconds: 60 } });
    const date = (await post(payment())).headers.get('retry-after') ?? '';
    expect(date).toMatch(/ GMT$/u);
    expect(Date.parse(date)).toBeGreaterThan(Date.now());
  });

  test('for some ids only, for the next request only', async () => {
    const { service, post, patch } = await start();
    service.faults.set({ status: { code: 422 }, only: { transIds: ['t-7'] }, next: 2 });
    expect((await post(payment({ trans_id: 't-1' }))).status).toBe(200);
    expect((await post(payment({ trans_id: 't-7' }))).status).toBe(422);
    expect((await patch({ 't-1': approved, 't-7': approved })).status).toBe(422);
    expect((await post(payment({ trans_id: 't-7' }))).status).toBe(200);
  });

  test('for the payments of some customers, status updates included', async () => {
    const { service, post, patch } = await start();
    await post(payment({ trans_id: 't-1', cust_id: 'c-1' }));
    await post(payment({ trans_id: 't-2', cust_id: 'c-2' }));
    service.faults.set({ status: { code: 500 }, only: { customers: ['c-2'] } });
    expect((await patch({ 't-1': approved })).status).toBe(200);
    expect((await patch({ 't-2': approved })).status).toBe(500);
  });

  test('a status after it was carried out', async () => {
    const { service, post } = await start();
    service.faults.set({ status: { code: 500, carriedOut: true } });
    expect((await post(payment())).status).toBe(500);
    expect(service.ledger().summary()).toMatchObject({ scorings: 1 });
  });

  test('nothing listens for a while, and then the same port does', async () => {
    const { service, post, call } = await start();
    await call('PUT', '/sandbox/faults', { refuseConnectionsMs: 150 });
    await expect(post(payment())).rejects.toThrow(TypeError);
    await expect.poll(async () => (await post(payment()).catch(() => null))?.status).toBe(200);
    expect(service.ledger().summary()).toMatchObject({ scorings: 1 });
  });

  test('connections are closed as soon as they are made, for a while', async () => {
    const { service, post } = await start();
    service.faults.set({ dropConnectionsMs: 150 });
    await expect(post(payment())).rejects.toThrow(TypeError);
    await expect.poll(async () => (await post(payment()).catch(() => null))?.status).toBe(200);
  });

  test('a wrong fault is thrown back', async () => {
    const { service } = await start();
    expect(() => {
      service.faults.set({ resetShare: 2 });
    }).toThrow(expect.objectContaining({ code: 'USAGE' }) as Error);
  });
});
