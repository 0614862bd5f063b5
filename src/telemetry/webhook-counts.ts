import { type WebhookResult } from '../kernel/emit.ts';
import { type ReviewsReport } from './ports.ts';

/** Results that were answered 200. */
const ACCEPTED = ['published', 'duplicate', 'parked'] as const satisfies readonly WebhookResult[];
/** Results that the sender repeats by itself, though nothing is wrong with the webhook. */
const UNAVAILABLE = 'unavailable' satisfies WebhookResult;

/** Whether a webhook with this result was not taken. */
export function hasFailed(result: WebhookResult): boolean {
  return !ACCEPTED.some((accepted) => accepted === result);
}

/** Counts webhooks by what became of them. */
export class WebhookCounts {
  readonly #counts = new Map<WebhookResult, number>();

  count({ result }: { readonly result: WebhookResult }): void {
    this.#counts.set(result, this.#of(result) + 1);
  }

  report(): Omit<ReviewsReport, 'ready'> {
    const [published, duplicate, parked] = [this.#of('published'), this.#of('duplicate'), this.#of('parked')];
    const refused = [...this.#counts].filter(([result]) => hasFailed(result) && result !== UNAVAILABLE);
    return {
      accepted: published + duplicate + parked,
      published,
      duplicate,
      parked,
      unavailable: this.#of(UNAVAILABLE),
      refused: Object.fromEntries(refused),
    };
  }

  #of(result: WebhookResult): number {
    return this.#counts.get(result) ?? 0;
  }
}
