import { type EngineStatus, type FlowStatus, type PartitionStatus } from '../../src/engine/ports.ts';

/** A running engine with one partition and the flow `scoring`; break one thing. */
export function engineStatus(
  over: { flow?: Partial<FlowStatus>; partition?: Partial<PartitionStatus>; phase?: EngineStatus['phase'] } = {},
): EngineStatus {
  return {
    phase: over.phase ?? 'running',
    flows: [{ name: 'scoring', outcomes: {}, inFlight: 0, buffered: 0, bufferedBytes: 0, waits: [], ...over.flow }],
    partitions: [
      {
        topic: 'payments.created',
        partition: 0,
        next: 0n,
        committable: 0n,
        committed: null,
        highWatermark: 0n,
        buffered: 0,
        paused: false,
        oldestUnfinishedMs: null,
        ...over.partition,
      },
    ],
  };
}
