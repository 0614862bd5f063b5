import { type Cancel, type Clock } from '../kernel/clock.ts';
import { type Emit, type EventFields, type WebhookResult } from '../kernel/emit.ts';
import { hasFailed } from './webhook-counts.ts';

/** After the first failure of a kind: those that come with it are counted into one line. */
const FIRST_AFTER_MS = 5000;
/** Between two lines of a kind. */
const EVERY_MS = 60_000;

interface Kind {
  webhooks: number;
  cancel: Cancel;
}

/**
 * Turns webhooks that were not taken into one event for each reason: 5 s after the first, then at most once a minute, with
 * how many there were since the last one. There are few reasons, so strangers cannot fill the log.
 */
export class WebhookFailures {
  readonly #clock: Clock;
  readonly #emit: Emit;
  /** Reasons that were told, or are about to be, within the last minute. */
  readonly #kinds = new Map<WebhookResult, Kind>();

  constructor(clock: Clock, emit: Emit) {
    this.#clock = clock;
    this.#emit = emit;
  }

  /** Hears events; give it to `fanOut`. */
  readonly hear: Emit = (event, fields) => {
    if (event !== 'webhook') return;
    const { result } = fields as EventFields['webhook'];
    if (hasFailed(result)) this.#count(result);
  };

  /** Tells what was not told yet. */
  stop(): void {
    for (const [result, { webhooks, cancel }] of this.#kinds) {
      cancel();
      if (webhooks > 0) this.#emit('webhooks_failed', { result, webhooks });
    }
    this.#kinds.clear();
  }

  #count(result: WebhookResult): void {
    const kind = this.#kinds.get(result);
    if (kind === undefined) this.#kinds.set(result, { webhooks: 1, cancel: this.#tellIn(FIRST_AFTER_MS, result) });
    else kind.webhooks += 1;
  }

  #tellIn(ms: number, result: WebhookResult): Cancel {
    return this.#clock.after(ms, () => {
      const webhooks = this.#kinds.get(result)?.webhooks ?? 0;
      this.#kinds.delete(result);
      if (webhooks === 0) return;
      this.#kinds.set(result, { webhooks: 0, cancel: this.#tellIn(EVERY_MS, result) });
      this.#emit('webhooks_failed', { result, webhooks });
    });
  }
}
