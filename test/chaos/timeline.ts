import { type Stroke } from './chronicle.ts';
import { type LogLine } from './log-lines.ts';
import { type Sample } from './sampler.ts';
import { type LifeEnd, type Sighting } from './sightings.ts';

export interface TimelineParts {
  readonly span: { readonly startedMs: number; readonly calmMs: number; readonly endMs: number };
  readonly strokes: readonly Stroke[];
  readonly log: readonly LogLine[];
  readonly samples: readonly Sample[];
  readonly sightings: readonly Sighting[];
  readonly ends: readonly LifeEnd[];
  /** `performance.timeOrigin`: log lines tell the time of day. */
  readonly originMs: number;
}

interface Bar {
  readonly lane: string;
  readonly text: string;
  readonly fromMs: number;
  readonly toMs: number;
  readonly kind: 'fault' | 'hold';
}

const WIDTH = 1180;
const LEFT = 170;
const ROW = 24;
const CHART = 110;
const GAP = 26;
/** A bar that is narrower cannot be seen. */
const NARROWEST = 3;
/** Of a letter in a bar, about. */
const LETTER = 6.2;

/** A drawing of a campaign: what was done to whom, what held, how much was answered each second, and what waited. */
export function timelineSvg(parts: TimelineParts): string {
  const { span, sightings, samples } = parts;
  const bars = [...faultBars(parts), ...holdBars(parts)];
  const lanes = [...new Set(bars.map(({ lane }) => lane))];
  const lengthMs = span.endMs - span.startedMs;
  const x = (ms: number): number => LEFT + ((ms - span.startedMs) / lengthMs) * (WIDTH - LEFT - 10);
  const barsEnd = GAP + lanes.length * ROW;
  const [ratesTop, lagTop] = [barsEnd + GAP, barsEnd + 2 * GAP + CHART];
  const height = lagTop + CHART + 34;
  const seconds = Math.ceil(lengthMs / 1000);
  const rate = (kind: Sighting['kind']): readonly Point[] => perSecond(sightings, kind, span.startedMs, seconds);
  const lag = samples.flatMap(({ atMs, lag: waiting }) => (waiting === null ? [] : [{ atMs, value: waiting }]));
  const rates = { scored: rate('score'), reported: rate('sync') };
  return [
    `<svg viewBox="0 0 ${String(WIDTH)} ${String(height)}" role="img" aria-label="Timeline of the campaign">`,
    `<rect x="${f(x(span.calmMs))}" y="${String(GAP - 8)}" width="${f(x(span.endMs) - x(span.calmMs))}" height="${String(height - GAP - 20)}" class="calm"/>`,
    `<text x="${f(Math.min(x(span.calmMs) + 4, WIDTH - 90))}" y="14" class="note">no more faults</text>`,
    ...grid(x, span, height),
    ...lanes.map((lane, index) => laneRow(lane, GAP + index * ROW, bars, x)),
    ...chart({
      top: ratesTop,
      label: 'answered a second',
      x,
      lines: [
        { name: 'scored', points: rates.scored },
        { name: 'reported', points: rates.reported },
      ],
    }),
    ...chart({ top: lagTop, label: 'waiting records', x, lines: [{ name: 'lag', points: lag }] }),
    '</svg>',
  ].join('\n');
}

interface Point {
  readonly atMs: number;
  readonly value: number;
}

function faultBars({ strokes, ends, span }: TimelineParts): readonly Bar[] {
  const bars = strokes.map(({ target, what, fromMs, toMs }) => ({
    lane: target,
    text: what,
    fromMs,
    toMs: toMs ?? span.endMs,
    kind: 'fault' as const,
  }));
  const crashes = ends
    .filter(({ how }) => how === 'crash')
    .map(({ owner, atMs }) => ({
      lane: `connector ${owner.split('.')[0] ?? ''}`,
      text: 'ended by itself',
      fromMs: atMs,
      toMs: atMs,
      kind: 'fault' as const,
    }));
  return [...bars, ...crashes].toSorted((a, b) => a.lane.localeCompare(b.lane) || a.fromMs - b.fromMs);
}

