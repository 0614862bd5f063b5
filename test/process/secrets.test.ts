import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, inject, test } from 'vitest';
import { type ConnectorProcess } from '../support/connector-process.ts';
import { eventually } from '../support/eventually.ts';
import { PaymentWorld, recordsOf, somePayments } from '../support/payment-world.ts';
import { type RelayedRequest, ServiceRelay } from '../support/service-relay.ts';
import { type TopicLog } from '../support/topic-log.ts';
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
  await eventually('what is bad has become letters', () => letters.records.length >= 8);
  expect(letters.records).toHaveLength(8);

  await expectNothingShown(connector, [...emails, ...ids]);
  expectLettersWithout(letters, email);
});

/** The connector, asked to stop, has shown none of these, nor a secret, up to its last line. */
async function expectNothingShown(connector: ConnectorProcess, told: readonly string[]): Promise<void> {
  const before = await shown(connector);
  connector.signal('SIGTERM');
  expect(await connector.ended).toMatchObject({ code: 0 });
  const basic = Buffer.from(`${world.service.user}:${PASSWORD}`).toString('base64');
  const texts = Object.entries({ ...before, logAtTheEnd: connector.output });
  expect(texts.filter(([, text]) => text.length < 500)).toEqual([]);
  const secrets = [PASSWORD, basic, TOKEN, WEBHOOK_SECRET, PAN, ...told];
  const leaks = texts.flatMap(([where, text]) =>
    secrets.filter((secret) => text.includes(secret)).map((secret) => `${secret} in ${where}`),
  );
  expect(leaks).toEqual([]);
}

function expectLettersWithout(letters: TopicLog, email: string): void {
  for (const letter of letters.records) {
    const { key, headers } = letter;
    // Of a card number nothing is there at all, also not in what is the record's own.
    expect(`${String(key)} ${String(letter.value)} ${JSON.stringify(headers, asText)}`).not.toContain(PAN);
    const own = JSON.stringify(
      Object.entries(headers).flatMap(([name, v]) => (name.startsWith('dlq.') ? String(v) : [])),
    );
    expect([email, TOKEN].filter((secret) => own.includes(secret))).toEqual([]);
  }
}

/** Answers that quote all they can: about what is good once, about what is bad each time. */
function quoting(email: string): ServiceRelay['answer'] {
  const left = new Set(['POST login', 'POST "quoted-200"', 'POST "quoted-page"', 'PATCH "quoted-batch-200"']);
  return ({ path, method, headers, body }: RelayedRequest) => {
    const words = `${headers.authorization ?? ''} of ${email}, card ${PAN}: ${body.slice(0, 200)}`;
    const error = JSON.stringify({ error_msg: words });
    const about = path.endsWith('/sessions') ? 'login' : (/"quoted-[^"]*"/.exec(body)?.[0] ?? '');
    const isFirst = left.delete(`${method} ${about}`);
    switch (`${method} ${about}`) {
      case 'POST login':
        return isFirst ? { status: 500, body: error } : null;
      case 'POST "quoted-page"':
        return isFirst ? { status: 403, body: `<html>${words}</html>` } : null;
      case 'POST "quoted-score"':
        return { status: 400, body: error };
      case 'PATCH "quoted-batch"':
        return { status: 422, body: error };
      case 'PATCH "quoted-update"':
        return { status: 200, body: JSON.stringify({ 'quoted-update': { ok: false, error_msg: words } }) };
      default:
        return isFirst ? { status: 200, body: error } : null;
    }
  };
}

test('nor in anything, and in no header of a letter, where the service quotes what it was sent', async () => {
  const env = { LOG_LEVEL: 'debug', SYNC_BATCH_MAX_AGE_MS: '30', DEAD_LETTER_MAX_SHARE: '1' };
  world = await PaymentWorld.open({ ...inject('kafka'), env, service: { password: PASSWORD } });
  const { created, authorized } = world.topics;
  const letters = await world.read(world.letters(created), world.letters(authorized));
  const relay = await ServiceRelay.open(world.service.baseUrl);
  try {
    const email = 'quoted.person@example.com';
    relay.answer = quoting(email);
    const connector = await (await world.start({ SERVICE_BASE_URL: relay.url })).ready();
    const ids = ['quoted-200', 'quoted-page', 'quoted-score', 'quoted-update', 'quoted-batch', 'quoted-batch-200'];
    await world.send(created, ...ids.map((id) => ({ key: id, value: { trans_id: id, cust_email: email } })));
    const scored = ids.filter((id) => id !== 'quoted-score');
    await eventually('they are scored', () =>
      scored.every((id) => world.service.ledger().transaction(id)?.scored === 1),
    );
    const report = async (id: string): Promise<void> => {
      await world.send(authorized, { key: id, value: { trans_id: id, status: 'error', ts: '2026-01-01T10:00:00Z' } });
    };
    let updates = 0;
    for (const id of ids) {
      await report(id);
      updates += 1;
      await eventually('all that was sent has ended', async () => {
        await sleep(1000);
        const counts = Object.values((await connector.flow('sync'))?.outcomes ?? {});
        if (counts.reduce((sum, count) => sum + count, 0) === updates) return true;
        // What is refused ends once another update was accepted.
        await report(`calm-${String(updates)}`);
        updates += 1;
        return false;
      });
    }
    await eventually('the letters are read', () => letters.records.length >= 4);
    const reasons = letters.records.map(({ headers }) => String(headers['dlq.reason']));
    expect(reasons.toSorted()).toEqual(['rejected_by_service', 'status_400', 'status_422', 'transaction_not_scored']);
    const quotes = letters.records.filter(({ headers }) =>
      String(headers['dlq.service_error']).includes('[e-mail], card [digits]'),
    );
    expect(quotes).toHaveLength(3);
    await expectNothingShown(connector, [email, ...ids]);
    expectLettersWithout(letters, email);
  } finally {
    await relay.close();
  }
});
