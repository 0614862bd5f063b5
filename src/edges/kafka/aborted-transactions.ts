/** An aborted transaction, as the answer to a fetch lists it. */
export interface AbortedTransaction {
  readonly producerId: bigint;
  readonly firstOffset: bigint;
}

/** What of a batch says whether its records count. */
export interface TransactionalBatch {
  readonly lastOffset: bigint;
  /** Negative: none. */
  readonly producerId: bigint;
  readonly isTransactional: boolean;
  /** Its one record marks the end of a transaction. */
  readonly marker: 'abort' | 'commit' | null;
}

/**
 * Which batches of one fetched partition belong to aborted transactions (KIP-98). A transaction that is listed is open
 * from its first offset until its producer's abort marker. Several may be open at once, one of each producer; brokers
 * list them by their end, not by their beginning. To be asked of every batch, in the order of the log.
 */
export class AbortedTransactions {
  /** Not begun yet, the next one last. */
  readonly #ahead: AbortedTransaction[];
  readonly #open = new Set<bigint>();

  constructor(listed: readonly AbortedTransaction[]) {
    this.#ahead = listed.toSorted((one, other) => (one.firstOffset < other.firstOffset ? 1 : -1));
  }

  /** Whether the records of this batch were aborted. */
  holds({ lastOffset, producerId, isTransactional, marker }: TransactionalBatch): boolean {
    for (
      let next = this.#ahead.at(-1);
      next !== undefined && next.firstOffset <= lastOffset;
      next = this.#ahead.at(-1)
    ) {
      this.#open.add(next.producerId);
      this.#ahead.pop();
    }
    if (marker === 'abort') this.#open.delete(producerId);
    return marker === null && isTransactional && this.#open.has(producerId);
  }
}
