import { type EngineStatus, type PartitionStatus } from '../engine/ports.ts';

export interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** Both clocks at the moment of reading. */
export interface Moment {
  readonly nowMs: number;
  readonly monotonicMs: number;
}

/** A metric that is read from the engine's state whenever metrics are asked for. */
export interface StateMetric {
  readonly type: 'counter' | 'gauge';
  readonly labels: readonly string[];
  readonly means: string;
  readonly samples: (status: EngineStatus, at: Moment) => readonly Sample[];
}

export type StateMetricName =
  | 'records_total'
  | 'inflight_records'
  | 'buffered_records'
  | 'buffered_bytes'
  | 'waiting_records'
  | 'waiting_age_seconds'
  | 'consumer_lag_records'
  | 'uncommitted_span_records'
  | 'oldest_uncommitted_age_seconds'
  | 'paused_partitions'
  | 'partitions_assigned'
  | 'phase';

const OUTCOMES = { delivered: 'delivered', skip: 'skipped', dead_letter: 'dlq' } as const;
const PHASES: readonly EngineStatus['phase'][] = ['idle', 'joining', 'running', 'stopping', 'stopped'];

/** `dead_letter:status_400` is the outcome `dlq` with the reason `status_400`; `delivered` has none. */
function outcomeLabels(key: string): { readonly outcome: string; readonly reason: string } {
  const [end = '', reason = ''] = key.split(':', 2);
  return { outcome: OUTCOMES[end as keyof typeof OUTCOMES] ?? end, reason };
}

function perFlow(value: (flow: EngineStatus['flows'][number]) => number): StateMetric['samples'] {
  return (status) => status.flows.map((flow) => ({ labels: { flow: flow.name }, value: value(flow) }));
}

function perPartition(value: (partition: PartitionStatus, at: Moment) => number): StateMetric['samples'] {
  return (status, at) =>
    status.partitions.map((each) => ({
      labels: { topic: each.topic, partition: String(each.partition) },
      value: value(each, at),
    }));
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
    samples: perFlow((flow) => flow.inFlight),
  },
  buffered_records: {
    type: 'gauge',
    labels: ['flow'],
    means: 'Records read and not settled, those in flight included; compare BUFFER_MAX_RECORDS.',
    samples: perFlow((flow) => flow.buffered),
  },
  buffered_bytes: {
    type: 'gauge',
    labels: ['flow'],
    means: 'Their size; compare BUFFER_MAX_BYTES.',
    samples: perFlow((flow) => flow.bufferedBytes),
  },
  waiting_records: {
    type: 'gauge',
    labels: ['flow', 'cause'],
    means: 'Records that wait, by the holds of docs/codes.md.',
    samples: perWait((wait) => wait.records),
  },
  waiting_age_seconds: {
    type: 'gauge',
    labels: ['flow', 'cause'],
    means: 'How long there have been records that wait for this cause.',
    samples: perWait((wait, at) => Math.max(0, at.monotonicMs - wait.sinceMs) / 1000),
  },
  consumer_lag_records: {
    type: 'gauge',
    labels: ['topic', 'partition'],
    means: 'From the committed offset to the end of the partition. Alert on its trend.',
    samples: perPartition((each) => difference(each.highWatermark, each.committed ?? each.committable)),
  },
  uncommitted_span_records: {
    type: 'gauge',
    labels: ['topic', 'partition'],
    means: 'From the committable offset to the reading position: what one slow record can hold back.',
    samples: perPartition((each) => difference(each.next, each.committable)),
  },
  oldest_uncommitted_age_seconds: {
    type: 'gauge',
    labels: ['topic', 'partition'],
    means: 'Age of the oldest record read and not settled; 0: there is none. The first thing to alert on.',
    samples: perPartition((each, at) =>
      each.oldestUnfinishedMs === null ? 0 : Math.max(0, at.nowMs - each.oldestUnfinishedMs) / 1000,
    ),
  },
  paused_partitions: {
    type: 'gauge',
    labels: ['topic'],
    means: 'Partitions that are not read now because enough of them is buffered.',
    samples: perTopic((partitions) => partitions.filter((each) => each.paused).length),
  },
  partitions_assigned: {
    type: 'gauge',
    labels: ['topic'],
    means: 'Partitions this process owns.',
    samples: perTopic((partitions) => partitions.length),
  },
  phase: {
    type: 'gauge',
    labels: ['phase'],
    means: 'The phase the engine is in: 1, the others 0.',
    samples: (status) => PHASES.map((phase) => ({ labels: { phase }, value: phase === status.phase ? 1 : 0 })),
  },
};
