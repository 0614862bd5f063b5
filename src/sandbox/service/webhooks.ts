import { type Cancel, type Clock, type Draw } from '../../kernel/clock.ts';
import { type ActivityEntry, type ActivityLog } from './activity.ts';
import { type Ledger } from './ledger.ts';
import { formatSeconds } from './timestamp.ts';
import { type WebhookFaults, webhookRequest } from './webhook-faults.ts';

/** Sends one request; the answer's status, or null when there was none. Never rejects. */
export type PostWebhook = (
  url: string,
  headers: Readonly<Record<string, string>>,
  body: Buffer,
) => Promise<number | null>;

export interface WebhookOptions {
  /** Of the endpoint; `setSecret` changes it. */
  readonly secret: string;
  /** Retries come this many times sooner. */
  readonly speed: number;
  readonly clock: Clock;
  readonly post: PostWebhook;
  readonly ledger: Ledger;
  readonly activity: ActivityLog;
  /** Those in force. */
  readonly faults: () => WebhookFaults;
  readonly draw: Draw;
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

/** How long events wait for others to be sent in reverse with. */
const REVERSE_WAIT_MS = 1_000;
const TYPE = 'txn_manual_review';

/** Delivers webhook events: signed anew for each attempt, delivered by 200 alone, eight retries, then failed (spec: Webhook event delivery). */
export class WebhookSender {
  readonly #options: WebhookOptions;
  #url: string | null = null;
  #secret: string;
  readonly #waiting = new Set<Cancel>();
  /** Events that wait to be sent in reverse order. */
  #gathered: (() => void)[] = [];
  /** Counts resets: an attempt that ends after one is of no interest. */
  #era = 0;

  constructor(options: WebhookOptions) {
    this.#options = options;
    this.#secret = options.secret;
  }

  get url(): string | null {
    return this.#url;
  }

  get secret(): string {
    return this.#secret;
  }

  /** Where events go from now on, those that wait for a retry included; null: nowhere. */
  setUrl(url: string | null): void {
    this.#url = url;
  }

  /** What attempts are signed with from now on. */
  setSecret(secret: string): void {
    this.#secret = secret;
  }

  /** One review was decided: one event, in as many copies as the faults want. */
  send(event: ReviewEvent): void {
    const { clock, faults } = this.#options;
    const { copies, delayMs, reverse, type, decision } = faults();
    const data = {
      frg_trans_id: event.frgTransId,
      trans_id: event.transId,
      decision: decision ?? event.decision,
      reviewed_at: formatSeconds(clock.nowMs()),
    };
    const body = Buffer.from(JSON.stringify({ type: type ?? TYPE, data }));
    for (let copy = 0; copy < copies; copy += 1) {
      const entry = this.#enter(event.transId, type ?? TYPE);
      const go = (): void => {
        if (delayMs > 0) this.#later(delayMs, entry, body);
        else void this.#attempt(entry, body);
      };
      if (reverse > 1) this.#gather(go, reverse);
      else go();
    }
  }

  /** Forgets what waits for a retry. */
  reset(): void {
    this.#era += 1;
    for (const cancel of this.#waiting) cancel();
    this.#waiting.clear();
    this.#gathered = [];
  }

  #enter(transId: string, type: string): ActivityEntry {
    const entry: ActivityEntry = {
      type,
      transId,
      at: this.#options.clock.nowMs(),
      status: 'pending',
      attempts: 0,
      httpStatus: null,
      lastAttemptAt: null,
      nextAttemptAt: null,
    };
    this.#options.activity.add(entry);
    return entry;
  }

  #gather(go: () => void, most: number): void {
    this.#gathered.push(go);
    const flush = (): void => {
      const events = this.#gathered.toReversed();
      this.#gathered = [];
      for (const send of events) send();
    };
    if (this.#gathered.length >= most) flush();
    else if (this.#gathered.length === 1) this.#after(REVERSE_WAIT_MS, flush);
  }

  async #attempt(entry: ActivityEntry, body: Buffer): Promise<void> {
    const { clock, post, ledger, faults, draw } = this.#options;
    const url = this.#url;
    entry.nextAttemptAt = null;
    if (url === null) {
      entry.status = 'not_sent';
      ledger.count('webhooksNotSent');
      return;
    }
    const era = this.#era;
    const nowMs = clock.nowMs();
    entry.attempts += 1;
    entry.lastAttemptAt = nowMs;
    ledger.count('webhookAttempts');
    const request = webhookRequest({ secret: this.#secret, nowMs, body }, faults(), draw);
    const status = await post(url, request.headers, request.body);
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
      this.#later(retryDelayMs(entry.attempts - 1, this.#options.speed), entry, body);
    }
  }

  #later(delayMs: number, entry: ActivityEntry, body: Buffer): void {
    entry.nextAttemptAt = this.#options.clock.nowMs() + Math.round(delayMs);
    this.#after(delayMs, () => {
      void this.#attempt(entry, body);
    });
  }

  #after(delayMs: number, task: () => void): void {
    const cancel = this.#options.clock.after(delayMs, () => {
      this.#waiting.delete(cancel);
      task();
    });
    this.#waiting.add(cancel);
  }
}
