import { mkdtempSync, rmSync, symlinkSync, renameSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, inject, test } from 'vitest';
import { type ConnectorProcess } from '../support/connector-process.ts';
import { eventually } from '../support/eventually.ts';
import { PaymentWorld, recordsOf, somePayments } from '../support/payment-world.ts';
import { reviewBody, sign } from '../support/webhooks.ts';

const OLD = 'old-webhook-secret-0123456789';
const NEW = 'new-webhook-secret-0123456789';

let folder: string;
let world: PaymentWorld;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'rotation-'));
});
afterEach(async () => {
  await world.close();
  rmSync(folder, { recursive: true });
});

/** As a mounted volume changes: a folder beside, and a link that is swapped. */
function mount(files: Readonly<Record<string, string>>): void {
  const next = mkdtempSync(join(folder, 'data-'));
  for (const [name, content] of Object.entries(files)) writeFileSync(join(next, name), content);
  symlinkSync(next, join(folder, 'next'));
  renameSync(join(folder, 'next'), join(folder, 'now'));
}

function file(name: string): string {
  return join(folder, 'now', name);
}

async function post(connector: ConnectorProcess, secret: string, transId: string): Promise<number> {
  const body = reviewBody({ trans_id: transId });
  const timestamp = new Date().toISOString();
  const answer = await fetch(connector.webhookUrl, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'X-ServiceWebhook-Signature': sign(body, timestamp, secret),
      'X-ServiceWebhook-Timestamp': timestamp,
    },
    body: new Uint8Array(body),
  });
  return answer.status;
}

test('secrets change under a running connector: no webhook with a configured secret is refused, and scoring goes on', async () => {
  mount({ password: 'wrong-password', keys: OLD });
  const env = {
    FLOWS: 'scoring,sync,reviews',
    SERVICE_PASSWORD: '',
    SERVICE_PASSWORD_FILE: file('password'),
    WEBHOOK_SECRETS: '',
    WEBHOOK_SECRETS_FILE: file('keys'),
  };
  const password = 'right-password';
  // A configuration cannot be read in this process: the paths are the connector's alone.
  const given = { SERVICE_PASSWORD: password, WEBHOOK_SECRETS: OLD, FLOWS: env.FLOWS };
  world = await PaymentWorld.open({ ...inject('kafka'), env: given, service: { password, webhookSecret: OLD } });
  const connector = await (await world.start(env)).ready();
  const payments = somePayments(40);
  const { created } = recordsOf(payments);
  const scored = (): number => world.service.ledger().summary().transactions;

  // The password is wrong at first: refused, and the next try would be half a minute away.
  await world.send(world.topics.created, ...created.slice(0, 20));
  await eventually('the login is refused', () => connector.said('login').some(({ result }) => result === 'refused'));
  const statuses: number[] = [await post(connector, OLD, 'r-0')];
  const changedAtMs = performance.now();
  mount({ password: `${password}\n`, keys: `${NEW}\n${OLD}\n` });
  await eventually('both secrets were read again', () => connector.said('secret_reloaded').length === 2);
  for (const secret of [OLD, NEW, OLD, NEW])
    statuses.push(await post(connector, secret, `r-${String(statuses.length)}`));
  await eventually('payments are scored', () => scored() === 20);
  expect(performance.now() - changedAtMs).toBeLessThan(25_000);

  // A file that is no good changes nothing.
  mount({ password: '', keys: 'a\u0007b' });
  await eventually('that is told', () => connector.said('secret_reload_failed').length === 2);
  statuses.push(await post(connector, NEW, 'r-bad'));
  await world.send(world.topics.created, ...created.slice(20));
  await eventually('payments are scored on', () => scored() === 40);

  // The old secret goes at last.
  mount({ password, keys: NEW });
  await eventually('the old one is refused', async () => (await post(connector, OLD, 'r-old')) === 401);
  statuses.push(await post(connector, NEW, 'r-new'));
  expect(statuses).toEqual(statuses.map(() => 200));
  expect(connector.output).not.toContain(NEW);
  expect(connector.output).not.toContain(password);
  expect(await connector.stop()).toMatchObject({ code: 0 });
});
