import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type OpsSource, startOpsServer } from '../../../../src/edges/http-server/ops.ts';
import { type HttpServer } from '../../../../src/edges/http-server/server.ts';
import { isFault } from '../../../../src/kernel/fault.ts';
import { healthReport } from '../../../support/health-report.ts';
import { exchange } from '../../../support/raw-http.ts';

let server: HttpServer;
let state: { live: boolean; ready: boolean; scoring: boolean | null; sync: boolean | null; reviews: boolean | null };
let metrics: () => Promise<string>;

beforeEach(async () => {
  state = { live: true, ready: true, scoring: true, sync: null, reviews: null };
  metrics = async () => await Promise.resolve('# HELP x y\nx 1\n');
  const source: OpsSource = {
    live: () => state.live,
    ready: () => state.ready,
    readyOf: (flow) => state[flow],
    status: () => healthReport(),
    metrics: async () => await metrics(),
  };
  server = await startOpsServer({ host: '127.0.0.1', port: 0 }, source);
});

afterEach(async () => {
  await server.close();
});

async function get(
  path: string,
  init: RequestInit = {},
): Promise<{ status: number; type: string | null; text: string }> {
  const response = await fetch(`${server.url}${path}`, init);
  expect(response.headers.get('cache-control')).toBe('no-store');
  return { status: response.status, type: response.headers.get('content-type'), text: await response.text() };
}

describe('refuses', () => {
  test.each(['/', '/nothing', '/livez/', '/readyz/other', '/metrics/../x', '/%zz'])('the path %s', async (path) => {
    expect((await get(path)).status).toBe(404);
  });

  test.each(['POST', 'PUT', 'DELETE', 'OPTIONS'])('%s, naming what there is', async (method) => {
    const response = await fetch(`${server.url}/status`, { method });
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  });

  test('what is no HTTP', async () => {
    expect((await exchange(server.url, 'hello\r\n\r\n')).status).toBe(400);
  });

  test('to serve half of the metrics', async () => {
    metrics = async () => await Promise.reject(new Error('secret'));
    const { status, text } = await get('/metrics');
    expect(status).toBe(500);
    expect(text).not.toContain('secret');
  });
});

test('tells whether it lives, and whether it is ready', async () => {
  expect(await get('/livez')).toMatchObject({ status: 200, text: 'live\n' });
  expect(await get('/readyz')).toMatchObject({ status: 200, text: 'ready\n' });
  state.live = false;
  state.ready = false;
  expect(await get('/livez')).toMatchObject({ status: 503, text: 'not live\n' });
  expect(await get('/readyz')).toMatchObject({ status: 503, text: 'not ready\n' });
});

test('tells it of each flow, and that one is not here', async () => {
  expect((await get('/readyz/scoring')).status).toBe(200);
  expect((await get('/readyz/sync')).status).toBe(404);
  state.scoring = false;
  state.sync = true;
  expect((await get('/readyz/scoring')).status).toBe(503);
  expect((await get('/readyz/sync?x=1')).status).toBe(200);
  expect((await get('/readyz/reviews')).status).toBe(404);
  state.reviews = true;
  expect((await get('/readyz/reviews')).status).toBe(200);
  state.reviews = false;
  expect((await get('/readyz/reviews')).status).toBe(503);
});

test('serves the status as JSON to programs', async () => {
  const { status, type, text } = await get('/status');
  expect([status, type]).toEqual([200, expect.stringContaining('application/json')]);
  expect(JSON.parse(text)).toEqual(healthReport());
});

test('serves the status as a page to people', async () => {
  const response = await fetch(`${server.url}/status`, { headers: { accept: 'text/html,application/xhtml+xml' } });
  expect(response.headers.get('content-type')).toContain('text/html');
  expect(response.headers.get('content-security-policy')).toContain("default-src 'none'");
  const page = await response.text();
  expect(page).toContain('payments.created');
  expect(page).not.toContain('http-equiv="refresh"');
});

test.each([
  ['/status?every=5', 'content="5"'],
  ['/status?a=1&every=30&b=2', 'content="30"'],
])('serves at %s a page that asks for itself again', async (path, words) => {
  expect((await get(path, { headers: { accept: 'text/html' } })).text).toContain(words);
});

test.each(['0', '-1', '5;x', '99999', '"><b>'])('takes every=%s for no wish', async (every) => {
  const { text } = await get(`/status?every=${encodeURIComponent(every)}`, { headers: { accept: 'text/html' } });
  expect(text).not.toContain('http-equiv="refresh"');
});

test('serves the metrics', async () => {
  expect(await get('/metrics')).toMatchObject({
    status: 200,
    type: expect.stringContaining('text/plain; version=0.0.4') as string,
    text: '# HELP x y\nx 1\n',
  });
});

test('answers HEAD as GET, without the body', async () => {
  const { status, text } = await get('/status', { method: 'HEAD' });
  expect([status, text]).toEqual([200, '']);
});

test('a port that is taken is a fault that names the option and the port', async () => {
  const { port } = new URL(server.url);
  const other: OpsSource = {
    live: () => true,
    ready: () => true,
    readyOf: () => null,
    status: () => healthReport(),
    metrics: async () => await Promise.resolve(''),
  };
  const fault: unknown = await startOpsServer({ host: '127.0.0.1', port: Number(port) }, other).catch(
    (error: unknown) => error,
  );
  expect(isFault(fault, 'PORT_TAKEN') && fault.message).toMatch(new RegExp(`OPS_PORT.*${port}.*EADDRINUSE`));
});
