import { type Recorded, type Recording } from './record.ts';
import { clockOf, roundUp, shown } from './scale.ts';

type Recordings = Recorded['lines'];

interface Box {
  readonly x: number;
  readonly y: number;
  readonly w: number;
  readonly h: number;
}

/** A line of a panel as it is drawn: below it is `base`, which is 0 where nothing is stacked. */
interface Drawn {
  readonly name: string;
  readonly colour: string;
  readonly points: readonly { readonly at: number; readonly value: number; readonly base: number }[];
}

const WIDTH = 1240;
const MARGIN = 12;
const HEAD = 58;
const COLUMN = (WIDTH - 2 * MARGIN) / 24;
const ROW = 22;
const GAP = 3;
const PLOT = { left: 62, right: 12, top: 28, bottom: 42 } as const;
const COLOURS = ['#1f6feb', '#cf222e', '#1a7f37', '#bf8700', '#8250df', '#0e8a8a', '#953800', '#bf3989', '#57606a'];
const THRESHOLDS: Readonly<Record<string, string>> = { green: '#1a7f37', yellow: '#9a6700', red: '#cf222e' };
const MOST_NAMES = 9;
const LEGEND_CHARACTERS = 66;

const escaped = (words: string): string =>
  words.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
const at = (value: number): string => String(Math.round(value * 10) / 10);

function text(x: number, y: number, words: string, style = ''): string {
  return `<text x="${at(x)}" y="${at(y)}"${style === '' ? '' : ` ${style}`}>${escaped(words)}</text>`;
}

function rectangle({ x, y, w, h }: Box, style: string): string {
  return `<rect x="${at(x)}" y="${at(y)}" width="${at(w)}" height="${at(h)}" ${style}/>`;
}

function boxOf({ gridPos: { x, y, w, h } }: Recorded['panel']): Box {
  return {
    x: MARGIN + x * COLUMN + GAP,
    y: HEAD + y * ROW + GAP,
    w: w * COLUMN - 2 * GAP,
    h: h * ROW - 2 * GAP,
  };
}

const highest = (line: Recordings[number]): number =>
  Math.max(0, ...line.points.map(([, value]) => value).filter(Number.isFinite));

/** Lines in their order, each with what is below it where they are stacked. */
function drawnOf(lines: Recordings, stacked: boolean): readonly Drawn[] {
  const below = new Map<number, number>();
  return lines.map(({ name, points }, index) => ({
    name,
    colour: COLOURS[index % COLOURS.length] ?? '#000',
    points: points
      .filter(([, value]) => Number.isFinite(value))
      .map(([second, value]) => {
        const base = stacked ? (below.get(second) ?? 0) : 0;
        below.set(second, base + value);
        return { at: second, value: base + value, base };
      }),
  }));
}

/** Where values and seconds stand in a plot. */
interface Axes {
  readonly box: Box;
  readonly x: (second: number) => number;
  readonly y: (value: number) => number;
}

function axesOf(panel: Box, recording: Recording, top: number): Axes {
  const { fromSeconds, toSeconds } = recording.range;
  const box = {
    x: panel.x + PLOT.left,
    y: panel.y + PLOT.top,
    w: panel.w - PLOT.left - PLOT.right,
    h: panel.h - PLOT.top - PLOT.bottom,
  };
  return {
    box,
    x: (second) => box.x + ((second - fromSeconds) / (toSeconds - fromSeconds)) * box.w,
    y: (value) => box.y + box.h - Math.min(1.05, Math.max(0, value / top)) * box.h,
  };
}

/** Pieces of a line that hang together: a point that is missing ends one. */
function pieces({ points }: Drawn, stepSeconds: number): readonly Drawn['points'][] {
  const found: Drawn['points'][number][][] = [];
  for (const point of points) {
    const last = found.at(-1)?.at(-1);
    if (last === undefined || point.at - last.at > 1.5 * stepSeconds) found.push([point]);
    else found.at(-1)?.push(point);
  }
  return found;
}

