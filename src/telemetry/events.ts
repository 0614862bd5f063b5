import { type EventFields, type EventName } from '../kernel/emit.ts';

/**
 * By consequence: error = data lost or a human needed; warn = odd, but recovered; info = an answer to an operator;
 * debug = what happens many times a second.
 */
export type Level = 'debug' | 'info' | 'warn' | 'error' | 'fatal';

type FieldOf<N extends EventName> = keyof EventFields[N] & string;
type NumberFieldOf<N extends EventName> = {
  [F in FieldOf<N>]: EventFields[N][F] extends number ? F : never;
}[FieldOf<N>];

/** Counts an event; its labels are fields of few, known values. */
export interface EventCounter<N extends EventName> {
  readonly name: string;
  readonly labels: readonly FieldOf<N>[];
}

/** Keeps the distribution of a number that an event carries. */
export interface EventHistogram<N extends EventName> {
  readonly name: string;
  readonly field: NumberFieldOf<N>;
  /** The field is divided by this: 1000 where milliseconds become seconds. */
  readonly per: number;
  readonly labels: readonly FieldOf<N>[];
  readonly buckets: readonly number[];
}

export interface EventRow<N extends EventName> {
  readonly level: Level;
  readonly means: string;
  /** What is logged: these fields and no others. */
  readonly fields: { readonly [F in FieldOf<N>]: string };
  readonly counter: EventCounter<N> | null;
  readonly histogram?: EventHistogram<N>;
}

const SECONDS = [0.01, 0.05, 0.1, 0.5, 1, 2, 5, 10, 30, 60, 300];
const ANSWER_SECONDS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5];
const SKEW_SECONDS = [-600, -300, -120, -60, -30, -10, -5, -1, 0, 1, 5, 10, 30, 60, 120, 300, 600];

