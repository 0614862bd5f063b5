import { type PartitionStatus } from '../engine/ports.ts';
import { type Moment } from './metric-row.ts';

/**
 * How far behind the clock a partition is: since the timestamp of its oldest record that has not ended, or, where only
 * unread ones are left, of the last one read. 0: nothing is left. Null: there is something, and nothing was read yet, so
 * nobody knows how old it is.
 */
export function watermarkLagSeconds(partition: PartitionStatus, { nowMs }: Moment): number | null {
  const { oldestUnfinishedMs, next, highWatermark, lastReadMs } = partition;
  if (oldestUnfinishedMs === null && next >= highWatermark) return 0;
  const sinceMs = oldestUnfinishedMs ?? lastReadMs;
  return sinceMs === null ? null : Math.max(0, nowMs - sinceMs) / 1000;
}
