import { createHmac } from 'node:crypto';
import { type Draw } from '../../kernel/clock.ts';
import { type Check, isText, numberFrom, objectOf, oneOf, orNull, wholeFrom } from './checks.ts';
import { LONGEST_MS } from './latency.ts';
import { signWebhook } from './signature.ts';
import { formatSeconds } from './timestamp.ts';

const SIGNATURES = ['right', 'upper_hex', 'base64', 'wrong', 'other_secret', 'missing'] as const;
const TIMESTAMPS = ['rfc3339', 'unix', 'unix_ms', 'stale', 'future', 'garbage', 'missing'] as const;

/** What is wrong with webhooks. `base64` and `unix` are the other readings of the two conflicts of the spec (Webhook signature, 3 and 4). */
export interface WebhookFaults {
  /** 0 to 1, drawn for each attempt. */
  readonly share: number;
  /** Before an event's first attempt. */
  readonly delayMs: number;
  /** How often each event is sent. */
  readonly copies: number;
  /** So many events are gathered and sent newest first; what waits longer than a second goes, too. */
  readonly reverse: number;
  readonly signature: (typeof SIGNATURES)[number];
  /** `stale`, `future`: ten minutes off, and signed. */
  readonly timestamp: (typeof TIMESTAMPS)[number];
  /** In place of the event's type. */
  readonly type: string | null;
  /** In place of the review's decision. */
  readonly decision: string | null;
  /** In place of the whole body, and signed. */
  readonly body: string | null;
}

export const NO_WEBHOOK_FAULTS: WebhookFaults = {
  share: 1,
  delayMs: 0,
  copies: 1,
  reverse: 1,
  signature: 'right',
  timestamp: 'rfc3339',
  type: null,
  decision: null,
  body: null,
};

/** Judges webhook faults from outside. */
export const isWebhookFaults: Check = objectOf({
  share: numberFrom(0, 1),
  delayMs: numberFrom(0, LONGEST_MS, 'milliseconds'),
  copies: wholeFrom(1, 100),
  reverse: wholeFrom(1, 1000),
  signature: oneOf(SIGNATURES),
  timestamp: oneOf(TIMESTAMPS),
  type: orNull(isText),
  decision: orNull(isText),
  body: orNull((value, path) => (typeof value === 'string' ? null : `${path} must be a text`)),
});

const TEN_MINUTES_MS = 600_000;

export interface Attempt {
  readonly secret: string;
  readonly nowMs: number;
  readonly body: Buffer;
}

/** What one attempt sends: headers and body, signed as the faults want it. */
export function webhookRequest(
  { secret, nowMs, body: right }: Attempt,
  faults: WebhookFaults,
  draw: Draw,
): { readonly headers: Readonly<Record<string, string>>; readonly body: Buffer } {
  const isStruck = faults.share >= 1 || draw() < faults.share;
  const { signature, timestamp, body: other } = isStruck ? faults : NO_WEBHOOK_FAULTS;
  const body = other === null ? right : Buffer.from(other);
  const time = timestampOf(timestamp, nowMs);
  const headers: Record<string, string> = { 'content-type': 'application/json' };
  const signed = signatureOf(signature, { secret, time: time ?? '', body });
  if (signed !== null) headers['x-servicewebhook-signature'] = signed;
  if (time !== null) headers['x-servicewebhook-timestamp'] = time;
  return { headers, body };
}

function timestampOf(form: WebhookFaults['timestamp'], nowMs: number): string | null {
  switch (form) {
    case 'rfc3339':
      return formatSeconds(nowMs);
    case 'unix':
      return String(Math.floor(nowMs / 1000));
    case 'unix_ms':
      return String(nowMs);
    case 'stale':
      return formatSeconds(nowMs - TEN_MINUTES_MS);
    case 'future':
      return formatSeconds(nowMs + TEN_MINUTES_MS);
    case 'garbage':
      return 'a moment ago';
    case 'missing':
      return null;
  }
}

function signatureOf(
  form: WebhookFaults['signature'],
  { secret, time, body }: { readonly secret: string; readonly time: string; readonly body: Buffer },
): string | null {
  const right = signWebhook(secret, time, body);
  switch (form) {
    case 'right':
      return right;
    case 'upper_hex':
      return right.toUpperCase();
    case 'base64':
      return createHmac('sha256', secret).update(time).update(body).digest('base64');
    case 'wrong':
      return `${right.slice(0, -1)}${right.endsWith('0') ? '1' : '0'}`;
    case 'other_secret':
      return signWebhook(`${secret}-of-another-endpoint`, time, body);
    case 'missing':
      return null;
  }
}
