import { createServer } from 'node:net';
import { once } from 'node:events';
import { type AddressInfo } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createRig, Service, startRig, until } from './service.ts';

const BODY = Buffer.from('{"trans_id" : "T1", "trans_amt":10.10}');
const NOT_WRITTEN = { do: 'failed', why: 'connect', ambiguous: false };

describe('a request', () => {
  test('carries the body untouched, the token, and nothing surprising', async () => {
    const { api, service } = await startRig();
    service.onCall = (_request, response) => response.end('{"score":0.5}');
    const exchange = await api.score(BODY);
    expect(exchange).toMatchObject({ do: 'answer', status: 200, retryAfterMs: null });
    expect(exchange.do === 'answer' && exchange.body.toString()).toBe('{"score":0.5}');
    const [seen] = service.seen;
    expect(seen?.body.equals(BODY)).toBe(true);
    expect([seen?.method, seen?.path]).toEqual(['POST', '/api/v2/transaction']);
    expect(seen?.headers).toEqual({
      host: expect.any(String) as string,
      connection: 'keep-alive',
      authorization: 'SessionToken t1',
      'content-type': 'application/json',
      accept: 'application/json',
      'user-agent': 'fraud-screening-connector/1.2.3',
      'content-length': String(BODY.length),
    });
  });

  test('carries the headers of its own, in the repeat after a 401 as well, and gives them to no other', async () => {
    const { api, service } = await startRig();
    service.onCall = (_request, response) => {
      response.statusCode = service.seen.length === 1 ? 401 : 200;
      response.end('{}');
    };
    await api.score(BODY, ['x-forwarded-for', '::1', 'Idempotency-Key', 'abc']);
    await api.score(BODY);
    await api.sync(BODY);
    const own = service.seen.map(({ headers }) => [headers['x-forwarded-for'], headers['idempotency-key']]);
    expect(own).toEqual([
      ['::1', 'abc'],
      ['::1', 'abc'],
      [undefined, undefined],
      [undefined, undefined],
    ]);
  });

  test('keeps the path of the base URL', async () => {
    const { service } = await startRig();
    service.baseUrl += '/fraud/';
    const { api } = createRig(service);
    await api.sync(BODY);
    expect(service.seen.map(({ method, path }) => [method, path])).toEqual([['PATCH', '/fraud/api/v2/transaction']]);
  });

  test('follows no redirect', async () => {
    const { api, service } = await startRig();
    service.onCall = (_request, response) => response.writeHead(307, { location: '/elsewhere' }).end();
    expect(await api.score(BODY)).toMatchObject({ do: 'answer', status: 307 });
    expect(service.seen.length).toBe(1);
  });

  test('passes over an early hint', async () => {
    const { api, service } = await startRig();
    service.onCall = (_request, response) => {
      response.writeEarlyHints({ link: '</style.css>; rel=preload' });
      response.end('{"a":1}');
    };
    expect(await api.score(BODY)).toMatchObject({ do: 'answer', status: 200 });
  });

  test('hands over when the service wants the next one', async () => {
    const { api, service } = await startRig();
    service.onCall = (_request, response) => response.writeHead(429, { 'retry-after': '7' }).end();
    expect(await api.score(BODY)).toMatchObject({ do: 'answer', status: 429, retryAfterMs: 7_000 });
  });

  test('keeps to its connections, and leaves others theirs', async () => {
    const { api, service } = await startRig({ scoringConnections: 2, syncConnections: 1 });
    const held: (() => void)[] = [];
    service.onCall = ({ method }, response) => {
      if (method === 'PATCH') response.end();
      else held.push(() => response.end('{}'));
    };
    const scores = [1, 2, 3].map(async () => await api.score(BODY));
    await until(() => held.length === 2);
    expect(await api.sync(BODY)).toMatchObject({ status: 200 });
    expect(held.length).toBe(2);
    for (const end of held) end();
    await until(() => held.length === 3);
    held[2]?.();
    for (const exchange of await Promise.all(scores)) expect(exchange).toMatchObject({ status: 200 });
    expect(service.connections).toBe(4);
  });
});

