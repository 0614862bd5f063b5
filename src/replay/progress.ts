/** How far one phase has come. */
export interface Progress {
  readonly phase: 'index' | 'send' | 'repair' | 'count';
  readonly done: number;
  readonly total: number;
  /** Since the phase began. */
  readonly elapsedMs: number;
  /** Of `done`, what was done before the phase began (in an earlier start). */
  readonly before: number;
  /** Why nothing moves; null: nothing is known to be wrong. */
  readonly waitsFor: string | null;
}

export interface Pace {
  readonly perSecond: number;
  /** Until the phase ends at this rate; null: not known. */
  readonly leftSeconds: number | null;
}

const BAR_WIDTH = 24;
const VERBS: Readonly<Record<Progress['phase'], string>> = {
  index: 'Looking for the newest updates',
  count: 'Counting',
  send: 'Sending',
  repair: 'Repairing',
};

/** The mean rate of a phase, and the time it has left. */
export function paceOf({ done, total, elapsedMs, before }: Progress): Pace {
  const perSecond = elapsedMs > 0 ? ((done - before) * 1000) / elapsedMs : 0;
  return { perSecond, leftSeconds: perSecond > 0 ? (total - done) / perSecond : null };
}

/** One line for a terminal, at most `width` characters. */
export function barLine(progress: Progress, width: number): string {
  const { phase, done, total, waitsFor } = progress;
  const { perSecond, leftSeconds } = paceOf(progress);
  const share = total === 0 ? 1 : done / total;
  const filled = Math.floor(share * BAR_WIDTH);
  const bar = `${'█'.repeat(filled)}${'░'.repeat(BAR_WIDTH - filled)}`;
  const parts = [
    VERBS[phase],
    `${bar} ${String(Math.floor(share * 100)).padStart(3)} %`,
    `${rounded(done)} of ${rounded(total)}`,
    `${rounded(perSecond)}/s`,
    leftSeconds === null ? 'time left: not known' : `${duration(leftSeconds)} left`,
    ...(waitsFor === null ? [] : [`waits: ${waitsFor}`]),
  ];
  return parts.join('  ').slice(0, Math.max(0, width));
}

function rounded(value: number): string {
  return Math.round(value).toLocaleString('en');
}

function duration(leftSeconds: number): string {
  const all = Math.ceil(leftSeconds);
  if (all < 60) return `${String(all)} s`;
  if (all < 3600) return `${String(Math.floor(all / 60))} min ${String(all % 60)} s`;
  return `${String(Math.floor(all / 3600))} h ${String(Math.floor((all % 3600) / 60))} min`;
}
