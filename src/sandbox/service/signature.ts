import { createHmac } from 'node:crypto';

/**
 * The signature of a webhook: HMAC-SHA256 keyed with the bytes of the secret as it is shown, over the timestamp's bytes
 * and then the body's, in hexadecimal (spec: Webhook signature).
 */
export function signWebhook(secret: string, timestamp: string, body: Buffer): string {
  return createHmac('sha256', secret).update(timestamp).update(body).digest('hex');
}
