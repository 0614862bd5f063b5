import { type Cancel, type Clock } from '../../kernel/clock.ts';
import { type ActivityEntry, type ActivityLog } from './activity.ts';
import { type Ledger } from './ledger.ts';
import { signWebhook } from './signature.ts';
import { formatSeconds } from './timestamp.ts';

/** Sends one request; the answer's status, or null when there was none. Never rejects. */
export type PostWebhook = (
  url: string,
  headers: Readonly<Record<string, string>>,
  body: Buffer,
) => Promise<number | null>;

export interface WebhookOptions {
  readonly secret: string;
  /** Retries come this many times sooner. */
  readonly speed: number;
  readonly clock: Clock;
  readonly post: PostWebhook;
  readonly ledger: Ledger;
  readonly activity: ActivityLog;
}

export interface ReviewEvent {
  readonly frgTransId: string;
  readonly transId: string;
  readonly decision: string;
}

const RETRIES = 8;
const FIRST_RETRY_MS = 5_000;
/** Eight retries from 5 s on, each this many times later than the one before, end after about 4.5 days (spec: Limits). */
const RATIO = 4.83;

/** How long after a failed attempt the next one starts, the first retry being number 0. */
export function retryDelayMs(retry: number, speed: number): number {
  return (FIRST_RETRY_MS * RATIO ** retry) / speed;
}

/** Delivers webhook events: signed anew for each attempt, delivered by 200 alone, eight retries, then failed (spec: Webhook event delivery). */
export class WebhookSender {
  readonly #options: WebhookOptions;
  #url: string | null = null;
  readonly #waiting = new Set<Cancel>();
  /** Counts resets: an attempt that ends after one is of no interest. */
  #era = 0;

  constructor(options: WebhookOptions) {
    this.#options = options;
  }

  /** Where events go from now on, those that wait for a retry included; null: nowhere. */
  setUrl(url: string | null): void {
    this.#url = url;
  }

  send(event: ReviewEvent): void {
    const { clock, activity } = this.#options;
    const nowMs = clock.nowMs();
    const type = 'txn_manual_review';
    const data = {
      frg_trans_id: event.frgTransId,
      trans_id: event.transId,
      decision: event.decision,
      reviewed_at: formatSeconds(nowMs),
    };
    const entry: ActivityEntry = {
      type,
      transId: event.transId,
      at: nowMs,
      status: 'pending',
      attempts: 0,
      httpStatus: null,
      lastAttemptAt: null,
    };
    activity.add(entry);
    void this.#attempt(entry, Buffer.from(JSON.stringify({ type, data })));
  }

  /** Forgets what waits for a retry. */
  reset(): void {
    this.#era += 1;
    for (const cancel of this.#waiting) cancel();
    this.#waiting.clear();
  }

  async #attempt(entry: ActivityEntry, body: Buffer): Promise<void> {
    const { clock, secret, post, ledger } = this.#options;
    const url = this.#url;
    if (url === null) {
      entry.status = 'not_sent';
      ledger.count('webhooksNotSent');
      return;
    }
    const era = this.#era;
    const timestamp = formatSeconds(clock.nowMs());
    entry.attempts += 1;
    entry.lastAttemptAt = clock.nowMs();
    ledger.count('webhookAttempts');
    const headers = {
      'content-type': 'application/json',
      'x-servicewebhook-signature': signWebhook(secret, timestamp, body),
      'x-servicewebhook-timestamp': timestamp,
    };
    const status = await post(url, headers, body);
    if (era !== this.#era) return;
    entry.httpStatus = status;
    if (status === 200) {
      entry.status = 'delivered';
      ledger.webhookDelivered(entry.transId);
    } else if (entry.attempts > RETRIES) {
      entry.status = 'failed';
      ledger.count('webhooksFailed');
    } else {
      entry.status = 'retrying';
      this.#retry(entry, body);
    }
  }

  #retry(entry: ActivityEntry, body: Buffer): void {
    const { clock, speed } = this.#options;
    const cancel = clock.after(retryDelayMs(entry.attempts - 1, speed), () => {
      this.#waiting.delete(cancel);
      void this.#attempt(entry, body);
    });
    this.#waiting.add(cancel);
  }
}
