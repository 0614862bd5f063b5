import { type Vitals } from './vitals.ts';

/** How what one life takes up went on in the second half of it. */
export interface Slope {
  readonly owner: string;
  /** How long it was looked at. */
  readonly minutes: number;
  readonly residentMegabytes: Trend;
  readonly heapMegabytes: Trend;
  readonly files: Trend;
  readonly sockets: Trend;
  /** Handles rise steadily, the pool of connections to the service left aside: something is opened again and again and never given back. */
  readonly isRising: boolean;
}

export interface Trend {
  /** Of the line through the values of the second half that is nearest to them by squares. */
  readonly perMinute: number;
  /** The last value. */
  readonly atEnd: number;
}

/** A shorter life is still filling its pools and caches. */
const SHORTEST_MINUTES = 4;
/** A rise over the second half that no pool explains: fewer come and go with one fault. */
const HANDLES = 8;
const MEGABYTE = 1_048_576;
const MINUTE_MS = 60_000;

type Measure = (vitals: Vitals) => number | null;

/** Of each life that was long enough, in the order of its first look. */
export function slopesOf(vitals: readonly Vitals[]): readonly Slope[] {
  const lives = Map.groupBy(vitals, ({ owner }) => owner);
  return [...lives].flatMap(([owner, looks]) => {
    const minutes = ((looks.at(-1)?.atMs ?? 0) - (looks[0]?.atMs ?? 0)) / MINUTE_MS;
    if (minutes < SHORTEST_MINUTES) return [];
    const trend = (measure: Measure): Trend => trendOf(secondHalf(looks), measure);
    return [
      {
        owner,
        minutes: rounded(minutes),
        residentMegabytes: trend(({ residentBytes }) => residentBytes / MEGABYTE),
        heapMegabytes: trend(({ heapBytes }) => (heapBytes === null ? null : heapBytes / MEGABYTE)),
        files: trend(({ files }) => files),
        sockets: trend(({ sockets }) => sockets),
        isRising: isRising(looks, ({ files, pooled }) => files - pooled),
      },
    ];
  });
}

/** One line for each, for people. */
export function slopeLines(slopes: readonly Slope[]): readonly string[] {
  return slopes.map(
    ({ owner, minutes, residentMegabytes, heapMegabytes, files, sockets, isRising: rises }) =>
      `${owner}, ${String(minutes)} min: memory ${said(residentMegabytes, ' MB')}, heap ${said(heapMegabytes, ' MB')}, files ${said(files, '')}, sockets ${said(sockets, '')}${rises ? ': RISING' : ''}`,
  );
}

function said({ perMinute, atEnd }: Trend, unit: string): string {
  return `${String(atEnd)}${unit} (${perMinute < 0 ? '' : '+'}${String(perMinute)} a minute)`;
}

function secondHalf(looks: readonly Vitals[]): readonly Vitals[] {
  const middleMs = ((looks[0]?.atMs ?? 0) + (looks.at(-1)?.atMs ?? 0)) / 2;
  return looks.filter(({ atMs }) => atMs >= middleMs);
}

function trendOf(looks: readonly Vitals[], measure: Measure): Trend {
  const points = looks.flatMap((look) => {
    const y = measure(look);
    return y === null ? [] : [{ x: look.atMs / MINUTE_MS, y }];
  });
  return { perMinute: rounded(slopeOf(points)), atEnd: rounded(points.at(-1)?.y ?? 0) };
}

interface Point {
  readonly x: number;
  readonly y: number;
}

/** Of the line nearest to the points by squares; 0 where they do not tell one. */
function slopeOf(points: readonly Point[]): number {
  const mean = (of: (point: Point) => number): number =>
    points.reduce((sum, point) => sum + of(point), 0) / Math.max(1, points.length);
  const [x, y] = [mean((point) => point.x), mean((point) => point.y)];
  const spread = points.reduce((sum, point) => sum + (point.x - x) ** 2, 0);
  return spread === 0 ? 0 : points.reduce((sum, point) => sum + (point.x - x) * (point.y - y), 0) / spread;
}

/**
 * The line of the second half rises by more than a fault brings, and so does the least of each quarter over the quarter
 * before: what is opened during a fault and closed after it leaves the least where it was.
 */
function isRising(looks: readonly Vitals[], measure: (vitals: Vitals) => number): boolean {
  const half = secondHalf(looks);
  const minutes = ((half.at(-1)?.atMs ?? 0) - (half[0]?.atMs ?? 0)) / MINUTE_MS;
  const rise = slopeOf(half.map((look) => ({ x: look.atMs / MINUTE_MS, y: measure(look) }))) * minutes;
  const size = Math.ceil(looks.length / 4);
  const least = [1, 2, 3].map((quarter) => Math.min(...looks.slice(quarter * size, (quarter + 1) * size).map(measure)));
  const [second = 0, third = 0, fourth = 0] = least;
  return rise > HANDLES && third > second && fourth > third && fourth - second > HANDLES;
}

function rounded(value: number): number {
  return Math.round(value * 10) / 10;
}
