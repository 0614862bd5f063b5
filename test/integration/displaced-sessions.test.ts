import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, inject, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { PaymentWorld } from '../support/payment-world.ts';

let world: PaymentWorld;
afterEach(async () => {
  await world.close();
});

/** Logs in as the connector's user, again and again, until told to stop. */
async function rival(signal: AbortSignal): Promise<void> {
  const { baseUrl, user, password } = world.service;
  const authorization = `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
  while (!signal.aborted) {
    const answer = await fetch(`${baseUrl}/api/v2/sessions`, { method: 'POST', headers: { authorization } });
    await answer.body?.cancel();
    await sleep(500);
  }
}

test('another user of the same credentials, where each login ends the other, is named as a hold, and logins get rare', async () => {
  world = await PaymentWorld.open({ ...inject('kafka') });
  world.service.settings.set({ oneTokenPerUser: true });
  const { created } = world.topics;
  const letters = await world.read(world.letters(created));
  const connector = await (await world.start()).ready();
  const stop = new AbortController();
  const rivals = rival(stop.signal);
  let sent = 0;
  await eventually('the hold is named', async () => {
    sent += 1;
    await world.send(created, { key: String(sent), value: { trans_id: `p-${String(sent)}` } });
    const waits = (await connector.flow('scoring'))?.waits ?? [];
    return waits.some(({ cause }) => cause === 'sessions_displace_each_other');
  });
  stop.abort();
  await rivals;
  const logins = connector.said('login');
  expect(logins.filter(({ result }) => result === 'ok').length).toBe(logins.length);
  expect(logins.length).toBeLessThanOrEqual(4);
  await eventually('each payment is scored or waits', async () => {
    const flow = await connector.flow('scoring');
    return flow !== null && (flow.outcomes['delivered'] ?? 0) + flow.buffered === sent;
  });
  expect(letters.records).toEqual([]);
});
