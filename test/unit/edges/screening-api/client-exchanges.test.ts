import { expect, test } from 'vitest';
import { createRig, Service, startRig, until } from './service.ts';

const BODY = Buffer.from('{}');

type Rig = Awaited<ReturnType<typeof startRig>>;

function exchanges({ api }: Rig): Record<string, readonly [end: number | string, count: number][]> {
  const reports = api.exchanges();
  expect(reports.map(({ active }) => active)).toEqual([0, 0, 0]);
  return Object.fromEntries(
    reports.map(({ method, template, ends }) => [
      `${method} ${template}`,
      [...ends].map(([end, { count }]) => [end, count]),
    ]),
  );
}

test('requests are counted by operation and status, each repeat after a 401 by itself', async () => {
  const rig = await startRig();
  const statuses = [401, 200, 503];
  rig.service.onCall = (_request, response) => {
    response.writeHead(statuses.shift() ?? 200).end('{}');
  };
  await rig.api.score(BODY);
  await rig.api.score(BODY);
  await rig.api.sync(BODY);
  expect(exchanges(rig)).toEqual({
    'POST /api/v2/transaction': [
      [401, 1],
      [200, 1],
      [503, 1],
    ],
    'PATCH /api/v2/transaction': [[200, 1]],
    'POST /api/v2/sessions': [[200, 2]],
  });
});

test('a request that is out is active, and one that is cut off at its deadline is a time-out of that length', async () => {
  const rig = await startRig({ timeoutMs: 700 });
  await rig.api.login();
  rig.service.onCall = () => undefined;
  const answer = rig.api.score(BODY);
  await until(() => rig.service.seen.length === 1);
  expect(rig.api.exchanges()[0]?.active).toBe(1);
  rig.clock.advance(700);
  expect(await answer).toMatchObject({ do: 'failed', why: 'timeout' });
  expect(rig.api.exchanges()[0]).toMatchObject({ active: 0 });
  expect(rig.api.exchanges()[0]?.ends.get('timeout')).toMatchObject({ count: 1, sum: 0.7 });
});

test('a service that is away is counted as a connection that failed, and what the fence kept back not at all', async () => {
  const service = new Service();
  await service.start();
  const rig = createRig(service);
  await rig.api.login();
  rig.mayWrite = false;
  expect(await rig.api.score(BODY)).toEqual({ do: 'fenced' });
  expect(exchanges(rig)['POST /api/v2/transaction']).toEqual([]);
  rig.mayWrite = true;
  await service.stop();
  expect(await rig.api.score(BODY)).toMatchObject({ do: 'failed' });
  const ends = exchanges(rig)['POST /api/v2/transaction'] ?? [];
  expect(ends.map(([, count]) => count)).toEqual([1]);
  expect(['connect', 'reset']).toContain(ends[0]?.[0]);
});

test('a connection that is cut midway is no longer active', async () => {
  const rig = await startRig();
  rig.service.onCall = (_request, response, socket) => {
    response.writeHead(200, { 'content-length': '100' });
    response.write('{', () => socket.destroy());
  };
  expect(await rig.api.score(BODY)).toMatchObject({ do: 'failed', why: 'reset' });
  expect(exchanges(rig)['POST /api/v2/transaction']).toEqual([['reset', 1]]);
});

test('the session tells the age of its token, when it ends, and how many young ones were refused', async () => {
  const rig = await startRig();
  expect(rig.api.session()).toEqual({ sinceMs: null, expiresAtMs: null, youngRefused: 0 });
  await rig.api.login();
  const sinceMs = rig.clock.monotonicMs();
  expect(rig.api.session()).toEqual({ sinceMs, expiresAtMs: sinceMs + 3_600_000, youngRefused: 0 });
  rig.service.onCall = (_request, response) => {
    response.writeHead(401).end('{}');
  };
  await rig.api.score(BODY);
  expect(rig.api.session().youngRefused).toBe(2);
  rig.clock.advance(600_000);
  expect(rig.api.session().youngRefused).toBe(0);
});
