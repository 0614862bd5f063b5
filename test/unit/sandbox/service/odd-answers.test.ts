import { describe, expect, test } from 'vitest';
import { Agent, request } from 'undici';
import { type BrokenAnswerName } from '../../../../src/sandbox/service/broken-answers.ts';
import { type ScreeningServiceOptions } from '../../../../src/sandbox/service/screening-service.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { oddBody, oddPrefix, oddRules, oddStatus, type OddAnswer } from '../../../support/odd-answers.ts';
import { approved, payment, releases, start } from './started-service.ts';

const OPERATIONS = ['POST', 'PATCH'] as const;
type Method = (typeof OPERATIONS)[number];
const EVERY_STATUS = Array.from({ length: 400 }, (_, index) => 200 + index);
const GOOD = 't-good';

function bodyOf(method: Method, transId: string): Record<string, unknown> {
  return method === 'POST' ? payment({ trans_id: transId }) : { [GOOD]: approved, [transId]: approved };
}

/** A sandbox with these kinds of odd ids, and how to ask for one id of a kind; a PATCH holds a good one beside it. */
async function sandboxWith(answers: Readonly<Record<string, OddAnswer>>, options: ScreeningServiceOptions = {}) {
  const { service, session, raw } = await start(options);
  service.faults.set({ rules: oddRules(answers) });
  const dispatcher = new Agent({ keepAliveTimeout: 1000 });
  releases.push(async () => {
    await dispatcher.destroy();
  });
  const ask = async (method: Method, transId: string) => {
    const { statusCode, headers, body } = await request(`${service.baseUrl}/api/v2/transaction`, {
      dispatcher,
      method,
      headers: session(),
      body: JSON.stringify(bodyOf(method, transId)),
    });
    return { status: statusCode, headers, bytes: Buffer.from(await body.arrayBuffer()) };
  };
  const askRaw = async (method: Method, transId: string) => await raw(method, bodyOf(method, transId));
  return { service, ask, askRaw, odd: (kind: string, name = '1') => `${oddPrefix(kind)}${name}` };
}

