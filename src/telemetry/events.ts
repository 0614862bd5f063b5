import { type EventFields, type EventName } from '../kernel/emit.ts';
import { type HoldCause } from '../kernel/outcome.ts';
import { type EventRow, type Level } from './event-row.ts';

/** Holds that do not end by themselves: the cause is not a neighbour that comes back. */
const NEEDS_SOMEBODY = {
  credentials_refused: 'error',
  sessions_displace_each_other: 'error',
  service_refuses: 'error',
  dead_letter_guard: 'error',
  too_many_failing: 'error',
  start_position: 'error',
  offset_gap: 'error',
  span_full: 'error',
} as const satisfies Partial<Record<HoldCause, Level>>;

/** The level of one event: by its values where its row says so. */
export function levelOf<N extends EventName>(event: N, fields: EventFields[N]): Level {
  const { level, levels } = EVENTS[event];
  return (levels === undefined ? undefined : levels.of[String(fields[levels.field])]) ?? level;
}

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
    means:
      'Records wait because a dependency fails or, with the scope `probe`, would: a dependency has stopped answering. Nothing is lost; it goes on by itself when the cause is gone.',
    levels: { field: 'cause', of: NEEDS_SOMEBODY },
    fields: {
      cause: 'one of the holds of docs/codes.md',
      scope: 'what waits',
      error: 'what went wrong, if known: the name of the error, or `timeout`, `status_503`',
      position: 'a record that failed last, as `topic:partition:offset`, if there is one',
    },
    counter: { name: 'holds_total', labels: ['cause', 'scope'] },
  },
  hold_ended: {
    level: 'info',
    means: 'A hold is over.',
    fields: { cause: 'as in `hold_started`', scope: 'as in `hold_started`', afterMs: 'how long it lasted' },
    counter: null,
  },

  fell_behind: {
    level: 'warn',
    means:
      'The oldest record of a flow that has not ended is a minute old: payments are scored, or updates sent, late.',
    fields: { flow: 'the flow', behindMs: 'age of that record' },
    counter: { name: 'fell_behind_total', labels: ['flow'] },
  },
  caught_up: {
    level: 'info',
    means: 'A flow that had fallen behind has caught up: nothing in it is older than five seconds.',
    fields: { flow: 'the flow', afterMs: 'since `fell_behind`', mostMs: 'how old its oldest record was at most' },
    counter: null,
  },

  partitions_assigned: {
    level: 'info',
    means: 'The group has shared out its partitions anew.',
    fields: {
      owned: 'partitions now',
      gained: 'new ones',
      lost: 'given away',
      afterMs: 'since work was stopped for it, or since the start',
    },
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
      'The log does not hold the next offset to be read: records expired before they were read, the end of the log was cut off, or the topic was made anew.',
    fields: {
      topic: 'the topic',
      partition: 'its partition',
      why: 'expired, truncated or recreated',
      from: 'the next offset to be read; at a start the committed one',
      to: 'where reading goes on',
      missing:
        'offsets in between whose records were neither delivered nor dead-lettered; markers and compacted ones count, too',
    },
    counter: { name: 'offset_gaps_total', labels: ['topic', 'why'] },
  },
  span_full: {
    level: 'error',
    means:
      'The record at this position has not ended, and so many offsets have been read behind it (PARTITION_MAX_SPAN) that its partition is not read any more. Nothing is lost; it goes on when the record has ended.',
    fields: { topic: 'the topic', partition: 'its partition', offset: 'of the record that has not ended' },
    counter: { name: 'spans_full_total', labels: ['topic'] },
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
  writer_fields_dropped: {
    level: 'warn',
    means:
      'A producer writes fields that our schema of the topic does not have: they are left out of what is sent. Once for each schema id; the records are counted.',
    fields: {
      schema: 'id of the writer schema in the registry',
      fields: 'how many of its fields are left out',
      names: 'their names, the first ten',
    },
    counter: null,
  },
  letter_written: {
    level: 'warn',
    levels: { field: 'reason', of: { card_data: 'error', connector_fault: 'error' } },
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
      why: '`card_data` (the record holds some), `unread` (the record or its batch is too large, or does not unpack), `too_large` (Kafka does not take the whole letter) or `invalid` (Kafka refused it)',
    },
    counter: { name: 'dlq_withheld_total', labels: ['topic', 'why'] },
  },
  flow_broken: {
    level: 'error',
    often: true,
    means: 'The connector itself failed on a record: a defect. It tries again.',
    fields: { flow: 'the flow', error: 'name of the error' },
    counter: { name: 'flow_broken_total', labels: ['flow'] },
  },

  login: {
    level: 'info',
    levels: { field: 'result', of: { refused: 'error', failed: 'warn' } },
    means: 'A session at the screening service was asked for.',
    fields: { result: '`ok`, `refused` (user name or password), `failed` (no answer that counts)' },
    counter: { name: 'login_total', labels: ['result'] },
  },
  connection_failed: {
    level: 'warn',
    means:
      'A connection to the screening service or to the schema registry came to nothing. Said once a minute for each reason; docs/security.md says what the codes of TLS and of proxies mean.',
    fields: {
      neighbour: '`service` or `registry`',
      error: 'code of the error, such as `ECONNREFUSED`, `CERT_HAS_EXPIRED`, `PROXY_407`',
    },
    counter: null,
  },
  batch_sent: {
    level: 'debug',
    means: 'A batch of status updates was answered.',
    fields: {
      closedBy: 'why it was sent then: `records`, `bytes`, `age`, `stop`',
      records: 'updates in it',
      bytes: 'size of its body',
      status: 'HTTP status; 0: no answer',
      fill: 'how full it was, 0 to 1: of SYNC_BATCH_MAX_RECORDS or of SYNC_BATCH_MAX_BYTES',
      lingerMs: 'from its first update to its call',
    },
    counter: { name: 'batches_total', labels: ['closedBy', 'status'] },
  },
  batch_split: {
    level: 'warn',
    means: 'The service did not accept a batch; it is halved to find the update at fault.',
    fields: { records: 'updates in it', status: 'HTTP status; 0: no answer' },
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
  },
  webhooks_failed: {
    level: 'warn',
    means:
      'Webhooks were not taken. Said for each reason 5 s after the first, then at most once a minute; docs/webhooks.md says what each reason means.',
    fields: {
      result: 'why: as in `webhook`, for example `bad_signature`, `outside_window`, `unavailable`',
      webhooks: 'how many since the last line with this reason',
    },
    counter: null,
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
  spans_dropped: {
    level: 'warn',
    means: 'Spans of traces were dropped, because the collector is away, slow or refuses. Nothing else is affected.',
    fields: {
      why: '`queue_full` (more than OTEL_BSP_MAX_QUEUE_SIZE waited), `export_failed`, or `stopped` (left over at the stop)',
      spans: 'how many',
      error: "name of the error, or the collector's HTTP status",
    },
    counter: null,
  },
  kafka_log: {
    level: 'warn',
    means: 'The Kafka client said something of its own.',
    fields: { severity: "the client's own level", message: 'what it said' },
    counter: { name: 'kafka_client_messages_total', labels: ['severity'] },
  },
};