describe('a failure', () => {
  test('before writing leaves nothing open', async () => {
    const service = new Service();
    await service.start();
    const { api, clock } = createRig(service);
    await api.login();
    await service.stop();
    expect(await api.score(BODY)).toEqual(NOT_WRITTEN);
    expect(clock.pending).toBeGreaterThan(0);
  });

  test('after writing may have been carried out', async () => {
    const { api, service } = await startRig();
    service.onCall = (_request, _response, socket) => socket.destroy();
    expect(await api.score(BODY)).toEqual({ do: 'failed', why: 'reset', ambiguous: true });
    service.onCall = (_request, response, socket) => {
      response.writeHead(200, { 'content-length': '100' });
      response.write('{"score"', () => socket.destroy());
    };
    expect(await api.score(BODY)).toEqual({ do: 'failed', why: 'reset', ambiguous: true });
  });

  test('to speak HTTP may have been carried out', async () => {
    const { api, service } = await startRig();
    service.onCall = (_request, _response, socket) => socket.end('SMTP 200\r\n\r\n');
    expect(await api.score(BODY)).toEqual({ do: 'failed', why: 'protocol', ambiguous: true });
  });

  test('to answer within the deadline cuts the connection, however the body drips', async () => {
    const { api, service, clock } = await startRig();
    let isClosed = false;
    service.onCall = (_request, response, socket) => {
      socket.on('close', () => (isClosed = true));
      response.write('{"score":');
    };
    const exchange = api.score(BODY);
    await until(() => service.seen.length === 1);
    clock.advance(4_999);
    expect(await Promise.race([exchange, new Promise((resolve) => setImmediate(resolve, 'open'))])).toBe('open');
    clock.advance(1);
    expect(await exchange).toEqual({ do: 'failed', why: 'timeout', ambiguous: true });
    await until(() => isClosed);
  });

  test('to be brief ends at 1 MiB', async () => {
    const { api, service } = await startRig();
    service.onCall = (_request, response) => response.end(Buffer.alloc(1_048_577, 0x20));
    expect(await api.score(BODY)).toEqual({ do: 'failed', why: 'oversized', ambiguous: true });
    service.onCall = (_request, response) => response.end(Buffer.alloc(1_048_576, 0x20));
    const exchange = await api.score(BODY);
    expect(exchange.do === 'answer' && exchange.body.length).toBe(1_048_576);
  });

  test('to connect in time is not ambiguous, and nothing is written later', async () => {
    const { api, service, clock } = await startRig({ scoringConnections: 1 });
    const held: (() => void)[] = [];
    service.onCall = (_request, response) => held.push(() => response.end('{}'));
    await api.login();
    const first = api.score(BODY);
    await until(() => held.length === 1);
    clock.advance(3_000);
    const second = api.score(BODY);
    clock.advance(1_999);
    held[0]?.();
    expect(await first).toMatchObject({ status: 200 });
    await until(() => held.length === 2);
    const third = api.score(Buffer.from('{"trans_id":"T3"}'));
    clock.advance(4_999);
    expect(await second).toEqual({ do: 'failed', why: 'timeout', ambiguous: true });
    clock.advance(1);
    expect(await third).toEqual({ do: 'failed', why: 'timeout', ambiguous: false });
    service.onCall = (_request, response) => response.end('{}');
    expect(await api.score(BODY)).toMatchObject({ status: 200 });
    expect(service.seen.map(({ body }) => body.toString())).not.toContain('{"trans_id":"T3"}');
  });

  test('of a TLS server to be one is a failure to connect', async () => {
    const server = createServer((socket) => socket.end('hello'));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    const service = new Service();
    service.baseUrl = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const { api, events } = createRig(service);
    expect(await api.score(BODY)).toMatchObject({ do: 'no_session', why: 'service_down' });
    expect(events).toEqual([['login', { result: 'failed' }]]);
  });
});