describe.each(OPERATIONS)('an id that always gets the same answer to a %s', (method) => {
  test('gets every status from 200 to 599, a place with each redirect, and is never carried out', async () => {
    const { service, ask, odd } = await sandboxWith(
      Object.fromEntries(EVERY_STATUS.map((code) => [String(code), oddStatus(code)])),
    );
    const got: number[] = [];
    const redirects: number[] = [];
    for (const code of EVERY_STATUS) {
      const { status, headers } = await ask(method, odd(String(code)));
      got.push(status);
      if (String(headers['location']).endsWith('/sandbox/elsewhere')) redirects.push(code);
    }
    expect(got).toEqual(EVERY_STATUS);
    expect(redirects).toEqual(EVERY_STATUS.slice(100, 200));
    expect(service.ledger().summary()).toMatchObject({ scorings: 0, updates: 0, redirectsFollowed: 0, struck: 400 });
  });

  test('gets it whenever it is asked for, while other ids get what they deserve', async () => {
    const { service, ask, odd } = await sandboxWith({ '403': oddStatus(403), '500': oddStatus(500) });
    const statuses: number[] = [];
    for (const id of [odd('403'), GOOD, odd('500', 'other'), odd('403'), odd('403', '2'), odd('500', 'other')])
      statuses.push((await ask(method, id)).status);
    expect(statuses).toEqual([403, 200, 500, 403, 403, 500]);
    expect(service.ledger().summary()).toMatchObject(method === 'POST' ? { scorings: 1 } : { updates: 1, batches: 6 });
  });

  test.each<[BrokenAnswerName, (text: string) => boolean]>([
    ['empty', (text) => text === ''],
    ['text', (text) => text === 'accepted'],
    ['html', (text) => text.startsWith('<!doctype html>')],
    ['not_object', (text) => text === '[]'],
    ['string', (text) => text === '"accepted"'],
    ['null', (text) => text === 'null'],
    ['object', (text) => text === '{}'],
    ['error_msg', (text) => Object.keys(JSON.parse(text) as object).join() === 'error_msg'],
    ['error_beside', (text) => text.includes('"error_msg"')],
    ['bom', (text) => text.startsWith('\uFEFF{')],
    ['wrong_type', (text) => text.startsWith('{')],
    ['garbage', (text) => text.length > 0 && !text.startsWith('{')],
    ['chunked', (text) => text.endsWith('}')],
    ['huge_body', (text) => text.length > 20 * 1024 * 1024],
  ])('gets a body of the shape %s with any status', async (as, isRight) => {
    const codes = [200, 201, 302, 403, 422, 500, 503];
    const { ask, odd } = await sandboxWith(
      Object.fromEntries(codes.map((code) => [`${String(code)}.${as}`, oddBody(code, as)])),
    );
    for (const code of codes) {
      const { status, bytes } = await ask(method, odd(`${String(code)}.${as}`));
      expect(status).toBe(code);
      expect([code, isRight(bytes.toString())]).toEqual([code, true]);
    }
  });

  test('has its connection reset before the answer', async () => {
    const { service, ask, odd } = await sandboxWith({ reset: { resetBeforeShare: 1 } });
    for (let attempt = 1; attempt <= 3; attempt += 1)
      await expect(ask(method, odd('reset'))).rejects.toMatchObject({ code: 'ECONNRESET' });
    expect(service.ledger().summary()).toMatchObject({ scorings: 0, updates: 0, struck: 3 });
  });

  test.each([
    ['reset_midway', 'ECONNRESET'],
    ['truncated', 'UND_ERR_SOCKET'],
    ['chunked_cut', 'UND_ERR_SOCKET'],
  ] as const)('has its connection ended in the middle of the answer: %s', async (as, code) => {
    const { ask, askRaw, odd } = await sandboxWith({ cut: oddBody(403, as) });
    await expect(ask(method, odd('cut'))).rejects.toMatchObject({ code });
    const connection = await askRaw(method, odd('cut'));
    await expect.poll(() => connection.socket.destroyed, { interval: 5 }).toBe(true);
    expect(connection.received).toMatch(/^HTTP\/1\.1 403 .*\r\n\r\n./su);
    expect(connection.received).not.toMatch(/\r\n0\r\n\r\n$/u);
  });

  test('is never answered, its connection stays open', async () => {
    const { service, askRaw, odd } = await sandboxWith({ hang: { answer: { as: 'hang' } } });
    const connection = await askRaw(method, odd('hang'));
    await expect.poll(() => service.ledger().summary().struck, { interval: 5 }).toBe(1);
    expect(connection.received).toBe('');
    expect(connection.socket.destroyed).toBe(false);
  });

  test('gets a byte now and then, and no end', async () => {
    const clock = new ManualClock();
    const { askRaw, odd } = await sandboxWith({ slow: oddBody(200, 'trickle') }, { clock });
    const connection = await askRaw(method, odd('slow'));
    await expect.poll(() => connection.received, { interval: 5 }).toMatch(/^HTTP\/1\.1 200 .*\r\n\r\n$/su);
    for (const spaces of [1, 2, 3]) {
      clock.advance(1000);
      await expect.poll(() => connection.received.match(/^1\r\n \r\n/gmu)?.length, { interval: 5 }).toBe(spaces);
    }
    expect(connection.socket.destroyed).toBe(false);
  });
});

describe('odd answers', () => {
  test('are for one id, or for all that begin alike', async () => {
    const { service, ask } = await sandboxWith({});
    service.faults.set({ rules: [{ only: { transIds: ['t-1'], transIdPrefixes: ['x-'] }, status: { code: 451 } }] });
    const statuses: number[] = [];
    for (const id of ['t-1', 't-10', 'x-', 'x-7', 'y-x-7']) statuses.push((await ask('POST', id)).status);
    expect(statuses).toEqual([451, 200, 451, 451, 200]);
  });

  test('are carried out with 2xx and the right body', async () => {
    const { service, ask, odd } = await sandboxWith({ created: oddBody(201, 'right') });
    const { status, bytes } = await ask('POST', odd('created'));
    expect(status).toBe(201);
    expect(JSON.parse(bytes.toString())).toHaveProperty('fraugster_approved');
    expect(service.ledger().summary()).toMatchObject({ scorings: 1 });
  });

  test('keep nothing of a batch that one of them is in', async () => {
    const { service, ask, odd } = await sandboxWith({ gone: oddStatus(410) });
    await ask('PATCH', odd('gone'));
    expect(service.ledger().transaction(GOOD)?.updateCount).toBe(0);
    expect(service.ledger().batches()).toMatchObject([{ status: 410 }]);
  });

  test('are set by the control, too', async () => {
    const { service, ask, odd } = await sandboxWith({});
    const put = await fetch(`${service.baseUrl}/sandbox/faults`, {
      method: 'PUT',
      body: JSON.stringify({ rules: oddRules({ '403': oddStatus(403) }) }),
    });
    expect(put.status).toBe(200);
    expect((await ask('POST', odd('403'))).status).toBe(403);
  });
});