/** One lane a cause: from where the first connector begins to hold to where the last one ends. */
function holdBars({ log, originMs, span }: TimelineParts): readonly Bar[] {
  const open = new Map<string, number>();
  const bars: Bar[] = [];
  const close = (key: string, toMs: number): void => {
    const fromMs = open.get(key);
    if (fromMs === undefined) return;
    const [cause = '', owner = ''] = key.split(' ');
    bars.push({ lane: `hold ${cause}`, text: owner, fromMs, toMs, kind: 'hold' });
    open.delete(key);
  };
  for (const { owner, event, time, fields } of log.toSorted((a, b) => a.time - b.time)) {
    const key = `${String(fields['cause'])} ${owner}`;
    const atMs = time - originMs;
    if (event === 'hold_started' && !open.has(key)) open.set(key, atMs);
    if (event === 'hold_ended') close(key, atMs);
    if (event === 'starting') for (const other of open.keys()) if (isEarlierLife(other, owner)) close(other, atMs);
  }
  for (const key of open.keys()) close(key, span.endMs);
  return bars
    .filter(({ toMs }) => toMs > span.startedMs)
    .map(({ lane, text, fromMs, toMs, kind }) => ({ lane, text, fromMs: Math.max(fromMs, span.startedMs), toMs, kind }))
    .toSorted((a, b) => a.lane.localeCompare(b.lane) || a.fromMs - b.fromMs);
}

function isEarlierLife(key: string, owner: string): boolean {
  const other = key.split(' ')[1] ?? '';
  return other !== owner && other.split('.')[0] === owner.split('.')[0];
}

function laneRow(lane: string, top: number, bars: readonly Bar[], x: (ms: number) => number): string {
  const own = bars.filter((bar) => bar.lane === lane);
  const drawn = own.map(({ text, fromMs, toMs, kind }) => {
    const width = Math.max(NARROWEST, x(toMs) - x(fromMs));
    const label =
      width > text.length * LETTER
        ? `<text x="${f(x(fromMs) + 3)}" y="${String(top + 13)}" class="in">${escaped(text)}</text>`
        : '';
    const seconds = ((toMs - fromMs) / 1000).toFixed(1);
    return `<g><title>${escaped(`${lane}: ${text}, ${seconds} s`)}</title><rect x="${f(x(fromMs))}" y="${String(top)}" width="${f(width)}" height="${String(ROW - 6)}" rx="2" class="${kind}"/>${label}</g>`;
  });
  return `<text x="${String(LEFT - 8)}" y="${String(top + 13)}" class="lane">${escaped(lane)}</text>${drawn.join('')}`;
}

function grid(x: (ms: number) => number, span: TimelineParts['span'], height: number): readonly string[] {
  const seconds = (span.endMs - span.startedMs) / 1000;
  const step = [5, 10, 20, 30, 60, 120, 300, 600, 1200].find((each) => seconds / each <= 14) ?? 3600;
  const marks = Array.from({ length: Math.floor(seconds / step) + 1 }, (_, index) => index * step);
  return marks.map((at) => {
    const left = f(x(span.startedMs + at * 1000));
    return `<line x1="${left}" x2="${left}" y1="${String(GAP - 8)}" y2="${String(height - 24)}" class="grid"/><text x="${left}" y="${String(height - 10)}" class="tick">${String(at)} s</text>`;
  });
}

function chart(parts: {
  readonly top: number;
  readonly label: string;
  readonly x: (ms: number) => number;
  readonly lines: readonly { readonly name: string; readonly points: readonly Point[] }[];
}): readonly string[] {
  const { top, label, x, lines } = parts;
  const most = Math.max(1, ...lines.flatMap(({ points }) => points.map(({ value }) => value)));
  const y = (value: number): number => top + CHART - (value / most) * CHART;
  return [
    `<text x="${String(LEFT - 8)}" y="${String(top + 12)}" class="lane">${label}</text>`,
    `<text x="${String(LEFT - 8)}" y="${String(top + 28)}" class="tick end">at most ${String(Math.round(most))}</text>`,
    `<line x1="${String(LEFT)}" x2="${String(WIDTH - 10)}" y1="${String(top + CHART)}" y2="${String(top + CHART)}" class="axis"/>`,
    ...lines.map(({ name, points }, index) => {
      const path = points.map(({ atMs, value }) => `${f(x(atMs))},${f(y(value))}`).join(' ');
      const legend = `<text x="${String(LEFT - 8)}" y="${String(top + 46 + 16 * index)}" class="lane ${name}">${name}</text>`;
      return `${legend}<polyline points="${path}" class="line ${name}"/>`;
    }),
  ];
}

function perSecond(
  sightings: readonly Sighting[],
  kind: Sighting['kind'],
  startedMs: number,
  seconds: number,
): readonly Point[] {
  const counts = Array.from({ length: seconds }, () => 0);
  for (const { kind: own, status, endedMs } of sightings) {
    if (own !== kind || status !== 200 || endedMs === null) continue;
    const at = Math.floor((endedMs - startedMs) / 1000);
    if (at >= 0 && at < seconds) counts[at] = (counts[at] ?? 0) + 1;
  }
  return counts.map((value, second) => ({ atMs: startedMs + (second + 0.5) * 1000, value }));
}

/** A length in the drawing. */
function f(value: number): string {
  return value.toFixed(1);
}

/** As text between tags. */
export function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}