function pathOf(points: readonly (readonly [number, number])[], isStep: boolean): string {
  return points
    .map(([x, y], index) => {
      if (index === 0) return `M${at(x)} ${at(y)}`;
      return isStep ? `H${at(x)}V${at(y)}` : `L${at(x)} ${at(y)}`;
    })
    .join('');
}

function lineOf(drawn: Drawn, axes: Axes, look: { step: number; isStep: boolean; isFilled: boolean }): string {
  return pieces(drawn, look.step)
    .map((piece) => {
      const line = pathOf(
        piece.map((point) => [axes.x(point.at), axes.y(point.value)] as const),
        look.isStep,
      );
      const stroke = `<path d="${line}" fill="none" stroke="${drawn.colour}" stroke-width="1.4"/>`;
      if (!look.isFilled) return stroke;
      const back = piece.toReversed().map((point) => `L${at(axes.x(point.at))} ${at(axes.y(point.base))}`);
      return `<path d="${line}${back.join('')}Z" fill="${drawn.colour}" fill-opacity="0.25"/>${stroke}`;
    })
    .join('');
}

/** Names below the plot, as many as there is room for. */
function legend(lines: readonly Drawn[], panel: Box): string {
  const rows: string[] = ['', ''];
  let row = 0;
  let used = 0;
  let left = lines.length;
  for (const { name, colour } of lines.slice(0, MOST_NAMES)) {
    const words = name === '' ? 'value' : name;
    if (used + words.length + 2 > LEGEND_CHARACTERS) {
      row += 1;
      used = 0;
    }
    if (row >= rows.length) break;
    rows[row] += `<tspan fill="${colour}">— ${escaped(words)}  </tspan>`;
    used += words.length + 4;
    left -= 1;
  }
  if (left > 0) rows[rows.length - 1] += `<tspan fill="#57606a">and ${String(left)} more</tspan>`;
  return rows
    .filter((content) => content !== '')
    .map(
      (content, index) =>
        `<text x="${at(panel.x + 8)}" y="${at(panel.y + panel.h - 16 + index * 11)}" font-size="9.5" xml:space="preserve">${content}</text>`,
    )
    .join('');
}

function ticks({ panel }: Recorded, top: number): readonly (readonly [number, string])[] {
  const { unit = 'short', mappings = [] } = panel.fieldConfig?.defaults ?? {};
  const options = mappings[0]?.options ?? {};
  const mapped = Object.entries(options).map(([value, { text: words }]) => [Number(value), words] as const);
  if (mapped.length > 0) return mapped;
  return [0, top / 2, top].map((value) => [value, shown(value, unit)] as const);
}

function shade(axes: Axes, { ill }: Recording): string {
  if (ill === null) return '';
  const [x, end] = [axes.x(ill.fromSeconds), axes.x(ill.toSeconds)];
  return rectangle({ ...axes.box, x, w: end - x }, 'fill="#ffebe9"');
}

function graph(recorded: Recorded, recording: Recording): string {
  const panel = boxOf(recorded.panel);
  const { custom, max, unit = 'short' } = recorded.panel.fieldConfig?.defaults ?? {};
  const isStacked = custom?.stacking.mode === 'normal';
  const isStep = custom?.lineInterpolation === 'stepAfter';
  const lines = drawnOf(
    recorded.lines.toSorted((one, other) => highest(other) - highest(one)),
    isStacked,
  );
  const top = max ?? roundUp(Math.max(0, ...lines.flatMap(({ points }) => points.map(({ value }) => value))), unit);
  const axes = axesOf(panel, recording, top);
  const { fromSeconds, toSeconds, stepSeconds } = recording.range;
  const { box } = axes;
  const grid = ticks(recorded, top).map(([value, words]) => {
    const y = axes.y(value);
    return `<path d="M${at(box.x)} ${at(y)}H${at(box.x + box.w)}" stroke="#d8dee4"/>${text(box.x - 4, y + 3, words, 'text-anchor="end" font-size="9" fill="#57606a"')}`;
  });
  const times = [0, 1, 2, 3, 4, 5].map((each) => {
    const second = (each * (toSeconds - fromSeconds)) / 5;
    return text(
      axes.x(fromSeconds + second),
      box.y + box.h + 12,
      clockOf(second),
      'text-anchor="middle" font-size="8.5" fill="#57606a"',
    );
  });
  const empty = lines.length === 0 ? text(box.x + 6, box.y + box.h / 2, 'none', 'font-size="11" fill="#57606a"') : '';
  const drawn = lines
    .toReversed()
    .map((line) => lineOf(line, axes, { step: stepSeconds, isStep, isFilled: isStacked }));
  return [shade(axes, recording), ...grid, ...times, ...drawn, empty, legend(lines, panel)].join('');
}

