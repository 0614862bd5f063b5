import { type EngineStatus, type PartitionStatus } from '../engine/ports.ts';
import { duplicateBounds } from './duplicate-bound.ts';
import { type Moment, type ReadMetric } from './metric-row.ts';
import { watermarkLagSeconds } from './watermark-lag.ts';

/** A metric that is read from the engine's state whenever metrics are asked for. */
export type StateMetric = ReadMetric<EngineStatus>;

export type StateMetricName =
  | 'records_total'
  | 'inflight_records'
  | 'buffered_records'
  | 'buffered_bytes'
  | 'waiting_records'
  | 'waiting_age_seconds'
  | 'held_keys'
  | 'consumer_lag_records'
  | 'watermark_lag_seconds'
  | 'uncommitted_span_records'
  | 'oldest_uncommitted_age_seconds'
  | 'end_to_end_latency_seconds'
  | 'commits_total'
  | 'commit_age_seconds'
  | 'paused_partitions'
  | 'partitions_assigned'
  | 'duplicate_bound_records'
  | 'phase';

const OUTCOMES = { delivered: 'delivered', skip: 'skipped', dead_letter: 'dlq' } as const;
const PHASES: readonly EngineStatus['phase'][] = ['idle', 'joining', 'running', 'stopping', 'stopped'];

/** `dead_letter:status_400` is the outcome `dlq` with the reason `status_400`; `delivered` has none. */
function outcomeLabels(key: string): { readonly outcome: string; readonly reason: string } {
  const [end = '', reason = ''] = key.split(':', 2);
  return { outcome: OUTCOMES[end as keyof typeof OUTCOMES] ?? end, reason };
}

function perFlow(value: (flow: EngineStatus['flows'][number], at: Moment) => number): StateMetric['samples'] {
  return (status, at) => status.flows.map((flow) => ({ labels: { flow: flow.name }, value: value(flow, at) }));
}

function placeOf({ topic, partition }: PartitionStatus): { readonly topic: string; readonly partition: string } {
  return { topic, partition: String(partition) };
}

function perPartition(value: (partition: PartitionStatus, at: Moment) => number): StateMetric['samples'] {
  return (status, at) => status.partitions.map((each) => ({ labels: placeOf(each), value: value(each, at) }));
}

function perWait(
  value: (wait: EngineStatus['flows'][number]['waits'][number], at: Moment) => number,
): StateMetric['samples'] {
  return (status, at) =>
    status.flows.flatMap((flow) =>
      flow.waits.map((wait) => ({ labels: { flow: flow.name, cause: wait.cause }, value: value(wait, at) })),
    );
}

function perTopic(value: (partitions: readonly PartitionStatus[]) => number): StateMetric['samples'] {
  return (status) =>
    [...Map.groupBy(status.partitions, (each) => each.topic)].map(([topic, partitions]) => ({
      labels: { topic },
      value: value(partitions),
    }));
}

/** Never below zero: positions and watermarks are not read at one instant. */
function difference(more: bigint, less: bigint): number {
  return more > less ? Number(more - less) : 0;
}

