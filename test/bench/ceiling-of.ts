import { type Counts } from './tally.ts';

/** A time in which something was measured, by what was counted at its beginning and its end. */
export interface Span {
  readonly fromMs: number;
  readonly toMs: number;
  readonly from: Counts;
  readonly to: Counts;
}

/** What ordered work came to against what is possible. */
export interface CeilingFigures {
  /** Records of the whole mix of keys a second that go on for ever. */
  readonly rate: number;
  readonly ceiling: number;
  /** rate ÷ ceiling. */
  readonly share: number;
  /** What a request takes with nobody to blame but service and network, in milliseconds. */
  readonly latencyMs: number;
  /** Answers a second in the span, whatever their keys. */
  readonly answeredPerSecond: number;
  readonly disorders: number;
  readonly overlaps: number;
  readonly doubled: number;
}

/**
 * The rate against the ceiling of ordered work: the lesser of requests at once ÷ latency and 1 ÷ (share of the hottest
 * key × latency).
 *
 * While every key has a backlog, keys that are not hot run ahead of the hottest one: answers a second are then more than
 * can go on, and they fall to the hot key's pace once the others have run dry. Neither time says what the mix can do. What
 * goes on for ever is the lesser of two: the hottest key's rate ÷ its share, and that of all others ÷ theirs. So the span
 * need not wait for the moment when only the hot key is left, and must end before the others run dry.
 *
 * Where the hottest key does not limit (even keys), its few records say nothing: all answers count.
 */
export function ceilingFigures(
  { fromMs, toMs, from, to }: Span,
  {
    inFlight,
    hottestShare,
    networkMs,
  }: { readonly inFlight: number; readonly hottestShare: number; readonly networkMs: number },
): CeilingFigures {
  const seconds = (toMs - fromMs) / 1000;
  const answered = to.answered - from.answered;
  const hot = to.answeredHot - from.answeredHot;
  const latencyMs = (to.servedMs - from.servedMs) / Math.max(1, answered) + networkMs;
  const [byConcurrency, byHottest] = [(1000 * inFlight) / latencyMs, 1000 / (hottestShare * latencyMs)];
  const rate =
    byConcurrency <= byHottest
      ? answered / seconds
      : Math.min(hot / hottestShare, (answered - hot) / (1 - hottestShare)) / seconds;
  const ceiling = Math.min(byConcurrency, byHottest);
  return {
    rate,
    ceiling,
    share: rate / ceiling,
    latencyMs,
    answeredPerSecond: answered / seconds,
    disorders: to.disorders,
    overlaps: to.overlaps,
    doubled: to.doubled,
  };
}
