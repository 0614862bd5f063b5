import { type Suspect, suspectMore, type Tally } from '../../resilience/suspicion.ts';
import { type Suspicion } from '../../screening/verdict.ts';

/** What came of a PATCH that was not decided: no answer in time, or an answer that may be one update's doing. */
export type TroubleKind = 'timeout' | Suspicion;

/** What an update has been through. */
export interface Trouble {
  /** Answers with 500 or `error_msg` in whose batch it was. */
  readonly answers: number;
  /** How many updates a batch may hold that has this one in it. */
  readonly mates: number;
  /** Set once it has stood alone. */
  readonly suspect: Suspect | null;
}

export const NO_TROUBLE: Trouble = { answers: 0, mates: Infinity, suspect: null };

/** Batches answered with 500 before this many times are repeated as they are. */
const HALVED_FROM_ANSWER = 2;

export interface BadBatch {
  readonly kind: TroubleKind;
  /** Updates in it. */
  readonly size: number;
  /** Of PATCHes, this one included as a failure. */
  readonly tally: Tally;
  readonly nowMs: number;
}

/**
 * What an update has been through after one more bad batch, while the service accepts others. A batch that timed out, or
 * was answered with 500 or `error_msg` for the second time, is halved: its updates travel in smaller ones, until the one
 * that does it stands alone. Only then an answer counts against it; a time-out never does.
 */
export function troubleAfter(before: Trouble, { kind, size, tally, nowMs }: BadBatch): Trouble {
  const answers = before.answers + (kind === 'timeout' ? 0 : 1);
  const isHalved = kind === 'timeout' || answers >= HALVED_FROM_ANSWER;
  const mates = isHalved ? Math.max(1, Math.floor(size / 2)) : before.mates;
  const suspect = size === 1 && kind !== 'timeout' ? suspectMore(before.suspect, tally, nowMs) : before.suspect;
  return { answers, mates: Math.min(mates, before.mates), suspect };
}
