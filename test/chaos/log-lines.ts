import { performance } from 'node:perf_hooks';

/** One line of a connector's log. */
export interface LogLine {
  readonly owner: string;
  readonly event: string;
  /** Milliseconds since 1970, by the right clock. */
  readonly time: number;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** A time in which the clock of a life was off. `performance.now()` of the harness. */
export interface Jump {
  readonly owner: string;
  readonly byMs: number;
  readonly fromMs: number;
  readonly toMs: number;
}

/** A signal takes a moment to be heard. */
const SLACK_MS = 2000;

/** The lines of a log that events are in. What was written while the clock was off is put right. */
export function linesOf(
  { owner, jumps }: { readonly owner: string; readonly jumps: readonly Jump[] },
  output: string,
  originMs: number = performance.timeOrigin,
): readonly LogLine[] {
  const own = jumps.filter((jump) => jump.owner === owner);
  return output.split('\n').flatMap((line) => {
    if (!line.startsWith('{') || !line.endsWith('}')) return [];
    const fields = JSON.parse(line) as Record<string, unknown>;
    const said = Number(fields['time']);
    const jump = own.find(({ byMs, fromMs, toMs }) => {
      const atMs = said - byMs - originMs;
      return atMs >= fromMs - SLACK_MS && atMs <= toMs + SLACK_MS;
    });
    const time = said - (jump?.byMs ?? 0);
    return [{ owner, event: String(fields['event']), time, fields }];
  });
}
