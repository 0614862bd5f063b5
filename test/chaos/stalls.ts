/** A record that has been worked off: when it was written and when it was first asked for, on one clock. */
export interface Worked {
  readonly partition: number;
  readonly writtenMs: number;
  readonly workedMs: number;
}

export interface Stalls {
  /** The longest time in which a partition with work did none. */
  readonly longestStallMs: number;
  /** The longest wait of one record. */
  readonly longestWaitMs: number;
}

/** The longest stall and wait over all partitions. */
export function stallsOf(worked: Iterable<Worked>): Stalls {
  const byPartition = new Map<number, Worked[]>();
  let longestWaitMs = 0;
  for (const each of worked) {
    longestWaitMs = Math.max(longestWaitMs, each.workedMs - each.writtenMs);
    const of = byPartition.get(each.partition);
    if (of === undefined) byPartition.set(each.partition, [each]);
    else of.push(each);
  }
  let longestStallMs = 0;
  for (const of of byPartition.values()) longestStallMs = Math.max(longestStallMs, longestIn(of));
  return { longestStallMs, longestWaitMs };
}

function longestIn(partition: readonly Worked[]): number {
  const inOrder = partition.toSorted((a, b) => a.workedMs - b.workedMs);
  let longest = 0;
  // From the end, so that the oldest record that still waits is known at each step.
  let oldestMs = Infinity;
  for (let index = inOrder.length - 1; index >= 0; index -= 1) {
    const { writtenMs, workedMs } = inOrder[index]!;
    oldestMs = Math.min(oldestMs, writtenMs);
    const sinceMs = Math.max(oldestMs, inOrder[index - 1]?.workedMs ?? oldestMs);
    longest = Math.max(longest, workedMs - sinceMs);
  }
  return longest;
}
