import { type LedgerSummary } from '../../sandbox/service/ledger.ts';
import { type ConnectorCounts, type ConnectorStatus } from './connector-report.ts';
import { type Quantiles } from './latencies.ts';

/** What is known of one moment. Counts are since the start. */
export interface Moment {
  /** Whole seconds since the shops opened. */
  readonly second: number;
  /** Payments that Kafka has acknowledged. */
  readonly created: number;
  /** Statuses that Kafka has acknowledged. */
  readonly authorized: number;
  /** Records not committed yet; null: the connector does not answer, or owns no partition. */
  readonly lag: number | null;
  readonly lagByTopic: Readonly<Record<string, number>> | null;
  readonly decisions: Decisions;
  readonly ledger: LedgerSummary;
  /** Different reviews found in their topic. */
  readonly published: number;
  /** Score records found in their topic, repeated ones too. */
  readonly scores: number;
  /** From a payment's write to the timestamp of its score record, in the last minute; null: there was none. */
  readonly latencyMs: Quantiles | null;
  readonly counts: ConnectorCounts;
  /** Records written that are no payments, and records found in dead-letter topics. */
  readonly poison: number;
  readonly letters: number;
  readonly doubled: number;
  readonly outOfOrder: number;
  readonly connector: {
    /** Null while none runs. */
    readonly pid: number | null;
    readonly kills: number;
    /** Null: it does not answer. */
    readonly phase: ConnectorStatus['phase'] | null;
  };
  readonly holds: ConnectorStatus['holds'];
  readonly gates: ConnectorStatus['gates'];
}

/** How many transactions were answered with each decision. */
export type Decisions = Readonly<Record<'decline' | 'approve' | 'manual_review' | 'custom', number>>;

/** What was written and is not seen at its end yet: payments not scored, statuses not linked, reviews not published. */
export function onItsWay({ created, authorized, ledger, published }: Moment): number {
  return (
    open(created, ledger.transactions) +
    open(authorized, ledger.transactionsWithStatus) +
    open(ledger.reviews, published)
  );
}

/** Never below zero: the two are not read at one instant. */
function open(written: number, done: number): number {
  return Math.max(0, written - done);
}
