import { destination, pino } from 'pino';
import { type Clock } from '../kernel/clock.ts';
import { type Emit, type EventFields, type EventName } from '../kernel/emit.ts';
import { type EventRow } from './event-row.ts';
import { EVENTS, levelOf } from './events.ts';

export interface LogOptions {
  /** The least level that is written; `silent`: nothing. */
  readonly level: 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent';
  readonly clock: Clock;
  /** On every line, for example account and version. */
  readonly base: Readonly<Record<string, string | number>>;
  /** Takes one line with its newline; default: standard output. */
  readonly write?: (line: string) => void;
}

/** Lines of one kind are written once in this time; the rest is counted into `repeats` of the next line. */
const QUIET_MS = 1000;
/** Labels have few values; should one ever not, the memory of what was written stays small. */
const REMEMBERED = 1000;

interface Spoken {
  readonly atMs: number;
  repeats: number;
}

/** Only what the row of the event names: a field that came along by mistake is not written. */
function allowed<N extends EventName>(row: EventRow<N>, fields: EventFields[N]): Record<string, unknown> {
  const names = Object.keys(row.fields) as (keyof EventFields[N] & string)[];
  return Object.fromEntries(names.map((name) => [name, fields[name]]));
}

/** Lines of one kind stand for each other: same event, same labels or, where it is not counted, same texts, which are codes. */
function kindOf<N extends EventName>(event: N, row: EventRow<N>, fields: EventFields[N]): string {
  const labels: readonly unknown[] =
    row.counter === null
      ? Object.values(allowed(row, fields)).filter((value) => typeof value === 'string')
      : row.counter.labels.map((label) => fields[label]);
  return [event, ...labels.map(String)].join(' ');
}

/**
 * A log of JSON lines, one an event: `level`, `time` (milliseconds since 1970), `event`, `base`, and the fields its row
 * names. What may come with every record (warnings, defects) is thinned out to one line a second, with the count of those
 * left out before it; what is lost or done by a person is told each time.
 */
export function createLog(options: LogOptions): Emit {
  const { level, clock, base, write } = options;
  const stream = write === undefined ? destination({ dest: 1, sync: true }) : { write };
  const log = pino(
    {
      level,
      base: { ...base },
      messageKey: 'event',
      timestamp: () => `,"time":${String(clock.nowMs())}`,
      formatters: { level: (label) => ({ level: label }) },
    },
    stream,
  );
  const spoken = new Map<string, Spoken>();

  /** How many were left out since the last line of this kind; null: leave this one out, too. */
  function turn(kind: string): number | null {
    const nowMs = clock.monotonicMs();
    const last = spoken.get(kind);
    if (last !== undefined && nowMs - last.atMs < QUIET_MS) {
      last.repeats += 1;
      return null;
    }
    if (spoken.size >= REMEMBERED) spoken.clear();
    spoken.set(kind, { atMs: nowMs, repeats: 0 });
    return last?.repeats ?? 0;
  }

  return (event, fields) => {
    const row = EVENTS[event];
    const logLevel = levelOf(event, fields);
    if (!log.isLevelEnabled(logLevel)) return;
    const repeats =
      row.level === 'warn' || logLevel === 'warn' || row.often === true ? turn(kindOf(event, row, fields)) : 0;
    if (repeats === null) return;
    const line = repeats > 0 ? { ...allowed(row, fields), repeats } : allowed(row, fields);
    log[logLevel](line, event);
  };
}
