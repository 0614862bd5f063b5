import { mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { type MadeCertificate, selfSigned } from '../support/certificates.ts';
import { type ConnectorProcess, type Environment } from '../support/connector-process.ts';
import { eventually } from '../support/eventually.ts';
import { PaymentWorld } from '../support/payment-world.ts';
import { reviewBody, sign } from '../support/webhooks.ts';

// Of authorities that have the same name a client would try only one.
const FIRST = selfSigned({ name: 'first.example' });
const SECOND = selfSigned({ name: 'second.example' });

let folder: string;
let world: PaymentWorld;
let env: Environment;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'webhook-tls-'));
  const file = (name: string): string => join(folder, 'now', name);
  env = { WEBHOOK_TLS_CERT_FILE: file('tls.crt'), WEBHOOK_TLS_KEY_FILE: file('tls.key') };
  world = await PaymentWorld.open({ ...inject('kafka'), env: { FLOWS: 'reviews' } });
});
afterAll(async () => {
  await world.close();
  rmSync(folder, { recursive: true });
});

/** As a mounted volume changes: a folder beside, and a link that is swapped. */
function mount({ certificate, key }: MadeCertificate): void {
  const next = mkdtempSync(join(folder, 'data-'));
  writeFileSync(join(next, 'tls.crt'), certificate);
  writeFileSync(join(next, 'tls.key'), key);
  symlinkSync(next, join(folder, 'next'));
  renameSync(join(folder, 'next'), join(folder, 'now'));
}

/** The status of a webhook sent to a server that shows one of these certificates, or the code of what went wrong. */
async function post(connector: ConnectorProcess, trusted: readonly MadeCertificate[]): Promise<number | string> {
  const body = reviewBody({ trans_id: `tls-${String(performance.now())}` });
  const timestamp = new Date().toISOString();
  return await new Promise((resolve) => {
    const sending = request(
      connector.webhookUrl.replace('http:', 'https:'),
      {
        method: 'POST',
        agent: false,
        ca: trusted.map(({ certificate }) => certificate),
        headers: {
          'content-type': 'application/json',
          'X-ServiceWebhook-Signature': sign(body, timestamp, world.service.webhookSecret),
          'X-ServiceWebhook-Timestamp': timestamp,
        },
      },
      (answer) => {
        answer.resume();
        resolve(answer.statusCode ?? 0);
      },
    );
    sending.on('error', (error) => {
      resolve('code' in error ? String(error.code) : error.message);
    });
    sending.end(body);
  });
}

test('a pair that is no good is said at the start, by the names of its options, and nothing is opened', async () => {
  mount({ certificate: FIRST.certificate, key: SECOND.key });
  const connector = await world.start(env);
  expect(await connector.ended).toMatchObject({ code: 2 });
  expect(connector.output).toContain('WEBHOOK_TLS_CERT_FILE and WEBHOOK_TLS_KEY_FILE: the key does not belong');
  expect(connector.output).not.toContain('-----BEGIN');
});

test('certificates change under a running connector, a bad one changes nothing, and no webhook is refused meanwhile', async () => {
  mount(FIRST);
  const connector = await (await world.start(env)).ready();
  const seen: (number | string)[] = [];
  const trader = { isOn: true };
  const traffic = (async (): Promise<void> => {
    while (trader.isOn) seen.push(await post(connector, [FIRST, SECOND]));
  })();
  await eventually('webhooks are taken', () => seen.length > 5);
  expect(await post(connector, [SECOND])).not.toBe(200);

  mount({ certificate: SECOND.certificate, key: FIRST.key });
  await eventually('that it does not fit is told', () => connector.said('secret_reload_failed').length === 1);
  expect(await post(connector, [FIRST])).toBe(200);

  mount(SECOND);
  await eventually('the new one is shown', async () => (await post(connector, [SECOND])) === 200);
  const after = seen.length;
  await eventually('webhooks are taken on', () => seen.length > after + 5);
  trader.isOn = false;
  await traffic;
  expect(new Set(seen)).toEqual(new Set([200]));
  expect(connector.said('secret_reload_failed')).toHaveLength(1);
  expect(connector.output).not.toContain('-----BEGIN');
  expect(await connector.stop()).toMatchObject({ code: 0 });
});
