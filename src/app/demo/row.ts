import { type Line, span } from './line.ts';

/** A line of the picture, and how soon it is left out where there is no room: the highest first. */
export interface Row {
  readonly line: Line;
  readonly spare: number;
}

/** What stands before what a line says, in columns. */
export const LABEL = 11;

/** A line that can be spared so easily. */
export function row(spare: number, ...line: Line): Row {
  return { line, spare };
}

/** An empty line: nearly the first to go. */
export const BLANK: Row = row(9);

/** A line that says what it is about. */
export function labelled(label: string, ...rest: Line): Line {
  return [span(` ${label.padEnd(LABEL - 1)}`, 'faint'), ...rest];
}
