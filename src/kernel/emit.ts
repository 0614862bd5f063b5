import { type FaultCode } from './fault.ts';
import { type HoldCause, type LetterCode } from './outcome.ts';

export type ClosedBy = 'records' | 'bytes' | 'age' | 'stop';
/** What is odd about a status update that was sent all the same. */
export type UpdateNote = 'approved_without_acq_ref_id' | 'declined_without_reason' | 'reason_code_as_text';

/**
 * What the connector says, by name, with the fields of each. `telemetry/events.ts` has one row for every name: its log
 * level, its counter and what it means. Fields are stable codes and numbers: no ids, keys or texts from records.
 * Never one event per record: what happens to each record is counted, not said.
 */
export interface EventFields {
  starting: { readonly version: string; readonly flows: string };
  ready: { readonly afterMs: number };
  stopping: { readonly signal: string };
  stopped: { readonly afterMs: number; readonly unfinished: number };
  fatal: { readonly code: FaultCode; readonly message: string };

  hold_started: {
    readonly cause: HoldCause;
    readonly scope: string;
    readonly error: string;
    /** Of a record that fails. */
    readonly position?: string;
  };
  hold_ended: { readonly cause: HoldCause; readonly scope: string; readonly afterMs: number };

  fell_behind: { readonly flow: string; readonly behindMs: number };
  caught_up: { readonly flow: string; readonly afterMs: number; readonly mostMs: number };

  partitions_assigned: {
    readonly owned: number;
    readonly gained: number;
    readonly lost: number;
    readonly afterMs: number;
  };
  barrier_incomplete: { readonly inFlight: number };
  source_failed: { readonly error: string; readonly restartInMs: number };
  offset_gap: {
    readonly topic: string;
    readonly partition: number;
    readonly why: 'expired' | 'truncated' | 'recreated';
    readonly from: string;
    readonly to: string;
    readonly missing: string;
  };
  span_full: { readonly topic: string; readonly partition: number; readonly offset: string };
  offset_map_ignored: { readonly why: 'foreign' | 'mirrored' | 'damaged' | 'future' };
  commit_failed: { readonly error: string };
  writer_fields_dropped: { readonly schema: number; readonly fields: number; readonly names: string };
  letter_written: { readonly topic: string; readonly reason: LetterCode };
  letter_withheld: { readonly topic: string; readonly why: 'card_data' | 'unread' | 'too_large' | 'invalid' };
  flow_broken: { readonly flow: string; readonly error: string };

  login: { readonly result: 'ok' | 'refused' | 'failed' };
  connection_failed: { readonly neighbour: HttpNeighbour; readonly error: string };
  batch_sent: {
    readonly closedBy: ClosedBy;
    readonly records: number;
    readonly bytes: number;
    readonly status: number;
    readonly fill: number;
    readonly lingerMs: number;
  };
  batch_split: { readonly records: number; readonly status: number };
  update_field_dropped: { readonly field: string };
  update_before_score: { readonly waitedMs: number };
  update_noted: { readonly note: UpdateNote };
  partition_counts_differ: { readonly created: number; readonly authorized: number };
  not_co_partitioned: { readonly createdPartition: number; readonly authorizedPartition: number };
  answer_unrecognised: { readonly operation: string; readonly field: string };
  score_trimmed: { readonly dropped: 'extra' | 'signals' };

  webhook: { readonly result: WebhookResult; readonly status: number; readonly afterMs: number };
  webhooks_failed: { readonly result: WebhookResult; readonly webhooks: number };
  webhook_verified: {
    readonly signatureForm: 'hex' | 'base64';
    readonly timestampForm: 'rfc3339' | 'unix_s' | 'unix_ms';
    readonly secret: 'newest' | 'older';
    readonly window: 'inside' | 'outside';
    readonly skewMs: number;
  };
  webhook_tls_failed: { readonly why: WebhookTlsFailure };
  certificate_expiring: { readonly option: string; readonly daysLeft: number };
  writer_retry: { readonly topic: string; readonly error: string };
  secret_reloaded: { readonly option: string };
  secret_reload_failed: { readonly option: string; readonly why: 'unreadable' | 'empty' | 'refused' };
  replay_progress: {
    readonly id: string;
    readonly phase: 'index' | 'send' | 'repair' | 'count';
    readonly done: number;
    readonly total: number;
    readonly perSecond: number;
    readonly leftSeconds: number;
  };
  audit: {
    readonly who: string;
    readonly command: string;
    readonly range: string;
    readonly counts: string;
    readonly result: string;
  };
  spans_dropped: {
    readonly why: 'queue_full' | 'export_failed' | 'stopped';
    readonly spans: number;
    readonly error: string;
  };
  kafka_log: { readonly severity: string; readonly message: string };
}

export type WebhookResult =
  | 'published'
  | 'duplicate'
  | 'parked'
  | 'bad_path'
  | 'bad_method'
  | 'bad_type'
  | 'too_large'
  | 'too_slow'
  | 'malformed'
  | 'bad_signature'
  | 'bad_timestamp'
  | 'outside_window'
  | 'not_an_object'
  | 'unavailable';

/** Whom the connector speaks HTTP with. */
export type HttpNeighbour = 'service' | 'registry';

/** Why a connection for webhooks came to nothing before there was TLS on it. */
export type WebhookTlsFailure = 'certificate_refused' | 'no_common_version' | 'plain_http' | 'too_slow' | 'other';

export type EventName = keyof EventFields;

/** Says something once; who listens (log, metrics, live view) is decided by the composition. Must not throw. */
export type Emit = <N extends EventName>(event: N, fields: EventFields[N]) => void;
