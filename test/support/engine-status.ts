import { BucketCounts, OPERATION_SECONDS, WAY_SECONDS } from '../../src/kernel/bucket-counts.ts';
import { type EngineStatus, type FlowStatus, type PartitionStatus } from '../../src/engine/ports.ts';

/** A running engine with one partition and the flow `scoring`; break one thing. */
export function engineStatus(
  over: { flow?: Partial<FlowStatus>; partition?: Partial<PartitionStatus>; phase?: EngineStatus['phase'] } = {},
): EngineStatus {
  return {
    phase: over.phase ?? 'running',
    flows: [
      {
        name: 'scoring',
        topic: 'payments.created',
        consumed: 0,
        heldLanes: 0,
        processing: new BucketCounts(OPERATION_SECONDS),
        endToEnd: new BucketCounts(WAY_SECONDS),
        outcomes: {},
        inFlight: 0,
        buffered: 0,
        bufferedBytes: 0,
        waits: [],
        answered: 0,
        unsaved: 0,
        unsavedSinceMs: null,
        ...over.flow,
      },
    ],
    partitions: [
      {
        topic: 'payments.created',
        partition: 0,
        next: 0n,
        committable: 0n,
        committed: null,
        highWatermark: 0n,
        buffered: 0,
        pauses: [],
        oldestUnfinishedMs: null,
        lastReadMs: null,
        ...over.partition,
      },
    ],
    commits: { ok: new BucketCounts(OPERATION_SECONDS), failed: new BucketCounts(OPERATION_SECONDS) },
  };
}
