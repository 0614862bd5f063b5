import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { PaymentWorld, reckonPayments, somePayments, trade } from '../support/payment-world.ts';

const CLIENTS = 40;
const PATHS = ['/metrics', '/status', '/readyz', '/livez'] as const;
const payments = somePayments(200, { customers: 60 });

let world: PaymentWorld;

beforeAll(async () => {
  world = await PaymentWorld.open({ ...inject('kafka'), partitions: 3, service: { reviewAfterMs: 600_000 } });
});
afterAll(async () => {
  await world.close();
});

test('payments are scored and linked as ever while forty clients ask for metrics and status without a pause', async () => {
  const connector = await (await world.start()).ready();
  const ending = new AbortController();
  const answers = new Map<string, number>();
  const clients = Array.from({ length: CLIENTS }, async (_, index) => {
    for (let n = index; !ending.signal.aborted; n += 1) {
      const path = PATHS[n % PATHS.length] ?? '/metrics';
      const page = n % 3 === 0 ? { accept: 'text/html' } : {};
      const response = await fetch(`${connector.opsUrl}${path}`, { headers: page });
      const text = await response.text();
      const end = `${path} ${String(response.status)}${path === '/metrics' && !text.endsWith('\n') ? ' cut' : ''}`;
      answers.set(end, (answers.get(end) ?? 0) + 1);
    }
  });
  await trade(world, payments);
  await eventually('everything is scored and linked', () => reckonPayments(world, payments).lost === 0);
  await eventually('everything is committed', async () =>
    ((await connector.status())?.partitions ?? []).every(({ lag }) => lag === '0'),
  );
  ending.abort();
  await Promise.all(clients);
  expect(reckonPayments(world, payments)).toMatchObject({ lost: 0, doubled: 0, outOfOrder: 0 });
  expect([...answers.keys()].toSorted()).toEqual(PATHS.map((path) => `${path} 200`).toSorted());
  // It was a storm.
  expect([...answers.values()].reduce((sum, count) => sum + count, 0)).toBeGreaterThan(400);
  for (const event of ['source_failed', 'commit_failed', 'hold_started']) expect(connector.said(event)).toEqual([]);
  expect(await connector.stop()).toMatchObject({ code: 0 });
});
