import { type AssignedPartition } from './ports.ts';

/** Why the committed offset is not in the log, and how many records were not read and are gone. */
export interface Gap {
  readonly why: 'expired' | 'truncated' | 'recreated';
  readonly missing: bigint;
}

/**
 * Where reading of a newly owned partition begins. `gap`: the committed offset is not in the log.
 */
export interface StartPosition {
  readonly start: bigint;
  readonly gap: Gap | null;
}

/**
 * Nothing committed: from the oldest record. Committed and in the log: there. Committed below the log: retention was
 * faster, so from the oldest record, with a gap. Committed above the log: an unclean election cut its end off, then
 * reading goes on at the new end; or the topic was made anew, which a log that begins at 0 looks like, then everything in
 * it is new. Where both are possible it is read from 0: twice is better than never.
 */
export function startPosition({ committed, low, high }: AssignedPartition): StartPosition {
  if (committed === null) return { start: low, gap: null };
  if (committed < low) return { start: low, gap: { why: 'expired', missing: low - committed } };
  if (committed <= high) return { start: committed, gap: null };
  if (low === 0n) return { start: 0n, gap: { why: 'recreated', missing: 0n } };
  return { start: high, gap: { why: 'truncated', missing: 0n } };
}
