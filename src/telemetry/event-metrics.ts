import { type EventFields, type EventName } from '../kernel/emit.ts';
import { type FieldOf } from './event-row.ts';

type NumberFieldOf<N extends EventName> = {
  [F in FieldOf<N>]: EventFields[N][F] extends number ? F : never;
}[FieldOf<N>];

/** Adds up a number that an event carries. */
export interface EventSum<N extends EventName> {
  readonly name: string;
  /** A number, or a text of digits. */
  readonly field: FieldOf<N>;
  readonly labels: readonly FieldOf<N>[];
  readonly means: string;
  readonly rise: string;
}

/** Keeps the distribution of a number that an event carries. */
export interface EventHistogram<N extends EventName> {
  readonly name: string;
  readonly field: NumberFieldOf<N>;
  /** The field is divided by this: 1000 where milliseconds become seconds. */
  readonly per: number;
  readonly labels: readonly FieldOf<N>[];
  readonly buckets: readonly number[];
  readonly means: string;
  readonly rise: string;
}

/** What is measured of an event, beside its counter. */
export interface EventMetrics<N extends EventName> {
  /** What it means when the event's counter rises, and what to do; absent where it has none. */
  readonly rise?: string;
  readonly sum?: EventSum<N>;
  readonly histograms?: readonly EventHistogram<N>[];
}

const SECONDS = [0.01, 0.05, 0.1, 0.5, 1, 2, 5, 10, 30, 60, 300];
const ANSWER_SECONDS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5];
const SKEW_SECONDS = [-600, -300, -120, -60, -30, -10, -5, -1, 0, 1, 5, 10, 30, 60, 120, 300, 600];

