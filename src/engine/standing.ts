import { type Entry } from './entry.ts';
import { type Partition } from './partition.ts';
import { type Flow, type FlowStatus } from './ports.ts';

/** What of a flow is known to this process alone, besides its running steps: a crash would do it again. */
export type Standing = Pick<FlowStatus, 'answered' | 'unsaved' | 'unsavedSinceMs'>;

/**
 * How a flow stands in its owned partitions.
 *
 * It looks at the head of each lane, so it is for a status, not for each record.
 */
export function standingOf(flow: Flow<unknown, unknown>, partitions: readonly Partition[]): Standing {
  let answered = 0;
  let unsaved = 0;
  let unsavedSinceMs: number | null = null;
  for (const partition of partitions) {
    for (const head of partition.heads()) if (isAnswered(flow, head)) answered += 1;
    unsaved += partition.unsaved;
    const sinceMs = partition.unsavedSinceMs ?? Infinity;
    if (sinceMs < (unsavedSinceMs ?? Infinity)) unsavedSinceMs = sinceMs;
  }
  return { answered, unsaved, unsavedSinceMs };
}

/** Only heads of lanes have been asked for, and those whose step runs are in flight. A letter without an item was never sent. */
function isAnswered(flow: Flow<unknown, unknown>, { state, letter, item, carry }: Entry): boolean {
  if (state === 'running' || item === undefined) return false;
  return letter !== null || (carry !== undefined && flow.isAnswered?.(carry) === true);
}
