import { performance } from 'node:perf_hooks';
import { type Cancel, type Clock, type Draw } from '../../src/kernel/clock.ts';
import { NO_WEBHOOK_FAULTS, webhookRequest } from '../../src/sandbox/service/webhook-faults.ts';
import { type PostWebhook, retryDelayMs } from '../../src/sandbox/service/webhooks.ts';
import { type Letter } from './sightings.ts';

export interface MailParts {
  /** Asked for each attempt. */
  readonly url: () => string;
  readonly secret: string;
  /** The retries of the spec's schedule come this many times sooner. */
  readonly speed: number;
  readonly post: PostWebhook;
  readonly clock: Clock;
  readonly draw: Draw;
}

type Draft = Letter & { answers: (number | null)[]; body: Buffer; isGivenUp: boolean };

const RETRIES = 8;
const BEAT_MS = 50;
const DECISIONS = ['good', 'probably_good', 'suspicious', 'bad'] as const;

/**
 * Sends webhooks as the service does, on the schedule of its description (Webhook event delivery), and keeps what became
 * of each; between them, where asked, such as are signed with a secret of somebody else. Those are sent once.
 */
export class Mail {
  readonly #parts: MailParts;
  readonly #letters: Draft[] = [];
  /** What is to be done later, by what cancels it. */
  readonly #waiting = new Map<Cancel, () => void>();
  #isClosed = false;

  constructor(parts: MailParts) {
    this.#parts = parts;
  }

  get letters(): readonly Letter[] {
    return this.#letters;
  }

  /** Events that were neither accepted nor given up yet. */
  get open(): number {
    return this.#letters.filter(({ isForged, isGivenUp, answers }) => !isForged && !isGivenUp && !answers.includes(200))
      .length;
  }

  /** So many a second for so long; resolves when the last one has left for the first time. */
  async flood(perSecond: number, forMs: number, { forged }: { readonly forged: boolean }): Promise<void> {
    const { clock } = this.#parts;
    const beganMs = clock.monotonicMs();
    let made = 0;
    await new Promise<void>((resolve) => {
      const beat = (): void => {
        const sinceMs = clock.monotonicMs() - beganMs;
        for (const due = Math.floor((Math.min(sinceMs, forMs) / 1000) * perSecond); made < due; made += 1)
          this.send({ isForged: forged && made % 2 === 1 });
        if (sinceMs >= forMs || this.#isClosed) resolve();
        else this.#after(BEAT_MS, beat);
      };
      beat();
    });
  }

  /** One event; its letter, which goes on changing. */
  send({ isForged }: { readonly isForged: boolean }): Letter {
    const number = String(this.#letters.length + 1);
    const id = isForged ? `forged-${number}` : `review-${number}`;
    const data = {
      frg_trans_id: `frg-${id}`,
      trans_id: id,
      decision: DECISIONS[this.#letters.length % DECISIONS.length],
      reviewed_at: new Date(this.#parts.clock.nowMs()).toISOString(),
    };
    const body = Buffer.from(JSON.stringify({ type: 'txn_manual_review', data }));
    const letter: Draft = { id, isForged, atMs: performance.now(), answers: [], body, isGivenUp: false };
    this.#letters.push(letter);
    void this.#attempt(letter);
    return letter;
  }

  /** Lets everything that waits for its next attempt go now: nobody here can wait for hours. */
  hurry(): void {
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const [cancel, task] of waiting) {
      cancel();
      task();
    }
  }

  close(): void {
    this.#isClosed = true;
    for (const cancel of this.#waiting.keys()) cancel();
    this.#waiting.clear();
  }

  async #attempt(letter: Draft): Promise<void> {
    const { secret, clock, draw, post, url, speed } = this.#parts;
    const faults = {
      ...NO_WEBHOOK_FAULTS,
      signature: letter.isForged ? ('other_secret' as const) : ('right' as const),
    };
    const { headers, body } = webhookRequest({ secret, nowMs: clock.nowMs(), body: letter.body }, faults, draw);
    const answer = await post(url(), headers, body);
    letter.answers.push(answer);
    if (answer === 200 || letter.isForged || this.#isClosed) return;
    if (letter.answers.length > RETRIES) letter.isGivenUp = true;
    else this.#after(retryDelayMs(letter.answers.length - 1, speed), () => void this.#attempt(letter));
  }

  #after(delayMs: number, task: () => void): void {
    const cancel = this.#parts.clock.after(delayMs, () => {
      this.#waiting.delete(cancel);
      task();
    });
    this.#waiting.set(cancel, task);
  }
}
