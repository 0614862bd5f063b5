import { createHmac } from 'node:crypto';
import { expect, test } from 'vitest';
import { signWebhook } from '../../../../src/sandbox/service/signature.ts';
import {
  NO_WEBHOOK_FAULTS,
  type WebhookFaults,
  webhookRequest,
} from '../../../../src/sandbox/service/webhook-faults.ts';

const secret = 'a-secret-of-enough-bytes-for-tests';
const body = Buffer.from('{"type":"txn_manual_review","data":{}}');
const nowMs = Date.UTC(2026, 2, 1, 9, 30);

function requestWith(faults: Partial<WebhookFaults>, drawn = 0) {
  const request = webhookRequest({ secret, nowMs, body }, { ...NO_WEBHOOK_FAULTS, ...faults }, () => drawn);
  const timestamp = request.headers['x-servicewebhook-timestamp'];
  const signature = request.headers['x-servicewebhook-signature'];
  return { timestamp, signature, body: request.body, right: signWebhook(secret, timestamp ?? '', request.body) };
}

test('without faults: RFC 3339, hexadecimal', () => {
  const { timestamp, signature, right } = requestWith({});
  expect(timestamp).toBe('2026-03-01T09:30:00Z');
  expect(signature).toBe(right);
});

test.each([
  ['unix', '1772357400'],
  ['unix_ms', '1772357400000'],
  ['stale', '2026-03-01T09:20:00Z'],
  ['future', '2026-03-01T09:40:00Z'],
  ['garbage', 'a moment ago'],
] as const)('a timestamp that is %s is signed', (form, expected) => {
  const { timestamp, signature, right } = requestWith({ timestamp: form });
  expect(timestamp).toBe(expected);
  expect(signature).toBe(right);
});

test('the signature in its other readings', () => {
  const { right } = requestWith({});
  expect(requestWith({ signature: 'upper_hex' }).signature).toBe(right.toUpperCase());
  const base64 = createHmac('sha256', secret).update('2026-03-01T09:30:00Z').update(body).digest('base64');
  expect(requestWith({ signature: 'base64' }).signature).toBe(base64);
});

test('a wrong signature has the right form; so has that of another secret', () => {
  for (const signature of ['wrong', 'other_secret'] as const) {
    const request = requestWith({ signature });
    expect(request.signature).toMatch(/^[0-9a-f]{64}$/u);
    expect(request.signature).not.toBe(request.right);
  }
});

test('headers can be missing', () => {
  expect(requestWith({ signature: 'missing' }).signature).toBeUndefined();
  expect(requestWith({ timestamp: 'missing' }).timestamp).toBeUndefined();
});

test('another body is signed as it is', () => {
  const { body: sent, signature, right } = requestWith({ body: 'not JSON' });
  expect(sent.toString()).toBe('not JSON');
  expect(signature).toBe(right);
});

test('only a share is struck', () => {
  expect(requestWith({ signature: 'missing', share: 0.5 }, 0.4).signature).toBeUndefined();
  expect(requestWith({ signature: 'missing', share: 0.5 }, 0.6).signature).toBeDefined();
});
