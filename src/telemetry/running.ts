import { type EngineStatus } from '../engine/ports.ts';
import { type Distribution } from '../kernel/bucket-counts.ts';
import { type ExchangeReport } from '../kernel/exchange-counts.ts';
import { type GateReport, type SessionReport } from '../resilience/ports.ts';

/** What scoring answers came to. */
export interface ScoreReport {
  /** By the service's decision; unknown ones too. */
  readonly decisions: Readonly<Record<string, number>>;
  /** What the service said of the datapoints: `ok`, `findings`, or nothing (`unsaid`). */
  readonly validations: Readonly<Record<string, number>>;
  /** Payments that were scored after an attempt that may have been carried out. */
  readonly repeated: number;
}

/** Records handed to Kafka for one topic. */
export interface WriteReport {
  readonly topic: string;
  /** Seconds from the hand-over to the end, by the end: an empty text for an acknowledgement, else why there was none. */
  readonly ends: ReadonlyMap<string, Distribution>;
}

/** What the webhook port has answered. */
export interface ServedReport {
  /** The path of webhooks, as configured. */
  readonly route: string;
  /** Being worked on now. */
  readonly active: number;
  /** Seconds, by HTTP status. */
  readonly ends: ReadonlyMap<number, Distribution>;
}

/** All that is read when metrics are asked for; every part counts by itself and knows nothing of metrics. */
export interface Running {
  /** Null as long as (or where) no engine runs. */
  readonly engine: EngineStatus | null;
  readonly gates: readonly GateReport[];
  /** The consumer group. */
  readonly group: string;
  /** Requests to the screening service, by kind. */
  readonly service: readonly ExchangeReport[];
  /** Requests to the schema registry, by kind. */
  readonly registry: readonly ExchangeReport[];
  /** Fields of records that our schemas do not have. */
  readonly fieldsDropped: number;
  /** Null: nothing here logs in. */
  readonly session: SessionReport | null;
  /** Null: scoring does not run here. */
  readonly scores: ScoreReport | null;
  /** Status updates sent again although they may have been taken the first time; null: sync does not run here. */
  readonly updatesMaybeSent: number | null;
  readonly writes: readonly WriteReport[];
  /** Null: no webhooks are taken here. */
  readonly webhooks: ServedReport | null;
  /** When the last heartbeat was sent that the group's coordinator has answered, monotonic; null: not a member. */
  readonly heartbeatAtMs: number | null;
}