/** The catalogue: each event has one row, and its log line and its metrics follow from it. */
export const EVENTS: { readonly [N in EventName]: EventRow<N> } = {
  starting: {
    level: 'info',
    means: 'The process has read its configuration and begins to open what it needs.',
    fields: { version: 'version of the connector', flows: 'the flows it runs' },
    counter: null,
  },
  ready: {
    level: 'info',
    means: 'Everything is open; records and webhooks are taken.',
    fields: { afterMs: 'since the start' },
    counter: null,
  },
  stopping: {
    level: 'info',
    means: 'The process was told to end: it finishes what it has begun and takes nothing new.',
    fields: { signal: 'what told it' },
    counter: null,
  },
  stopped: {
    level: 'info',
    means: 'The process ends. What was unfinished is done at the next start.',
    fields: { afterMs: 'since it was told to stop', unfinished: 'records begun and not settled' },
    counter: null,
  },
  fatal: {
    level: 'fatal',
    means: 'The process ends because of a fault; docs/codes.md says how to mend it.',
    fields: { code: 'the fault', message: 'what, where, how to mend it' },
    counter: null,
  },

  hold_started: {
    level: 'warn',
    means: 'Records wait because a neighbour is ill. Nothing is lost; it goes on by itself when the cause is gone.',
    fields: { cause: 'one of the holds of docs/codes.md', scope: 'what waits', error: 'name of the error, if known' },
    counter: { name: 'holds_total', labels: ['cause', 'scope'] },
  },
  hold_ended: {
    level: 'info',
    means: 'A hold is over.',
    fields: { cause: 'as in `hold_started`', scope: 'as in `hold_started`', afterMs: 'how long it lasted' },
    counter: null,
    histogram: { name: 'hold_seconds', field: 'afterMs', per: 1000, labels: ['cause'], buckets: SECONDS },
  },

  partitions_assigned: {
    level: 'info',
    means: 'The group has shared out its partitions anew.',
    fields: { owned: 'partitions now', gained: 'new ones', lost: 'given away' },
    counter: { name: 'rebalances_total', labels: [] },
  },
  barrier_incomplete: {
    level: 'warn',
    means: 'Work in flight did not end in time before a rebalance; its records may be sent twice.',
    fields: { inFlight: 'records in flight' },
    counter: { name: 'barriers_incomplete_total', labels: [] },
  },
  source_failed: {
    level: 'warn',
    means: 'The consumer has failed; a new one is started.',
    fields: { error: 'name of the error', restartInMs: 'pause before the next' },
    counter: { name: 'consumer_crashes_total', labels: [] },
  },
  offset_gap: {
    level: 'error',
    means:
      'The committed offset is not in the log: records expired before they were read, the end of the log was cut off, or the topic was made anew.',
    fields: {
      topic: 'the topic',
      partition: 'its partition',
      why: 'expired, truncated or recreated',
      from: 'the committed offset',
      to: 'where reading goes on',
      missing: 'records that were not read and are gone',
    },
    counter: { name: 'offset_gaps_total', labels: ['topic', 'why'] },
  },
  offset_map_ignored: {
    level: 'warn',
    means: 'The map of finished offsets beside a committed offset is not used: what it covers may be repeated.',
    fields: { why: 'foreign, mirrored, damaged or future' },
    counter: { name: 'offset_maps_ignored_total', labels: ['why'] },
  },
  commit_failed: {
    level: 'warn',
    means: 'A commit failed or its outcome is unknown; it is tried again.',
    fields: { error: 'name of the error' },
    counter: { name: 'commit_failures_total', labels: [] },
  },
  letter_written: {
    level: 'warn',
    means: 'A record that cannot be processed is now in the dead-letter topic.',
    fields: { topic: 'the dead-letter topic', reason: 'one of the letters of docs/codes.md' },
    counter: { name: 'dlq_total', labels: ['topic', 'reason'] },
  },
  letter_withheld: {
    level: 'warn',
    means:
      'A letter was written as a pointer: without key, value and headers of its record, with the place where it was read.',
    fields: {
      topic: 'the dead-letter topic',
      why: '`card_data` (the record holds some), `too_large` or `invalid` (Kafka refused the whole letter)',
    },
    counter: { name: 'dlq_withheld_total', labels: ['topic', 'why'] },
  },
  flow_broken: {
    level: 'error',
    means: 'The connector itself failed on a record: a defect. It tries again.',
    fields: { flow: 'the flow', error: 'name of the error' },
    counter: { name: 'flow_broken_total', labels: ['flow'] },
  },

  login: {
    level: 'info',
    means: 'A session at the screening service was asked for.',
    fields: { result: '`ok`, `refused` (user name or password), `failed` (no answer that counts)' },
    counter: { name: 'login_total', labels: ['result'] },
  },
  batch_sent: {
    level: 'debug',
    means: 'A batch of status updates was answered.',
    fields: {
      closedBy: 'why it was sent then: `records`, `bytes`, `age`, `stop`',
      records: 'updates in it',
      bytes: 'size of its body',
      status: 'HTTP status; 0: no answer',
    },
    counter: { name: 'batches_total', labels: ['closedBy', 'status'] },
    histogram: {
      name: 'batch_size',
      field: 'records',
      per: 1,
      labels: ['closedBy'],
      buckets: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000],
    },
  },
  batch_split: {
    level: 'warn',
    means: 'The service refused a batch; it is halved to find the update at fault.',
    fields: { records: 'updates in it', status: 'HTTP status' },
    counter: { name: 'batch_splits_total', labels: ['status'] },
  },
  update_field_dropped: {
    level: 'debug',
    means: 'A status update went out without a field that its status does not allow or whose value is not listed.',
    fields: { field: 'its name' },
    counter: { name: 'update_fields_dropped_total', labels: ['field'] },
  },
  update_before_score: {
    level: 'debug',
    means: 'A status update went out although this process could not know whether its transaction was scored.',
    fields: { waitedMs: 'how long it had waited' },
    counter: { name: 'updates_before_score_total', labels: [] },
  },
  update_noted: {
    level: 'debug',
    means: 'A status update went out although something about it is odd.',
    fields: { note: 'what is odd' },
    counter: { name: 'updates_noted_total', labels: ['note'] },
  },
  partition_counts_differ: {
    level: 'warn',
    means:
      'The topics of payments and of status updates have different numbers of partitions: an update whose transaction was not scored here waits SYNC_SCORE_WAIT_MS.',
    fields: { created: 'partitions of payments', authorized: 'partitions of status updates' },
    counter: { name: 'partition_counts_differ_total', labels: [] },
  },
  not_co_partitioned: {
    level: 'warn',
    means:
      'A transaction and its status update are in partitions of different numbers, so the update cannot know when it may go: it waits SYNC_SCORE_WAIT_MS.',
    fields: { createdPartition: "the transaction's", authorizedPartition: "the update's" },
    counter: { name: 'not_co_partitioned_total', labels: [] },
  },
  answer_unrecognised: {
    level: 'warn',
    means: 'An answer of the service had a shape or a value that this version does not know; it was kept as it came.',
    fields: { operation: 'which call', field: 'where' },
    counter: { name: 'answers_unrecognised_total', labels: ['operation', 'field'] },
  },
  score_trimmed: {
    level: 'warn',
    means: 'A score record was larger than Kafka takes and was written again without one of its parts.',
    fields: { dropped: 'which part' },
    counter: { name: 'scores_trimmed_total', labels: ['dropped'] },
  },

  webhook: {
    level: 'debug',
    means: 'A webhook was answered.',
    fields: {
      result: 'what became of it',
      status: 'HTTP status of the answer',
      afterMs: 'from the whole webhook to its answer; 0 for what was refused before it was whole',
    },
    counter: { name: 'webhook_requests_total', labels: ['result'] },
    histogram: { name: 'webhook_seconds', field: 'afterMs', per: 1000, labels: ['result'], buckets: ANSWER_SECONDS },
  },
  webhook_verified: {
    level: 'debug',
    means:
      'A webhook had the right signature: how that and its timestamp were written, whether an older secret is in use, and how far the timestamp was from this clock.',
    fields: {
      signatureForm: '`hex` or `base64`',
      timestampForm: '`rfc3339`, `unix_s` or `unix_ms`',
      secret: '`newest`: the first of WEBHOOK_SECRETS; `older`: another one',
      window: '`inside`, or `outside` of WEBHOOK_TOLERANCE_SECONDS and refused',
      skewMs: 'this clock less the timestamp: above 0 it came from the past, below 0 from the future',
    },
    counter: { name: 'webhook_verified_total', labels: ['signatureForm', 'timestampForm', 'secret', 'window'] },
    histogram: {
      name: 'webhook_skew_seconds',
      field: 'skewMs',
      per: 1000,
      labels: ['window'],
      buckets: SKEW_SECONDS,
    },
  },
  webhook_tls_failed: {
    level: 'warn',
    means: 'A connection to the webhook port came to nothing because of its TLS; no webhook was read.',
    fields: {
      why: '`certificate_refused` (the peer does not trust ours), `no_common_version` (of TLS, or no cipher), `plain_http`, `too_slow`, `other`',
    },
    counter: { name: 'webhook_tls_failures_total', labels: ['why'] },
  },
  certificate_expiring: {
    level: 'warn',
    means: 'A certificate expires in less than 14 days, or has expired; said once a day. Put a new one into its files.',
    fields: { option: 'the option', daysLeft: 'whole days that are left; below 0: it has expired' },
    counter: { name: 'certificate_expiring_total', labels: ['option'] },
  },
  writer_retry: {
    level: 'warn',
    means: 'Kafka did not acknowledge a write; it is tried again.',
    fields: { topic: 'the topic', error: 'name of the error' },
    counter: { name: 'writer_retries_total', labels: ['topic'] },
  },
  secret_reloaded: {
    level: 'info',
    means: 'The file of a secret or certificate has changed, and what it holds now is in use.',
    fields: { option: 'the option' },
    counter: { name: 'secret_reloads_total', labels: ['option'] },
  },
  secret_reload_failed: {
    level: 'error',
    means:
      'The file of a secret or certificate has changed, and what it holds now cannot be used: the last good one stays in use.',
    fields: {
      option: 'the option',
      why: '`unreadable`, `empty`, or `refused` (not what the option accepts; or a key and a certificate that do not fit)',
    },
    counter: { name: 'secret_reload_failures_total', labels: ['option', 'why'] },
  },
  replay_progress: {
    level: 'info',
    means: 'How far a replay or a redrive has come. Said every 5 s where no progress bar is drawn.',
    fields: {
      id: 'of the replay',
      phase:
        '`index`: looks for the newest updates; `count`: a dry run; `send`; `repair`: sends what became newer meanwhile',
      done: 'offsets of this phase that are settled',
      total: 'offsets of this phase',
      perSecond: 'offsets',
      leftSeconds: 'until the phase ends at this rate; -1: not known',
    },
    counter: null,
  },
  audit: {
    level: 'info',
    means: 'Somebody had records sent again, at its start (`started`) and at its end.',
    fields: {
      who: 'the operator, as the command was told or as the system knows them',
      command: '`replay` or `redrive`, with what it was allowed to do',
      range: 'id, topic and range',
      counts: 'how many records ended how',
      result: '`started`, `done`, `stopped`, `failed`, `removed`',
    },
    counter: null,
  },
  kafka_log: {
    level: 'info',
    means: 'The Kafka client said something of its own.',
    fields: { severity: "the client's own level", message: 'what it said' },
    counter: { name: 'kafka_client_messages_total', labels: ['severity'] },
  },
};
