import { createHmac } from 'node:crypto';

export const SECRET = 'whsec-made-up-4f9c2d71e8b3a650';
export const NOW_MS: number = Date.UTC(2026, 0, 1);

/** The data of a review; a test breaks one thing. */
export function reviewData(change: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  return {
    frg_trans_id: 'frg-0001',
    trans_id: 'pay-0001',
    decision: 'good',
    reviewed_at: '2025-12-31T23:59:58.123456Z',
    ...change,
  };
}

export function reviewBody(change: Readonly<Record<string, unknown>> = {}): Buffer {
  return Buffer.from(JSON.stringify({ type: 'txn_manual_review', data: reviewData(change) }));
}

/** As the spec signs: HMAC-SHA256 over the timestamp's bytes, then the body's. */
export function sign(body: Uint8Array, timestamp: string, secret: string = SECRET): string {
  return createHmac('sha256', secret).update(timestamp).update(body).digest('hex');
}

/** The two headers of a webhook sent at `NOW_MS`, as a raw list. */
export function signedHeaders(body: Uint8Array, timestamp = '2026-01-01T00:00:00Z', secret: string = SECRET): string[] {
  return ['X-ServiceWebhook-Signature', sign(body, timestamp, secret), 'X-ServiceWebhook-Timestamp', timestamp];
}
