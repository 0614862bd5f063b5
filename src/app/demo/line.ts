/** How a piece of a line looks. Only the terminal's own colours: they suit dark and light backgrounds alike. */
export type Look = 'plain' | 'strong' | 'faint' | 'good' | 'bad' | 'odd' | 'calm';

/** A piece of a line that looks one way. */
export interface Span {
  readonly text: string;
  readonly look: Look;
}

/** One line of a picture, before it is cut to a width and coloured. */
export type Line = readonly Span[];

const SGR: Readonly<Record<Look, string>> = {
  plain: '',
  strong: '1',
  faint: '2',
  good: '32',
  bad: '1;31',
  odd: '35',
  calm: '36',
};

/** A piece of text as it is. */
export function span(text: string, look: Look = 'plain'): Span {
  return { text, look };
}

/**
 * Only characters that every terminal shows one column wide: letters of Europe, and the signs that the picture is made
 * of. All others, control characters above all, become `?`.
 */
export function oneColumnEach(text: string): string {
  return text.replaceAll(
    /[^ -~\u00A1-\u00AC\u00AE-\u02FF\u2013-\u201E\u2026\u2190-\u2193\u2500-\u257F\u2581-\u259F\u25B6\u2713\u2717]/gu,
    '?',
  );
}

/** How many columns a line takes. */
export function widthOf(line: Line): number {
  return line.reduce((sum, { text }) => sum + text.length, 0);
}

/** The line as text for a terminal, at most `columns` wide; what is cut off ends in an ellipsis. */
export function paint(line: Line, columns: number, colour: boolean): string {
  const whole = line.map(({ text, look }) => span(oneColumnEach(text), look));
  let room = widthOf(whole) > columns ? columns - 1 : columns;
  let painted = '';
  for (const { text, look } of whole) {
    const shown = text.slice(0, Math.max(0, room));
    room -= text.length;
    const sgr = colour ? SGR[look] : '';
    painted += sgr === '' || shown === '' ? shown : `\u001B[${sgr}m${shown}\u001B[0m`;
    if (room < 0) return columns > 0 ? `${painted}…` : '';
  }
  return painted.trimEnd();
}
