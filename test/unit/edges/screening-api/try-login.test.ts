import { createServer, type RequestListener, type Server } from 'node:http';
import { afterEach, expect, test } from 'vitest';
import { tryLogin } from '../../../../src/edges/screening-api/try-login.ts';
import { systemClock } from '../../../../src/edges/system/clock.ts';

let server: Server | null = null;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

async function loginAt(listener: RequestListener, limitMs = 5000) {
  const own = createServer(listener);
  server = own;
  await new Promise<void>((resolve) => {
    own.listen(0, '127.0.0.1', resolve);
  });
  const address = own.address();
  const port = address !== null && typeof address === 'object' ? address.port : 0;
  return await tryLogin(
    { baseUrl: `http://127.0.0.1:${String(port)}/base`, userAgent: 'test', limitMs },
    { username: 'shop', password: 'pass' },
    systemClock,
  );
}

test('asks once, with basic credentials and no body, below the path of the base URL', async () => {
  const asked: string[] = [];
  const tried = await loginAt((request, response) => {
    asked.push(`${request.method ?? ''} ${request.url ?? ''} ${request.headers.authorization ?? ''}`);
    response.end('{"sessionToken":"token"}');
  });
  expect(tried).toMatchObject({ do: 'answer', status: 200, hasToken: true });
  expect(asked).toEqual([`POST /base/api/v2/sessions Basic ${Buffer.from('shop:pass').toString('base64')}`]);
});

test.each([
  [401, '{"sessionToken":"token"}'],
  [200, '{}'],
  [200, 'hello'],
])('status %i with the body %s is no token', async (status, body) => {
  const tried = await loginAt((_request, response) => response.writeHead(status).end(body));
  expect(tried).toMatchObject({ do: 'answer', status, hasToken: false });
});

test('tells how far the clock of the service is ahead', async () => {
  const date = new Date(Date.now() + 600_000).toUTCString();
  const tried = await loginAt((_request, response) => response.writeHead(200, { date }).end('{}'));
  const aheadMs = tried.do === 'answer' ? tried.aheadMs : null;
  expect(Math.abs((aheadMs ?? 0) - 600_000)).toBeLessThan(2000);
  const without = await loginAt((_request, response) => {
    response.sendDate = false;
    response.end('{}');
  });
  expect(without).toMatchObject({ aheadMs: null });
});

test('a service that does not answer, or does not end, is told in time', async () => {
  expect(await loginAt(() => undefined, 200)).toEqual({ do: 'failed', error: 'timeout' });
  expect(await loginAt((_request, response) => response.writeHead(200).write('{'), 200)).toEqual({
    do: 'failed',
    error: 'timeout',
  });
  const huge = await loginAt((_request, response) => response.end('x'.repeat(100_000)));
  expect(huge).toEqual({ do: 'failed', error: 'oversized' });
});
