import { type Entry } from './entry.ts';
import { type Partition } from './partition.ts';
import { type Flow, type FlowStatus } from './ports.ts';
import { type PressureLimits } from './pressure.ts';

/** What keys are held, and what of a flow is known to this process alone besides its running steps: a crash would do it again. */
export type Standing = Pick<FlowStatus, 'answered' | 'heldLanes' | 'unsaved' | 'unsavedSinceMs'>;

/**
 * How a flow stands in its owned partitions.
 *
 * It looks at the head of each lane, so it is for a status, not for each record.
 */
export function standingOf(
  { flow, stalled }: { readonly flow: Flow<unknown, unknown>; readonly stalled: boolean },
  partitions: readonly Partition[],
): Standing {
  const heldBack = flow.heldBack?.() ?? null;
  const nothingStarts = stalled ? 'at_all' : heldBack === null ? 'no' : 'outwards';
  let answered = 0;
  let heldLanes = heldBack ?? 0;
  let unsaved = 0;
  let unsavedSinceMs: number | null = null;
  for (const partition of partitions) {
    for (const head of partition.heads()) {
      if (isAnswered(flow, head)) answered += 1;
      if (isHeld(head, nothingStarts)) heldLanes += 1;
    }
    unsaved += partition.unsaved;
    const sinceMs = partition.unsavedSinceMs ?? Infinity;
    if (sinceMs < (unsavedSinceMs ?? Infinity)) unsavedSinceMs = sinceMs;
  }
  return { answered, heldLanes, unsaved, unsavedSinceMs };
}

/**
 * How many records the service fails for in partitions that are full, if they are more than half of the keys there; else
 * 0, for a full buffer alone is ordinary back-pressure.
 */
export function tooManyFailing(partitions: Iterable<Partition>): number {
  let failing = 0;
  let keyQueues = 0;
  for (const partition of partitions) {
    if (!partition.pauses.has('partition_full') && !partition.pauses.has('flow_full')) continue;
    failing += partition.failing;
    keyQueues += partition.keyQueues;
  }
  return failing * 2 > keyQueues ? failing : 0;
}

/** From 0 to 1: how much of what may be kept in memory is taken by failing records and those of their keys: of the partition or the flow, whichever is more. */
export function fillOf(
  partitions: readonly Partition[],
  own: Partition | undefined,
  { partitionRecords, flowRecords, flowBytes }: PressureLimits,
): number {
  let records = 0;
  let bytes = 0;
  for (const { failingRecords, failingBytes } of partitions) {
    records += failingRecords;
    bytes += failingBytes;
  }
  return Math.max((own?.failingRecords ?? 0) / partitionRecords, records / flowRecords, bytes / flowBytes);
}

/** A record that has only no room yet is not held: it starts as soon as another has ended. A letter needs Kafka alone. */
function isHeld({ state, why, letter }: Entry, nothingStarts: 'no' | 'outwards' | 'at_all'): boolean {
  if (state === 'running') return false;
  return why !== null || nothingStarts === 'at_all' || (nothingStarts === 'outwards' && letter === null);
}

/** Only heads of lanes have been asked for, and those whose step runs are in flight. A letter without an item was never sent. */
function isAnswered(flow: Flow<unknown, unknown>, { state, letter, item, carry }: Entry): boolean {
  if (state === 'running' || item === undefined) return false;
  return letter !== null || (carry !== undefined && flow.isAnswered?.(carry) === true);
}
