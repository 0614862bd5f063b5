import { type Cancel, type Clock } from '../../kernel/clock.ts';
import { shareOf } from './chance.ts';
import { type Ledger, type LedgerTransaction } from './ledger.ts';
import { type WebhookSender } from './webhooks.ts';

/** The decisions of a manual review (spec: Webhook event). */
export const REVIEW_DECISIONS: readonly string[] = ['good', 'probably_good', 'suspicious', 'bad'];

/** Of 1: up to where a decision is drawn. */
const UP_TO: readonly (readonly [number, string])[] = [
  [0.5, 'good'],
  [0.7, 'probably_good'],
  [0.85, 'suspicious'],
];

export interface ReviewOptions {
  readonly clock: Clock;
  readonly afterMs: number;
  /** Of the transactions that are not up for review by decision: reviewed all the same, 0 to 1. */
  readonly share: number;
  readonly seed: number;
  readonly ledger: Ledger;
  readonly sender: WebhookSender;
}

/** A review that is to come. */
export interface PendingReview {
  readonly transId: string;
  readonly frgTransId: string;
  readonly dueInMs: number;
}

/** The people behind manual review: some time after scoring they decide, and the decision goes out as a webhook. */
export class Reviews {
  readonly #options: ReviewOptions;
  readonly #pending = new Map<string, { readonly cancel: Cancel; readonly dueMs: number }>();

  constructor(options: ReviewOptions) {
    this.#options = options;
  }

  /** A transaction was scored; only its first scoring can lead to a review. */
  scored(transaction: LedgerTransaction): void {
    const { share, seed, clock, afterMs } = this.#options;
    const { transId } = transaction;
    if (transaction.scored > 1 || this.#pending.has(transId)) return;
    if (transaction.decision !== 2 && (share === 0 || shareOf(transId, seed) >= share)) return;
    const cancel = clock.after(afterMs, () => {
      this.decide(transId);
    });
    this.#pending.set(transId, { cancel, dueMs: clock.monotonicMs() + afterMs });
  }

  /** Decides now: as told, else as drawn by the id. False: this transaction was never scored. */
  decide(transId: string, told?: string): boolean {
    const { ledger, sender, seed } = this.#options;
    this.#pending.get(transId)?.cancel();
    this.#pending.delete(transId);
    const transaction = ledger.transaction(transId);
    if (transaction === null || transaction.scored === 0) return false;
    const drawn = shareOf(transId, seed + 1);
    const decision = told ?? UP_TO.find(([upTo]) => drawn < upTo)?.[1] ?? 'bad';
    ledger.reviewed(transId);
    sender.send({ frgTransId: transaction.frgTransId, transId, decision });
    return true;
  }

  /** How many reviews are to come. */
  get pending(): number {
    return this.#pending.size;
  }

  /** The first of them, oldest scoring first. */
  toCome(max: number): readonly PendingReview[] {
    const { clock, ledger } = this.#options;
    const nowMs = clock.monotonicMs();
    return Array.from(this.#pending, ([transId, { dueMs }]) => ({
      transId,
      frgTransId: ledger.transaction(transId)?.frgTransId ?? '',
      dueInMs: Math.max(0, Math.round(dueMs - nowMs)),
    })).slice(0, max);
  }

  /** Forgets the reviews that are to come. */
  reset(): void {
    for (const { cancel } of this.#pending.values()) cancel();
    this.#pending.clear();
  }
}
