import { type StatusLine } from '../../edges/system/status-line.ts';
import { type Clock } from '../../kernel/clock.ts';
import { type Emit } from '../../kernel/emit.ts';
import { barLine, paceOf, type Progress } from '../../replay/progress.ts';

const SAY_EVERY_MS = 5000;
const GREEN = '\u001B[32m';
const FAINT = '\u001B[2m';
const PLAIN = '\u001B[0m';

/** Shows progress as a bar in the last line of a terminal. */
export function drawProgress(line: StatusLine, colour: boolean): (progress: Progress) => void {
  return (progress) => {
    const text = barLine(progress, line.width);
    line.show(colour ? coloured(text) : text);
  };
}

/** Says progress as an event: when a phase begins, every 5 s, and when it has come to its end. */
export function sayProgress(id: string, clock: Clock, emit: Emit): (progress: Progress) => void {
  let phase: Progress['phase'] | null = null;
  let saidMs = -Infinity;
  let wasOver = false;
  return (progress) => {
    const nowMs = clock.monotonicMs();
    const isOver = progress.done >= progress.total;
    const isNews = phase !== progress.phase || isOver !== wasOver;
    if (!isNews && (isOver || nowMs - saidMs < SAY_EVERY_MS)) return;
    ({ phase } = progress);
    saidMs = nowMs;
    wasOver = isOver;
    const { perSecond, leftSeconds } = paceOf(progress);
    emit('replay_progress', {
      id,
      phase: progress.phase,
      done: progress.done,
      total: progress.total,
      perSecond: Math.round(perSecond),
      leftSeconds: leftSeconds === null ? -1 : Math.ceil(leftSeconds),
    });
  };
}

function coloured(text: string): string {
  return text.replace(/█+/, `${GREEN}$&${PLAIN}`).replace(/░+/, `${FAINT}$&${PLAIN}`);
}
