import { type EventFields, type EventName } from '../kernel/emit.ts';

/**
 * By consequence: error = data lost or a human needed; warn = odd, but recovered; info = an answer to an operator;
 * debug = what happens many times a second.
 */
export type Level = 'debug' | 'info' | 'warn' | 'error' | 'fatal';

/** A field of an event. */
export type FieldOf<N extends EventName> = keyof EventFields[N] & string;

/** Counts an event; its labels are fields of few, known values. */
export interface EventCounter<N extends EventName> {
  readonly name: string;
  readonly labels: readonly FieldOf<N>[];
}

/** A level of its own for some values of one field. */
export interface LevelsBy<N extends EventName> {
  readonly field: FieldOf<N>;
  readonly of: Readonly<Record<string, Level>>;
}

export interface EventRow<N extends EventName> {
  readonly level: Level;
  /** Absent: every event has `level`. */
  readonly levels?: LevelsBy<N>;
  /** Whether it may come with every record, so that repeats are thinned out though it is an error. */
  readonly often?: true;
  readonly means: string;
  /** What is logged: these fields and no others. */
  readonly fields: { readonly [F in FieldOf<N>]: string };
  readonly counter: EventCounter<N> | null;
}
