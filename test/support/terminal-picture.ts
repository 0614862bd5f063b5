import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/*
 * Makes a picture of a terminal out of what the terminal shows:
 *   tmux capture-pane -e -p > capture.txt
 *   node test/support/terminal-picture.ts capture.txt docs/pictures/name.svg
 */

interface Style {
  readonly colour: string | null;
  readonly bold: boolean;
  readonly faint: boolean;
}

interface Run extends Style {
  readonly column: number;
  readonly text: string;
}

const PLAIN: Style = { colour: null, bold: false, faint: false };
const COLOURS = ['#1b1f24', '#ff7b72', '#56d364', '#e3b341', '#79c0ff', '#d2a8ff', '#56d4dd', '#e6edf3'];
const BACKGROUND = '#0d1117';
const FOREGROUND = '#e6edf3';
const CELL_WIDTH = 8.4;
const CELL_HEIGHT = 18;
const MARGIN = 16;
// eslint-disable-next-line no-control-regex
const SEQUENCE = /\u001B\[([\d;]*)([A-Za-z])|\u001B\([A-Z0-9]|[\u000E\u000F]/g;

function styled(style: Style, codes: string): Style {
  let now = style;
  for (const code of codes.split(';').map(Number)) {
    if (code === 0) now = PLAIN;
    else if (code === 1) now = { ...now, bold: true };
    else if (code === 2) now = { ...now, faint: true };
    else if (code === 22) now = { ...now, bold: false, faint: false };
    else if (code === 39) now = { ...now, colour: null };
    else if (code >= 30 && code <= 37) now = { ...now, colour: COLOURS[code - 30] ?? null };
    else if (code >= 90 && code <= 97) now = { ...now, colour: COLOURS[code - 90] ?? null };
  }
  return now;
}

function runsOf(line: string, before: Style): { readonly runs: readonly Run[]; readonly after: Style } {
  const runs: Run[] = [];
  let style = before;
  let column = 0;
  let at = 0;
  const take = (text: string): void => {
    if (text !== '') runs.push({ ...style, column, text });
    column += text.length;
  };
  for (const found of line.matchAll(SEQUENCE)) {
    take(line.slice(at, found.index));
    if (found[2] === 'm') style = styled(style, found[1] === '' ? '0' : (found[1] ?? '0'));
    at = found.index + found[0].length;
  }
  take(line.slice(at));
  return { runs, after: style };
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** Pieces without spaces at their ends and without two in a row: readers of SVG disagree about what those are worth. */
function wordsOf({ column, text, ...style }: Run): readonly Run[] {
  const words: Run[] = [];
  for (const { 0: word, index } of text.matchAll(/\S+(?: \S+)*/g))
    words.push({ ...style, column: column + index, text: word });
  return words;
}

function drawn({ column, text, colour, bold, faint }: Run, y: number): string {
  const attributes = [
    `x="${(MARGIN + column * CELL_WIDTH).toFixed(1)}"`,
    `y="${String(y)}"`,
    // Every glyph in its cell, whatever font the reader has.
    `textLength="${(text.length * CELL_WIDTH).toFixed(1)}"`,
    ...(colour === null ? [] : [`fill="${colour}"`]),
    ...(bold ? ['font-weight="bold"'] : []),
    ...(faint ? ['opacity="0.6"'] : []),
  ];
  return `<text ${attributes.join(' ')}>${escaped(text)}</text>`;
}

/** An SVG of lines that hold ANSI colours, as a dark terminal shows them; `title` is what it is a picture of. */
export function terminalPicture(ansi: string, title: string): string {
  const lines = ansi.trimEnd().split('\n');
  const texts: string[] = [];
  let style = PLAIN;
  let columns = 0;
  for (const [index, line] of lines.entries()) {
    const { runs, after } = runsOf(line, style);
    style = after;
    const y = MARGIN + (index + 1) * CELL_HEIGHT - 4;
    texts.push(...runs.flatMap(wordsOf).map((run) => drawn(run, y)));
    columns = Math.max(columns, ...runs.map(({ column, text }) => column + text.length));
  }
  const width = Math.ceil(columns * CELL_WIDTH + 2 * MARGIN);
  const height = lines.length * CELL_HEIGHT + 2 * MARGIN;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${String(width)} ${String(height)}" width="${String(width)}" height="${String(height)}" role="img">`,
    `<title>${escaped(title)}</title>`,
    `<rect width="100%" height="100%" rx="8" fill="${BACKGROUND}"/>`,
    `<g fill="${FOREGROUND}" font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="14">`,
    ...texts,
    '</g>',
    '</svg>',
    '',
  ].join('\n');
}

const [, script, from, to, title = 'A terminal'] = process.argv;
if (script === fileURLToPath(import.meta.url) && from !== undefined && to !== undefined) {
  writeFileSync(to, terminalPicture(readFileSync(from, 'utf8'), title));
}
