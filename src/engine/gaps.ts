import { type Emit } from '../kernel/emit.ts';
import { type Entry } from './entry.ts';
import { decodeMap } from './offset-map.ts';
import { Partition } from './partition.ts';
import { type AssignedPartition, type LogRange } from './ports.ts';
import { type Gap, gapAt, startPosition } from './start-position.ts';
import { type OffsetRange } from './tracker.ts';

export interface GapsParts {
  readonly emit: Emit;
  /** Of the maps that are believed. */
  readonly clusterHash: string;
  /** `stop`: a partition with a gap is not read any further before somebody has looked. */
  readonly onGap: 'earliest' | 'stop';
  /** Reading of the partition is to stop for the reason `gap`. */
  readonly onBlocked: (partition: Partition) => void;
}

/**
 * Where a partition goes on whose log does not hold the offset that is to be read next, and what is reported of it.
 *
 * Expired: only the reading position moves. What was read stays in memory and is delivered; what an earlier owner had
 * finished stays finished. `missing` counts the other offsets up to the oldest one left: nobody has read them, or
 * whoever had is gone with them. They count as settled from then on, also in the next maps, so no later start reports
 * them again. Offsets of transaction markers and of what compaction took away cannot be told from records and are counted.
 *
 * Truncated or recreated: offsets stand for other records now, so the partition starts over, and what is in memory and not
 * in the log any more is dropped and counted. What the log lost without being read, nobody can count.
 */
export class Gaps {
  readonly #parts: GapsParts;

  constructor(parts: GapsParts) {
    this.#parts = parts;
  }

  /** A partition as it was found after a join, with what its last owner had finished, past what its log has lost. */
  owned(found: AssignedPartition, epoch: number): Partition {
    const { start, gap } = startPosition(found);
    const partition = new Partition(found, epoch, start);
    if (start === found.committed) this.#restore(partition, found);
    if (gap?.why === 'expired') this.#skip(partition, gap);
    else if (gap !== null) this.#report(partition, gap, { from: found.committed ?? start, missing: 0 });
    return partition;
  }

  /**
   * Moves a partition whose log does not hold what is to be read next. Returns the partition to go on with: the same one,
   * or one that takes its place and starts over.
   */
  passed(partition: Partition, log: LogRange, epoch: number): Partition {
    const from = partition.tracker.next;
    const gap = gapAt(from, log);
    if (gap === null) return partition;
    if (gap.why === 'expired') this.#skip(partition, gap);
    else if (this.#parts.onGap === 'stop') this.#report(partition, gap, { from, missing: 0 });
    else {
      const { tracker } = partition;
      const isCut = gap.why === 'truncated';
      const start = isCut && tracker.committable < gap.to ? tracker.committable : gap.to;
      const { topic, partition: number, committed } = partition;
      const next = new Partition({ topic, partition: number, committed, metadata: '', ...log }, epoch, start);
      // What was cut off leaves the beginning of the log as it was, and with it what has ended there.
      if (start === tracker.committable) next.tracker.restore(below(tracker.finishedRanges(), gap.to - start));
      next.acknowledged = partition.acknowledged;
      next.doubtful = partition.doubtful;
      next.version += 1;
      this.#report(next, { ...gap, to: start }, { from, missing: lostOf(partition, isCut ? log.high : 0n) });
      return next;
    }
    return partition;
  }

  #skip(partition: Partition, gap: Gap): void {
    const { tracker } = partition;
    this.#report(partition, gap, { from: tracker.next, missing: tracker.missingTo(gap.to) });
    // A commit never passes a gap that nobody has looked at yet: a restart finds it again.
    if (this.#parts.onGap === 'stop') return;
    tracker.skipTo(gap.to);
    partition.version += 1;
  }

  #report(
    partition: Partition,
    { why, to }: Gap,
    { from, missing }: { readonly from: bigint; readonly missing: number },
  ): void {
    const { emit, onGap, onBlocked } = this.#parts;
    const place = { topic: partition.topic, partition: partition.partition, from: String(from), to: String(to) };
    emit('offset_gap', { ...place, why, missing: String(missing) });
    if (onGap === 'stop') onBlocked(partition);
  }

  /**
   * Takes over what the last owner had finished above its committed offset, if the map speaks of this log. The record at
   * the committed offset shows it by its timestamp, when it is read. Where that record has expired, the position of the
   * log shows it:
   *
   * - A topic that was made anew begins at 0. To have lost the committed offset, its log must have grown past it and
   *   expired past it while nobody of the group committed anything, though Kafka deletes a group's offsets with the topic
   *   and refuses commits to a topic that is not there. So a map that outlives its topic must have been committed by a
   *   member in the moments between the new topic's creation and its own next fetch, which starts the partition over.
   * - All that a map says was read before it was written. A log that ends before the end of the map is another one, or
   *   its end was cut off; with no record left to tell the two apart, the map is not used.
   *
   * What a map says beyond the end of the log is never used: those offsets go to new records.
   */
  #restore(partition: Partition, { committed, metadata, low, high }: AssignedPartition): void {
    if (committed === null) return;
    const { clusterHash, emit } = this.#parts;
    const map = decodeMap(metadata, { clusterHash, offset: committed });
    if (map.do === 'ignored') emit('offset_map_ignored', { why: map.why });
    if (map.do !== 'map') return;
    const last = map.ranges.at(-1);
    const isBeyond = last !== undefined && BigInt(last.from + last.length) > high - committed;
    if (isBeyond && committed < low) {
      emit('offset_map_ignored', { why: 'mirrored' });
      return;
    }
    partition.tracker.restore(below(map.ranges, high - committed));
    partition.mapTimestampMs = map.ranges.length > 0 ? map.timestampMs : null;
  }
}

/** What of ranges lies below an offset, counted as they are. */
function below(ranges: Iterable<OffsetRange>, end: bigint): OffsetRange[] {
  const most = Number(end);
  return [...ranges]
    .filter(({ from }) => from < most)
    .map(({ from, length }) => ({ from, length: Math.min(length, most - from) }));
}

/** How many records in memory, from this offset on, have not ended. */
function lostOf(partition: Partition, from: bigint): number {
  let lost = 0;
  for (const head of partition.heads())
    for (let entry: Entry | null = head; entry !== null; entry = entry.next) if (entry.record.offset >= from) lost += 1;
  return lost;
}
