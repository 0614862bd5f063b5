import { Fault } from '../kernel/fault.ts';
import { type Span } from './bounded-source.ts';
import { type Position } from './position.ts';

/** What a partition holds now. */
export interface Mark {
  readonly partition: number;
  readonly low: bigint;
  readonly high: bigint;
}

/** One end of a range: what was asked for and, of a time, the first offset from then on in each partition. */
export interface RangeEnd {
  readonly position: Position;
  /** Of a time only; a partition that is missing has nothing from then on. */
  readonly offsets: ReadonlyMap<number, bigint>;
}

export interface Range {
  readonly spans: ReadonlyMap<number, Span>;
  /** Offsets before the oldest record that may have been in the range: a log that begins within it does not tell. */
  readonly mayBeGone: bigint;
}

/**
 * The offsets of a range in each partition. A partition that a list of offsets leaves out has an empty span at its end.
 * Throws `USAGE` where the end lies before the start, for a partition that does not exist, and for offsets to come.
 */
export function resolveRange(marks: readonly Mark[], from: RangeEnd, to: RangeEnd): Range {
  checkOffsets('--from', marks, from.position);
  checkOffsets('--to', marks, to.position);
  const areTimes = from.position.do === 'at' && to.position.do === 'at';
  if (from.position.do === 'at' && to.position.do === 'at' && to.position.ms < from.position.ms) throw beforeStart('');
  const spans = new Map<number, Span>();
  let mayBeGone = 0n;
  for (const mark of marks) {
    const start = offsetOf(mark, from);
    const end = offsetOf(mark, to);
    if (start === null || end === null) {
      spans.set(mark.partition, { from: mark.high, end: mark.high });
      continue;
    }
    // The timestamps of a log need not rise, so two times may be the wrong way round in it.
    if (end < start && !areTimes) throw beforeStart(` in partition ${String(mark.partition)}`);
    spans.set(mark.partition, { from: start, end: end < start ? start : end });
    if (from.position.do === 'at' && start === mark.low) mayBeGone += mark.low;
  }
  return { spans, mayBeGone };
}

/** Null: the partition does not belong to the range. */
function offsetOf({ partition, low, high }: Mark, { position, offsets }: RangeEnd): bigint | null {
  switch (position.do) {
    case 'earliest':
      return low;
    case 'latest':
      return high;
    case 'at':
      return offsets.get(partition) ?? high;
    case 'offsets':
      return position.offsets.get(partition) ?? null;
  }
}

function checkOffsets(option: string, marks: readonly Mark[], position: Position): void {
  if (position.do !== 'offsets') return;
  for (const [partition, offset] of position.offsets) {
    const mark = marks.find((of) => of.partition === partition);
    if (mark === undefined)
      throw new Fault(
        'USAGE',
        `${option}: there is no partition ${String(partition)}; there are ${String(marks.length)}.`,
      );
    if (offset > mark.high)
      throw new Fault(
        'USAGE',
        `${option}: ${String(partition)}:${String(offset)} lies in the future; the partition ends at ${String(mark.high)}.`,
      );
  }
}

function beforeStart(where: string): Fault {
  return new Fault('USAGE', `The end of the range lies before its start${where}.`);
}