describe('the fence', () => {
  test('closed, lets nothing out', async () => {
    const rig = await startRig();
    rig.mayWrite = false;
    expect(await rig.api.score(BODY)).toEqual({ do: 'fenced' });
    expect(rig.service.seen).toEqual([]);
  });

  test('is asked again when the request is about to be written, and leaves the connection usable', async () => {
    const rig = await startRig({ scoringConnections: 1 });
    await rig.api.score(BODY);
    let asked = 0;
    rig.onAsked = () => {
      asked += 1;
      rig.mayWrite = asked !== 2;
    };
    expect(await rig.api.score(BODY)).toEqual({ do: 'fenced' });
    expect(asked).toBe(2);
    expect(await rig.api.score(BODY)).toMatchObject({ status: 200 });
    expect(rig.service.seen.length).toBe(2);
    expect(rig.service.connections).toBe(2);
  });

  test('does not stop a login', async () => {
    const rig = await startRig();
    rig.mayWrite = false;
    expect(await rig.api.login()).toBe('ok');
  });
});

describe('a 401', () => {
  test('of 500 requests at once leads to one login, and each is repeated once', async () => {
    const { api, service } = await startRig({ scoringConnections: 500 });
    const held: (() => void)[] = [];
    service.onCall = ({ headers }, response) => {
      if (headers.authorization !== 'SessionToken t1') response.end('{}');
      else held.push(() => response.writeHead(401).end('{}'));
    };
    const exchanges = Array.from({ length: 500 }, async () => await api.score(BODY));
    await until(() => held.length === 500);
    for (const end of held) end();
    for (const exchange of await Promise.all(exchanges)) expect(exchange).toMatchObject({ status: 200 });
    expect(service.logins).toBe(2);
    expect(service.seen.length).toBe(1_000);
  });

  test('that comes late, for a token replaced since, ends nothing', async () => {
    const { api, service } = await startRig();
    const held: (() => void)[] = [];
    service.onCall = ({ headers, body }, response) => {
      if (headers.authorization !== 'SessionToken t1') response.end('{}');
      else if (body.toString() === 'late') held.push(() => response.writeHead(401).end());
      else response.writeHead(401).end();
    };
    const late = api.score(Buffer.from('late'));
    await until(() => held.length === 1);
    expect(await api.score(BODY)).toMatchObject({ status: 200 });
    held[0]?.();
    expect(await late).toMatchObject({ status: 200 });
    expect(service.logins).toBe(2);
  });

  test('with a fresh token is an answer, never a third request', async () => {
    const { api, service } = await startRig();
    service.onCall = (_request, response) => response.writeHead(401).end('{}');
    expect(await api.score(BODY)).toMatchObject({ do: 'answer', status: 401 });
    expect(service.tokens).toEqual(['t1', 't2']);
  });

  test('of requests whose repeats meet the end of the next token, too, is one answer and no more: the others wait for the next login', async () => {
    const { api, service, clock } = await startRig({ scoringConnections: 50 });
    const held: (() => void)[] = [];
    service.onCall = ({ headers }, response) => {
      if (headers.authorization === 'SessionToken t3') response.end('{}');
      else held.push(() => response.writeHead(401).end('{}'));
    };
    const exchanges = Array.from({ length: 50 }, async () => await api.score(BODY));
    for (let round = 0; round < 2; round += 1) {
      await until(() => held.length === 50);
      for (const end of held.splice(0)) end();
    }
    const ends = (await Promise.all(exchanges)).map((exchange) => exchange.do).toSorted();
    expect(ends).toEqual(['answer', ...Array<string>(49).fill('no_session')]);
    expect(service.logins).toBe(2);
    clock.advance(10_000);
    expect(await api.score(BODY)).toMatchObject({ do: 'answer', status: 200 });
  });

  test('that is meant for some requests alone keeps nobody else waiting, and accuses no other session', async () => {
    const { api, service, clock } = await startRig();
    service.onCall = ({ body }, response) => response.writeHead(body.toString() === 'odd' ? 401 : 200).end('{}');
    for (let n = 0; n < 30; n += 1) {
      expect(await api.score(BODY)).toMatchObject({ status: 200 });
      expect(await api.score(Buffer.from('odd'), undefined, n % 2 === 1)).toMatchObject({ do: 'answer', status: 401 });
      clock.advance(100);
    }
    expect(service.logins).toBeLessThanOrEqual(3);
    expect(api.session().youngRefused).toBe(0);
  });

  test('of a request that was refused before leads to no login while others are served', async () => {
    const { api, service } = await startRig();
    service.onCall = ({ body }, response) => response.writeHead(body.toString() === 'odd' ? 401 : 200).end('{}');
    expect(await api.score(BODY)).toMatchObject({ status: 200 });
    expect(await api.score(Buffer.from('odd'), undefined, true)).toMatchObject({ status: 401 });
    expect(service.logins).toBe(1);
  });

  test('of three requests in a row ends the session, though others were served a moment ago', async () => {
    const { api, service } = await startRig();
    expect(await api.score(BODY)).toMatchObject({ status: 200 });
    service.onCall = ({ headers }, response) =>
      response.writeHead(headers.authorization === 'SessionToken t1' ? 401 : 200).end('{}');
    const repeats = [await api.score(BODY, undefined, true), await api.score(BODY, undefined, true)];
    expect(repeats).toMatchObject([{ status: 401 }, { status: 401 }]);
    expect(await api.score(BODY, undefined, true)).toMatchObject({ status: 200 });
    expect(service.logins).toBe(2);
  });

  test('for ever does not become a login for every request', async () => {
    const { api, service, clock } = await startRig();
    service.onCall = (_request, response) => response.writeHead(401).end('{}');
    await api.score(BODY);
    for (let n = 0; n < 20; n += 1)
      expect(await api.score(BODY)).toMatchObject({ do: 'no_session', why: 'service_refuses' });
    expect(service.logins).toBe(2);
    clock.advance(10_000);
    await api.score(BODY);
    expect(service.logins).toBe(3);
  });

  test('then no login leaves the deadline of the attempt in force', async () => {
    const { api, service, clock } = await startRig();
    await api.score(BODY);
    service.onCall = (_request, response) => response.writeHead(401).end('{}');
    let isAsked = false;
    service.onLogin = () => (isAsked = true);
    const exchange = api.score(BODY);
    await until(() => isAsked);
    clock.advance(5_000);
    expect(await exchange).toEqual({ do: 'failed', why: 'timeout', ambiguous: false });
  });
});