/** The last value, large, over its course. */
function stat(recorded: Recorded, recording: Recording): string {
  const panel = boxOf(recorded.panel);
  const { unit = 'none', thresholds } = recorded.panel.fieldConfig?.defaults ?? {};
  const points = (recorded.lines[0]?.points ?? []).filter(([, value]) => Number.isFinite(value));
  const last = points.at(-1)?.[1];
  const step = thresholds?.steps.findLast(({ value }) => value === null || (last !== undefined && last >= value));
  const colour = THRESHOLDS[step?.color ?? ''] ?? '#24292f';
  const top = Math.max(...points.map(([, value]) => value), 1e-9);
  const { fromSeconds, toSeconds } = recording.range;
  const line = pathOf(
    points.map(([second, value]) => {
      const x = panel.x + 6 + ((second - fromSeconds) / (toSeconds - fromSeconds)) * (panel.w - 12);
      return [x, panel.y + panel.h - 4 - (value / top) * 18] as const;
    }),
    true,
  );
  const words = last === undefined ? 'none' : shown(last, unit);
  const middle = `text-anchor="middle" font-size="24" font-weight="600" fill="${colour}"`;
  return `<path d="${line}" fill="none" stroke="${colour}" stroke-opacity="0.5"/>${text(panel.x + panel.w / 2, panel.y + 50, words, middle)}`;
}

function pictured(recorded: Recorded, recording: Recording): string {
  const { panel } = recorded;
  const box = boxOf(panel);
  if (panel.type === 'row') return text(box.x + 2, box.y + 14, panel.title, 'font-size="14" font-weight="700"');
  const frame = rectangle(box, 'rx="4" fill="#fff" stroke="#d0d7de"');
  const title = text(box.x + 8, box.y + 16, panel.title, 'font-size="11.5" font-weight="600"');
  return frame + title + (panel.type === 'stat' ? stat(recorded, recording) : graph(recorded, recording));
}

/** The dashboard as one picture: every panel with what Prometheus gave for it, an illness of the service shaded. */
export function drawDashboard(recording: Recording): string {
  const bottom = Math.max(...recording.panels.map(({ panel: { gridPos } }) => gridPos.y + gridPos.h));
  const height = HEAD + bottom * ROW + MARGIN;
  const ill = recording.ill === null ? '' : ' Shaded: the service is ill.';
  const below = `Drawn from the dashboard's own queries. Below each panel minutes and seconds since the start; large figures are those at the end.${ill}`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${String(WIDTH)} ${String(height)}" width="${String(WIDTH)}" height="${String(height)}" role="img" font-family="system-ui, 'Segoe UI', 'DejaVu Sans', sans-serif" fill="#24292f">`,
    `<title>${escaped(recording.title)}</title>`,
    rectangle({ x: 0, y: 0, w: WIDTH, h: height }, 'fill="#f6f8fa"'),
    text(MARGIN + GAP, 26, recording.title, 'font-size="18" font-weight="700"'),
    text(MARGIN + GAP, 45, below, 'font-size="11.5" fill="#57606a"'),
    ...recording.panels.map((each) => pictured(each, recording)),
    '</svg>\n',
  ].join('\n');
}
