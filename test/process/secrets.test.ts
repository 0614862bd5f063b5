import { afterEach, expect, inject, test } from 'vitest';
import { type ConnectorProcess } from '../support/connector-process.ts';
import { eventually } from '../support/eventually.ts';
import { PaymentWorld, recordsOf, somePayments } from '../support/payment-world.ts';
import { reviewBody, sign } from '../support/webhooks.ts';

/** Session tokens of the sandbox are JWTs, and all begin so. */
const TOKEN = Buffer.from('{"alg":"HS256","typ":"JWT"}').toString('base64url');
const PASSWORD = 'canarypassword0123456789';
/** A card number that the brand publishes for tests. */
const PAN = '4012888888881881';
const WEBHOOK_SECRET = 'canary-webhook-secret-0123456789';
const payments = somePayments(60);

let world: PaymentWorld;
afterEach(async () => {
  await world.close();
});

/** Header values as text, which JSON would write as lists of bytes. */
const asText = (_name: string, value: unknown): unknown =>
  typeof value === 'object' && value !== null && 'data' in value
    ? Buffer.from(value.data as number[]).toString()
    : value;

/** Everything it shows to operators. */
async function shown(connector: ConnectorProcess): Promise<Readonly<Record<string, string>>> {
  const page = await fetch(`${connector.opsUrl}/status`, { headers: { accept: 'text/html' } });
  return {
    log: connector.output,
    status: await connector.text('/status'),
    page: await page.text(),
    metrics: await connector.text('/metrics'),
  };
}

test('no password, token, webhook secret, e-mail address or card number is in any line, status or metric, whatever goes wrong', async () => {
  const service = { password: PASSWORD, webhookSecret: WEBHOOK_SECRET };
  const env = { FLOWS: 'scoring,sync,reviews', LOG_LEVEL: 'debug' };
  world = await PaymentWorld.open({ ...inject('kafka'), env, service });
  const { created, authorized } = world.topics;
  const letters = await world.read(world.letters(created), world.letters(authorized));
  const connector = await (await world.start()).ready();
  const { created: good, authorized: statuses } = recordsOf(payments);
  const emails = payments.map((payment) => String(payment.created['cust_email']));
  const ids = payments.map(({ transId }) => transId);

  // What fails in each way must not tell of what it failed on.
  world.service.faults.set({
    status: { code: 503, share: 0.3 },
    resetShare: 0.1,
    loginStatus: 500,
    expireTokens: true,
  });
  await world.send(created, ...good);
  await world.send(authorized, ...statuses);
  await eventually('logins fail', () => world.service.ledger().summary().refusedLogins > 0);
  world.service.faults.set({ expireTokens: true });
  const [email = ''] = emails;
  await world.send(
    created,
    { value: { cust_email: email } },
    { value: `{"cust_email":"${email}"` },
    { value: `"${email}"` },
    { key: PAN, value: { trans_id: 'card', note: PAN }, headers: { note: PAN } },
    { key: PAN, value: { trans_id: 'card', cards: { [PAN]: { cvv: '123' } } } },
    { key: PAN, value: `{"note":"${PAN}"`, headers: { note: PAN } },
  );
  await world.send(
    authorized,
    { value: { trans_id: ids[0], status: email, ts: email } },
    { key: PAN, value: { trans_id: ids[0], status: 'declined', issuer_decline_reason: `stolen ${PAN}` } },
  );
  const body = reviewBody({ trans_id: ids[0], decision: email });
  const timestamp = new Date().toISOString();
  for (const secret of ['not-the-secret-0123456789', WEBHOOK_SECRET])
    await fetch(connector.webhookUrl, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'X-ServiceWebhook-Signature': sign(body, timestamp, secret),
        'X-ServiceWebhook-Timestamp': timestamp,
      },
      body: new Uint8Array(body),
    });
  await eventually('everything is scored and linked', () => {
    const { transactionsWithStatus } = world.service.ledger().summary();
    return transactionsWithStatus === payments.length;
  });
  await eventually('what is bad has become letters', () => letters.records.length === 8);

  const before = await shown(connector);
  connector.signal('SIGTERM');
  expect(await connector.ended).toMatchObject({ code: 0 });
  const basic = Buffer.from(`${world.service.user}:${PASSWORD}`).toString('base64');
  const texts = Object.entries({ ...before, logAtTheEnd: connector.output });
  expect(texts.filter(([, text]) => text.length < 500)).toEqual([]);
  const secrets = [PASSWORD, basic, TOKEN, WEBHOOK_SECRET, PAN, ...emails, ...ids];
  const leaks = texts.flatMap(([where, text]) =>
    secrets.filter((secret) => text.includes(secret)).map((secret) => `${secret} in ${where}`),
  );
  expect(leaks).toEqual([]);
  for (const letter of letters.records) {
    const { key, headers } = letter;
    // Of a card number nothing is there at all, also not in what is the record's own.
    expect(`${String(key)} ${String(letter.value)} ${JSON.stringify(headers, asText)}`).not.toContain(PAN);
    const own = Object.entries(headers).filter(([name]) => name.startsWith('dlq.'));
    expect(JSON.stringify(own.map(([, value]) => String(value)))).not.toContain(email);
  }
});