/** The metrics of the engine's state; those of events are in the rows of events. */
export const STATE_METRICS: { readonly [N in StateMetricName]: StateMetric } = {
  records_total: {
    type: 'counter',
    labels: ['flow', 'outcome', 'reason'],
    means: 'Records that have ended: `delivered`, `skipped` or `dlq`, with the reason from docs/codes.md.',
    rise: 'A rate of `delivered` that falls to 0 while there is lag: look at `hold` and at the age of the oldest record. A rising `dlq`: look the reason up in docs/codes.md, then `dlq list`.',
    samples: (status) =>
      status.flows.flatMap((flow) =>
        Object.entries(flow.outcomes).map(([key, value]) => ({
          labels: { flow: flow.name, ...outcomeLabels(key) },
          value,
        })),
      ),
  },
  inflight_records: {
    type: 'gauge',
    labels: ['flow'],
    means: 'Records at the service, in a batch or at the writer now.',
    rise: 'At its limit (SCORING_CONCURRENCY, the batches) for long: the service is slower than the traffic. Look at `http_client_request_duration_seconds`; scale out or raise the limit only if the service can take it.',
    samples: perFlow((flow) => flow.inFlight),
  },
  buffered_records: {
    type: 'gauge',
    labels: ['flow'],
    means: 'Records read and not settled, those in flight included; compare BUFFER_MAX_RECORDS.',
    rise: 'At BUFFER_MAX_RECORDS: reading has paused because records end more slowly than they come. The cause is elsewhere: `waiting_records`, `breaker_state`, the duration of calls.',
    samples: perFlow((flow) => flow.buffered),
  },
  buffered_bytes: {
    type: 'gauge',
    labels: ['flow'],
    means: 'Their size; compare BUFFER_MAX_BYTES.',
    rise: 'At BUFFER_MAX_BYTES: as above, with large records. Memory stays bounded.',
    samples: perFlow((flow) => flow.bufferedBytes),
  },
  waiting_records: {
    type: 'gauge',
    labels: ['flow', 'cause'],
    means: 'Records that wait, by the holds of docs/codes.md.',
    rise: 'Records wait for this cause: look it up in docs/codes.md, it says what to do. Causes that are part of normal work (`not_scored_yet`, `batch_open`) come and go.',
    samples: perWait((wait) => wait.records),
  },
  waiting_age_seconds: {
    type: 'gauge',
    labels: ['flow', 'cause'],
    means: 'How long there have been records that wait for this cause.',
    rise: 'A cause that lasts for minutes: somebody has to look at that neighbour.',
    samples: perWait((wait, at) => Math.max(0, at.monotonicMs - wait.sinceMs) / 1000),
  },
  held_keys: {
    type: 'gauge',
    labels: ['flow'],
    means:
      'Keys (lanes) that are held: their next record waits for a cause, or nothing may be sent now, so that it was not even tried. The records behind it wait with it. Not those that only wait for room.',
    rise: 'Many keys wait: a neighbour is ill, `waiting_records` names the cause. A few for long: records that the service fails on one by one.',
    samples: perFlow((flow) => flow.heldLanes),
  },
  consumer_lag_records: {
    type: 'gauge',
    labels: ['topic', 'partition'],
    means: 'From the committed offset to the end of the partition. Alert on its trend.',
    rise: 'More comes than is ended. With a hold: mend its cause. Without: add a process (up to one a partition) or raise SCORING_CONCURRENCY. It says nothing of time: compare `watermark_lag_seconds`.',
    samples: perPartition((each) => difference(each.highWatermark, each.committed ?? each.committable)),
  },
  watermark_lag_seconds: {
    type: 'gauge',
    labels: ['topic', 'partition'],
    means:
      'How far behind the clock the partition is: since the timestamp of the oldest record that has not ended, or, where only unread ones are left, of the last one read. 0: nothing is left. No sample: nothing has been read yet.',
    rise: 'The lag in time, as those who wait for scores feel it. Rising by a second each second: nothing ends at all, look at `hold`. Rising slowly: too little throughput, scale out.',
    samples: (status, at) =>
      status.partitions.flatMap((each) => {
        const seconds = watermarkLagSeconds(each, at);
        return seconds === null ? [] : [{ labels: placeOf(each), value: seconds }];
      }),
  },
  uncommitted_span_records: {
    type: 'gauge',
    labels: ['topic', 'partition'],
    means: 'From the committable offset to the reading position: what one slow record can hold back.',
    rise: 'One slow or waiting record holds the commit back; what is behind it is done already and is in the offset map. Nothing to do unless it nears 2,000 or the age of the oldest rises, too.',
    samples: perPartition((each) => difference(each.next, each.committable)),
  },
  oldest_uncommitted_age_seconds: {
    type: 'gauge',
    labels: ['topic', 'partition'],
    means: 'Age of the oldest record read and not settled; 0: there is none. The first thing to alert on.',
    rise: 'Something is stuck: `/status` names the partition, `waiting_records` the cause. Above 300 s with the breaker closed somebody has to look; with the breaker open it is the service.',
    samples: perPartition((each, at) =>
      each.oldestUnfinishedMs === null ? 0 : Math.max(0, at.nowMs - each.oldestUnfinishedMs) / 1000,
    ),
  },
  end_to_end_latency_seconds: {
    type: 'histogram',
    labels: ['flow'],
    means:
      "From a record's timestamp to its end: scored and published, sent, dead-lettered or skipped. With records that were in the topic before the start.",
    rise: 'Payments are scored late. Compare `http_client_request_duration_seconds` (is it the service?), `watermark_lag_seconds` (is it a backlog?), `waiting_records` (is it a hold?). Clocks of producers that are wrong show here, too.',
    samples: (status) => status.flows.map((flow) => ({ labels: { flow: flow.name }, value: flow.endToEnd })),
  },
  commits_total: {
    type: 'counter',
    labels: ['result'],
    means: 'Commits of offsets, `ok` or `failed` (or without an answer).',
    rise: 'A few `failed` at a rebalance mend themselves. For longer than 5 s nothing new starts: look at Kafka, first at the coordinator of the group.',
    samples: ({ commits }) => [
      { labels: { result: 'ok' }, value: commits.ok.count },
      { labels: { result: 'failed' }, value: commits.failed.count },
    ],
  },
  commit_age_seconds: {
    type: 'gauge',
    labels: ['flow'],
    means: 'For how long something that has ended has not been committed; 0: everything is.',
    rise: 'Commits fail or hang; above 5 s nothing new starts. Look at `commits_total` and at Kafka. A crash now would do those records twice.',
    samples: perFlow((flow, at) =>
      flow.unsavedSinceMs === null ? 0 : Math.max(0, at.monotonicMs - flow.unsavedSinceMs) / 1000,
    ),
  },
  paused_partitions: {
    type: 'gauge',
    labels: ['topic'],
    means: 'Partitions that are not read now; `pauses` on /status says why.',
    rise: 'Reading waits for work to end (back-pressure). For long: as `buffered_records`. After an offset gap with KAFKA_OFFSET_GAP=stop it stays until somebody has looked.',
    samples: perTopic((partitions) => partitions.filter((each) => each.pauses.length > 0).length),
  },
  partitions_assigned: {
    type: 'gauge',
    labels: ['topic'],
    means: 'Partitions this process owns.',
    rise: 'A fall to 0 while the group has members: this process takes no part. Look at `hold{cause="kafka"}`; more processes than partitions leave some with none.',
    samples: perTopic((partitions) => partitions.length),
  },
  duplicate_bound_records: {
    type: 'gauge',
    labels: ['flow'],
    means:
      'What a kill -9 now would do a second time at most: in flight, answered and not yet written, ended and not yet committed.',
    rise: 'More would be done twice after a crash now. It follows the traffic; when it stays near its ceiling, commits fail: look at `commits_total{result="failed"}`.',
    samples: (status, at) =>
      duplicateBounds(status, at.monotonicMs).map(({ flow, records }) => ({ labels: { flow }, value: records })),
  },
  phase: {
    type: 'gauge',
    labels: ['phase'],
    means: 'The phase the engine is in: 1, the others 0.',
    rise: '`joining` for longer than a rebalance takes: the group cannot agree or Kafka is away; look at the log for `source_failed` and at `hold{cause="kafka"}`.',
    samples: (status) => PHASES.map((phase) => ({ labels: { phase }, value: phase === status.phase ? 1 : 0 })),
  },
};