test('a login that hangs is given up at its deadline, for all who wait for it, and the next call logs in anew', async () => {
  const { api, service, clock, events } = await startRig();
  const { onLogin } = service;
  let hanging = 0;
  service.onLogin = () => (hanging += 1);
  const waiting = [api.score(BODY), api.score(BODY), api.login()];
  await until(() => hanging === 1);
  clock.advance(5_000);
  const timedOut = { do: 'failed', why: 'timeout', ambiguous: false };
  expect(await Promise.all(waiting)).toEqual([timedOut, timedOut, 'failed']);
  expect(events).toEqual([['login', { result: 'failed' }]]);
  service.onLogin = onLogin;
  clock.advance(100);
  expect(await api.score(BODY)).toMatchObject({ do: 'answer', status: 200 });
  expect([hanging, service.logins]).toEqual([1, 1]);
});

test('closing fails what is open and says nothing was written where nothing was', async () => {
  const { api, service } = await startRig({ scoringConnections: 1 });
  service.onCall = () => {};
  const open = api.score(BODY);
  await until(() => service.seen.length === 1);
  const waiting = api.score(BODY);
  await api.close();
  expect(await open).toEqual({ do: 'failed', why: 'reset', ambiguous: true });
  expect(await waiting).toEqual(NOT_WRITTEN);
  expect(await api.score(BODY)).toEqual(NOT_WRITTEN);
});
