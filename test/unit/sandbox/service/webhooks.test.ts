import { describe, expect, test } from 'vitest';
import { ActivityLog } from '../../../../src/sandbox/service/activity.ts';
import { seededDraw } from '../../../../src/sandbox/service/chance.ts';
import { Ledger } from '../../../../src/sandbox/service/ledger.ts';
import { Reviews } from '../../../../src/sandbox/service/reviews.ts';
import { signWebhook } from '../../../../src/sandbox/service/signature.ts';
import { retryDelayMs, WebhookSender } from '../../../../src/sandbox/service/webhooks.ts';
import { NO_WEBHOOK_FAULTS, type WebhookFaults } from '../../../../src/sandbox/service/webhook-faults.ts';
import { ManualClock, settled } from '../../../support/manual-clock.ts';

const URL = 'http://127.0.0.1:1/webhooks';
const SECRET = 'a-secret-of-enough-bytes-for-tests';

interface Sent {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

function setUp(answers: (attempt: number) => number | null, speed = 1) {
  const clock = new ManualClock();
  const ledger = new Ledger('frg-');
  const activity = new ActivityLog();
  const sent: Sent[] = [];
  const post = async (url: string, headers: Readonly<Record<string, string>>, body: Buffer) => {
    sent.push({ url, headers, body });
    return await Promise.resolve(answers(sent.length));
  };
  const draw = seededDraw(1);
  let inForce: WebhookFaults = NO_WEBHOOK_FAULTS;
  const fail = (faults: Partial<WebhookFaults>): void => {
    inForce = { ...NO_WEBHOOK_FAULTS, ...faults };
  };
  const faults = (): WebhookFaults => inForce;
  const sender = new WebhookSender({ secret: SECRET, speed, clock, post, ledger, activity, faults, draw });
  sender.setUrl(URL);
  const reviews = new Reviews({ clock, afterMs: 2_000, share: 0, seed: 1, ledger, sender });
  const score = (transId: string, decision: number): void => {
    const open = ledger.scoreStarted(transId, null, null);
    reviews.scored(ledger.scored(open, decision));
    ledger.ended(open);
  };
  const pass = async (ms: number): Promise<void> => {
    clock.advance(ms);
    await settled();
  };
  return { clock, ledger, activity, sent, sender, reviews, score, pass, fail };
}

test('eight retries from five seconds on come to about four and a half days', () => {
  const delays = Array.from({ length: 8 }, (_, retry) => retryDelayMs(retry, 1));
  expect(delays[0]).toBe(5_000);
  expect(delays.reduce((sum, delay) => sum + delay, 0) / 86_400_000).toBeCloseTo(4.5, 1);
});

describe('delivery', () => {
  test('gives up after eight retries', async () => {
    const { sent, score, pass, activity, ledger, clock } = setUp(() => 503, 1_000);
    score('t-1', 2);
    await pass(2_000);
    for (let step = 0; step < 8; step += 1) await pass(400_000);
    expect(sent).toHaveLength(9);
    expect(clock.pending).toBe(0);
    expect(activity.list()).toMatchObject([{ status: 'failed', attempts: 9, httpStatus: 503 }]);
    expect(ledger.summary()).toMatchObject({ webhooksFailed: 1, webhookAttempts: 9, webhooksDelivered: 0 });
  });

  test.each([204, 202, 301, 400, null])('%s is no delivery', async (status) => {
    const { score, pass, activity } = setUp(() => status);
    score('t-1', 2);
    await pass(2_000);
    expect(activity.list()).toMatchObject([{ status: 'retrying', httpStatus: status }]);
  });

  test('200 ends it', async () => {
    const { sent, score, pass, activity, ledger, clock } = setUp((attempt) => (attempt < 3 ? 500 : 200));
    score('t-1', 2);
    await pass(2_000);
    await pass(5_000);
    await pass(25_000);
    expect(sent).toHaveLength(3);
    expect(clock.pending).toBe(0);
    expect(activity.list({ status: 'delivered' })).toMatchObject([{ attempts: 3, httpStatus: 200 }]);
    expect(ledger.transaction('t-1')).toMatchObject({ reviews: 1, webhooksDelivered: 1 });
  });

  test('each attempt has its own timestamp and signature over the same body', async () => {
    const { sent, score, pass } = setUp(() => 500);
    score('t-1', 2);
    await pass(2_000);
    await pass(5_000);
    const [first, second] = sent;
    expect(first?.headers['x-servicewebhook-timestamp']).toBe('2026-01-01T00:00:02Z');
    expect(second?.headers['x-servicewebhook-timestamp']).toBe('2026-01-01T00:00:07Z');
    expect(second?.body).toEqual(first?.body);
    for (const { headers, body } of sent) {
      expect(headers['x-servicewebhook-signature']).toBe(
        signWebhook(SECRET, headers['x-servicewebhook-timestamp'] ?? '', body),
      );
    }
  });

  test('the body is the event of the spec', async () => {
    const { sent, score, pass, ledger } = setUp(() => 200);
    score('t-1', 2);
    await pass(2_000);
    expect(JSON.parse(sent[0]?.body.toString() ?? '')).toEqual({
      type: 'txn_manual_review',
      data: {
        frg_trans_id: ledger.transaction('t-1')?.frgTransId,
        trans_id: 't-1',
        decision: expect.stringMatching(/^(good|probably_good|suspicious|bad)$/u) as unknown,
        reviewed_at: '2026-01-01T00:00:02Z',
      },
    });
  });

  test('without a URL nothing is sent, and the log says so', async () => {
    const { sent, score, pass, activity, sender } = setUp(() => 200);
    sender.setUrl(null);
    score('t-1', 2);
    await pass(2_000);
    expect(sent).toEqual([]);
    expect(activity.list()).toMatchObject([{ status: 'not_sent', attempts: 0 }]);
  });

  test('a reset forgets what waits', async () => {
    const { score, pass, sender, reviews, clock } = setUp(() => 500);
    score('t-1', 2);
    await pass(2_000);
    score('t-2', 2);
    sender.reset();
    reviews.reset();
    expect(clock.pending).toBe(0);
  });
});

const bodies = (sent: readonly Sent[]): string[] => sent.map(({ body }) => body.toString());

describe('faults of webhooks', () => {
  test('each event in several copies, each with an entry of its own', async () => {
    const { sent, score, pass, activity, fail } = setUp(() => 200);
    fail({ copies: 3 });
    score('t-1', 2);
    await pass(2_000);
    expect(new Set(bodies(sent)).size).toBe(1);
    expect(sent).toHaveLength(3);
    expect(activity.list({ status: 'delivered' })).toHaveLength(3);
  });

  test('late, and the log says when', async () => {
    const { sent, score, pass, activity, fail, clock } = setUp(() => 200);
    fail({ delayMs: 7_000 });
    score('t-1', 2);
    await pass(2_000);
    expect(sent).toEqual([]);
    expect(activity.list()).toMatchObject([{ status: 'pending', nextAttemptAt: clock.nowMs() + 7_000 }]);
    await pass(7_000);
    expect(activity.list()).toMatchObject([{ status: 'delivered', nextAttemptAt: null }]);
  });

  test('out of order: gathered and sent newest first, the rest after a second', async () => {
    const { sent, reviews, score, pass, fail } = setUp(() => 200);
    fail({ reverse: 3 });
    const decide = (transId: string): void => {
      score(transId, 1);
      reviews.decide(transId, 'good');
    };
    for (const transId of ['t-1', 't-2', 't-3', 't-4']) decide(transId);
    await pass(0);
    expect(bodies(sent).map((body) => /t-\d/u.exec(body)?.[0])).toEqual(['t-3', 't-2', 't-1']);
    await pass(1_000);
    expect(bodies(sent).at(-1)).toContain('t-4');
  });

  test('an unknown type and an unknown decision', async () => {
    const { sent, score, pass, fail, activity } = setUp(() => 200);
    fail({ type: 'txn_new', decision: 'splendid' });
    score('t-1', 2);
    await pass(2_000);
    expect(JSON.parse(bodies(sent)[0] ?? '')).toMatchObject({ type: 'txn_new', data: { decision: 'splendid' } });
    expect(activity.list({ type: 'txn_new' })).toHaveLength(1);
  });

  test('a retry is as the faults are then', async () => {
    const { sent, score, pass, fail } = setUp((attempt) => (attempt === 1 ? 401 : 200));
    fail({ signature: 'wrong' });
    score('t-1', 2);
    await pass(2_000);
    fail({});
    await pass(5_000);
    const rights = sent.map(
      ({ headers, body }) =>
        headers['x-servicewebhook-signature'] ===
        signWebhook(SECRET, headers['x-servicewebhook-timestamp'] ?? '', body),
    );
    expect(rights).toEqual([false, true]);
  });

  test('a new secret signs what is sent from then on', async () => {
    const { sent, score, pass, sender } = setUp(() => 200);
    sender.setSecret('the-next-secret');
    score('t-1', 2);
    await pass(2_000);
    const [{ headers, body } = { headers: {}, body: Buffer.of() }] = sent;
    const timestamp = (headers as Record<string, string>)['x-servicewebhook-timestamp'] ?? '';
    expect((headers as Record<string, string>)['x-servicewebhook-signature']).toBe(
      signWebhook('the-next-secret', timestamp, body),
    );
  });
});

describe('reviews', () => {
  test('only manual review leads to one, once, at its first scoring', async () => {
    const { score, pass, sent } = setUp(() => 200);
    for (const decision of [0, 1, 3]) score(`t-${decision}`, decision);
    score('t-2', 2);
    score('t-2', 2);
    await pass(2_000);
    score('t-2', 2);
    await pass(2_000);
    expect(sent).toHaveLength(1);
  });

  test('a decision told comes at once, and in place of the one to come', async () => {
    const { score, pass, sent, reviews } = setUp(() => 200);
    score('t-2', 2);
    expect(reviews.decide('t-2', 'bad')).toBe(true);
    await pass(10_000);
    expect(sent).toHaveLength(1);
    expect(sent[0]?.body.toString()).toContain('"decision":"bad"');
    expect(reviews.decide('t-unknown')).toBe(false);
  });
});

test('the activity log is filtered by status, type and time', () => {
  const log = new ActivityLog();
  const times = { lastAttemptAt: 1, nextAttemptAt: null };
  const entry = { type: 'txn_manual_review', transId: 't', attempts: 1, httpStatus: 200, ...times };
  log.add({ ...entry, at: 1_000, status: 'delivered' });
  log.add({ ...entry, at: 2_000, status: 'failed' });
  expect(log.list({ status: 'failed' })).toHaveLength(1);
  expect(log.list({ type: 'other' })).toHaveLength(0);
  expect(log.list({ fromMs: 1_000, toMs: 2_000 })).toMatchObject([{ status: 'delivered' }]);
  for (let index = 0; index < 30_000; index += 1) log.add({ ...entry, at: index, status: 'delivered' });
  expect(log.list().length).toBeLessThan(20_000);
});