/** What each event is measured by; null: nothing of it is. */
export const EVENT_METRICS: { readonly [N in EventName]: EventMetrics<N> | null } = {
  starting: null,
  ready: null,
  stopping: null,
  stopped: null,
  fatal: null,
  hold_started: {
    rise: 'A neighbour was ill so often. `hold` shows whether it is now; docs/codes.md says what to do about each cause.',
  },
  hold_ended: {
    histograms: [
      {
        name: 'hold_seconds',
        field: 'afterMs',
        per: 1000,
        labels: ['cause'],
        buckets: SECONDS,
        means: 'How long a hold lasted that is over.',
        rise: 'Outages of this neighbour are long; `hold` shows those that last.',
      },
    ],
  },
  fell_behind: {
    rise: 'An objective of freshness is at stake. With a hold: mend its cause. Without: as `consumer_lag_records`.',
  },
  caught_up: {
    histograms: [
      {
        name: 'behind_seconds',
        field: 'afterMs',
        per: 1000,
        labels: ['flow'],
        buckets: [10, 30, 60, 120, 300, 600, 1800, 3600, 14_400],
        means: 'How long a flow was behind that has caught up.',
        rise: 'Outages, or too little throughput to make good for them: compare `hold_seconds`.',
      },
    ],
  },
  partitions_assigned: {
    rise: 'More than a few an hour: processes start and stop, or miss their heartbeats. Look at restarts, at `heartbeat_age_seconds` and at `nodejs_eventloop_lag_p99_seconds`.',
    histograms: [
      {
        name: 'rebalance_duration_seconds',
        field: 'afterMs',
        per: 1000,
        labels: [],
        buckets: SECONDS,
        means: 'For how long nothing was started because the group shared out its partitions; the first join included.',
        rise: 'Work in flight ends slowly before a join (`barriers_incomplete_total`), or members join one after another: restart them one at a time.',
      },
    ],
  },
  barrier_incomplete: {
    rise: 'Calls take longer than a third of KAFKA_SESSION_TIMEOUT_MS, so rebalances repeat them: raise it, or lower SERVICE_TIMEOUT_MS.',
  },
  source_failed: {
    rise: 'Kafka is away or refuses; the log says which error. One at a restart of a broker is normal; again and again: look at brokers, credentials and ACLs.',
  },
  offset_gap: {
    rise: 'Records are gone before they were read: somebody has to look at once. Compare the retention of the topic with the lag; docs/when-things-go-wrong.md.',
    sum: {
      name: 'offset_gap_records_total',
      field: 'missing',
      labels: ['topic', 'why'],
      means: 'Records (offsets) that are gone and were neither delivered nor dead-lettered.',
      rise: 'As `offset_gaps_total`: how many payments to look for elsewhere and send again.',
    },
  },
  span_full: {
    rise: 'One record keeps its partition back: the line `span_full` has its position. Look at what it waits for, or name it in DEAD_LETTER_OFFSETS.',
  },
  offset_map_ignored: {
    rise: 'What was finished above the committed offset is done again: expected after a restore or with a mirrored topic, else report it.',
  },
  commit_failed: {
    rise: 'As `commits_total{result="failed"}`, by the log line `commit_failed`, which has the name of the error.',
  },
  writer_fields_dropped: null,
  letter_written: {
    rise: 'Records are put aside: look the reason up in docs/codes.md, then `dlq show`. `card_data`: stop the producer. `connector_fault`: report it.',
  },
  letter_withheld: {
    rise: '`card_data`: a producer sends card data, stop it (docs/card-guard.md). `unread`: look the reason up in docs/codes.md. `too_large`: raise the size of the dead-letter topic (`max.message.bytes`).',
  },
  flow_broken: {
    rise: 'A defect of the connector: report it with the log line `flow_broken`.',
  },
  login: {
    rise: '`refused`: check SERVICE_USERNAME and SERVICE_PASSWORD. `failed`: the service does not answer logins. Many `ok`: sessions end soon, look at `session_young_tokens_refused`.',
  },
  connection_failed: null,
  batch_sent: {
    rise: 'A status that is not 2xx: the service is ill (5xx, 0) or refuses (4xx). Mostly `closed_by="age"`: there is little traffic, which is well.',
    histograms: [
      {
        name: 'batch_fill_ratio',
        field: 'fill',
        per: 1,
        labels: ['closedBy'],
        buckets: [0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 1],
        means: 'How full a batch was: of SYNC_BATCH_MAX_RECORDS or SYNC_BATCH_MAX_BYTES, whichever was nearer.',
        rise: 'A fall: batches go out almost empty. While lag grows, raise SYNC_BATCH_MAX_AGE_MS.',
      },
      {
        name: 'batch_linger_seconds',
        field: 'lingerMs',
        per: 1000,
        labels: ['closedBy'],
        buckets: SECONDS,
        means:
          'From the first update of a batch to its call; the wait for a place among SYNC_BATCHES_IN_FLIGHT included.',
        rise: 'Above SYNC_BATCH_MAX_AGE_MS: batches wait for earlier ones. Raise SYNC_BATCHES_IN_FLIGHT, or find out why the service is slow.',
      },
      {
        name: 'batch_size',
        field: 'records',
        per: 1,
        labels: ['closedBy'],
        buckets: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000],
        means: 'How many updates a batch had.',
        rise: 'Full batches (`closed_by="records"`) are well. Small ones while lag grows: raise SYNC_BATCH_MAX_AGE_MS.',
      },
    ],
  },
  batch_split: {
    rise: 'Updates at fault are searched for one by one, which costs calls: look at `dlq_total`, then at the producer of the updates.',
  },
  update_field_dropped: {
    rise: 'The producer of updates sends fields that their status does not allow: docs/sync-rules.md.',
  },
  update_before_score: {
    rise: 'Updates may have overtaken their transaction: partition both topics alike (docs/topics.md), or raise SYNC_SCORE_WAIT_MS.',
  },
  update_noted: {
    rise: 'The producer of updates sends something odd, which the service may not link: docs/sync-rules.md says which.',
  },
  partition_counts_differ: {
    rise: 'Give both topics the same number of partitions (docs/topics.md).',
  },
  not_co_partitioned: {
    rise: 'Producers of the two topics use different keys or partitioners: make them alike (docs/topics.md).',
  },
  answer_unrecognised: {
    rise: 'The service has changed what it answers: look for a newer version of the connector, and report the field. Nothing is lost, `extra` keeps it.',
  },
  score_trimmed: {
    rise: 'Score records come near the limit of their topic: raise its `max.message.bytes`.',
  },
  webhook: {
    rise: '`published` is well, `duplicate` harmless. `bad_signature`: wrong secret, or a stranger. `outside_window`: clocks differ. `unavailable`: Kafka does not acknowledge, the sender repeats. `parked`: a form that is not known, see `dlq list`.',
    histograms: [
      {
        name: 'webhook_seconds',
        field: 'afterMs',
        per: 1000,
        labels: ['result'],
        buckets: ANSWER_SECONDS,
        means: 'From the whole webhook to its answer; 0 for what was refused before it was whole.',
        rise: 'Kafka acknowledges slowly, or the process is busy (`nodejs_eventloop_lag_p99_seconds`). The sender gives up after its own time-out and repeats.',
      },
    ],
  },
  webhooks_failed: null,
  webhook_verified: {
    rise: '`secret="older"` still rises after a rotation: the sender uses the old one. `window="outside"`: look at `webhook_skew_seconds`.',
    histograms: [
      {
        name: 'webhook_skew_seconds',
        field: 'skewMs',
        per: 1000,
        labels: ['window'],
        buckets: SKEW_SECONDS,
        means:
          'This clock less the timestamp of a webhook with the right signature: above 0 it came from the past, below 0 from the future.',
        rise: 'Clocks differ, or deliveries are late: mend NTP before WEBHOOK_TOLERANCE_SECONDS is reached.',
      },
    ],
  },
  webhook_tls_failed: {
    rise: '`certificate_refused`: the sender does not trust our certificate, or it has expired. `plain_http`: somebody speaks HTTP to the TLS port. A few of the others are scanners.',
  },
  certificate_expiring: {
    rise: 'Put a new certificate into its files before the day comes; it is taken up without a restart.',
  },
  writer_retry: {
    rise: 'A broker is slow or away, or too few replicas are in sync. If it lasts: look at Kafka; `hold{cause="kafka"}` says whether records wait for it.',
  },
  secret_reloaded: {
    rise: 'A rotation has been seen. When nobody rotates: find out who writes those files.',
  },
  secret_reload_failed: {
    rise: 'The new secret or certificate cannot be used, the last good one stays: mend the file before the old one ends.',
  },
  replay_progress: null,
  audit: null,
  spans_dropped: {
    sum: {
      name: 'spans_dropped_total',
      field: 'spans',
      labels: ['why'],
      means: 'Spans of traces that the collector did not get; nothing else is affected.',
      rise: '`export_failed`: the collector is away or refuses, see the log line `spans_dropped`. `queue_full`: lower the share of traces (OTEL_TRACES_SAMPLER_ARG), or raise OTEL_BSP_MAX_QUEUE_SIZE (docs/tracing.md).',
    },
  },
  kafka_log: {
    rise: 'Severity `error` again and again: read the log lines `kafka_log`.',
  },
};
