/** What became of a transaction at the service, told by scoring and remembered by sync (spec: Sync status update, rule 2). */
export type ScoredFact =
  | {
      readonly do: 'scored';
      /** The partition of its created record. */
      readonly partition: number;
      readonly httpStatus: number;
      readonly latencyMs: number;
      /** The payment's `pmt_method`, if it had one. */
      readonly paymentMethod: string | null;
    }
  | { readonly do: 'refused'; readonly partition: number };

export interface ScoredTransactions {
  /** A refusal does not replace a score: the service knows the transaction all the same. */
  note(transId: string, fact: ScoredFact): void;
}
