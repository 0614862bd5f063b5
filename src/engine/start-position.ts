import { type AssignedPartition, type LogRange } from './ports.ts';

/** Why the log does not hold an offset, and where reading goes on. */
export interface Gap {
  readonly why: 'expired' | 'truncated' | 'recreated';
  readonly to: bigint;
}

/**
 * Whether reading can go on at `next`; null: it can. Below the log: retention was faster, so reading goes on at the oldest
 * record. Above the log: an unclean election cut its end off, then reading goes on at the new end; or the topic was made
 * anew, which a log that begins at 0 looks like, then everything in it is new. Where both are possible it is read from
 * 0: twice is better than never.
 */
export function gapAt(next: bigint, { low, high }: LogRange): Gap | null {
  if (next < low) return { why: 'expired', to: low };
  if (next <= high) return null;
  return low === 0n ? { why: 'recreated', to: 0n } : { why: 'truncated', to: high };
}

/** Where a newly owned partition begins, and what keeps it from going on there; null: nothing does. */
export interface StartPosition {
  /** The committed offset, also where its record has expired: what was finished above it is counted from there. */
  readonly start: bigint;
  readonly gap: Gap | null;
}

/** Nothing committed: from the oldest record. Else from the committed offset, unless the log ends before it. */
export function startPosition({ committed, low, high }: AssignedPartition): StartPosition {
  if (committed === null) return { start: low, gap: null };
  const gap = gapAt(committed, { low, high });
  return { start: gap === null || gap.why === 'expired' ? committed : gap.to, gap };
}
