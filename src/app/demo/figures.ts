const NONE = '-';

/** A count in at most four characters: `9999`, `12k`, `1.2M`; `-` for what is not a number. */
export function short(count: number): string {
  if (!Number.isFinite(count) || count < 0) return NONE;
  if (count < 9999.5) return String(Math.round(count));
  if (count < 999_500) return `${String(Math.round(count / 1000))}k`;
  for (const [unit, size] of UNITS) {
    const many = count / size;
    if (many < 9.95) return `${many.toFixed(1)}${unit}`;
    if (many < 999.5) return `${many.toFixed(0)}${unit}`;
  }
  return '>1P';
}

const UNITS: readonly (readonly [string, number])[] = [
  ['M', 1e6],
  ['G', 1e9],
  ['T', 1e12],
];

/** A count in full, with commas, up to a billion. */
export function whole(count: number): string {
  if (!Number.isFinite(count) || count < 0) return NONE;
  if (count >= 1e9) return short(count);
  return String(Math.round(count)).replaceAll(/(?<=\d)(?=(?:\d{3})+$)/g, ',');
}

/** So many a second, in at most six characters. */
export function perSecond(rate: number): string {
  const tenths = Math.round(rate * 10) / 10;
  return `${tenths > 0 && tenths < 10 && !Number.isInteger(tenths) ? tenths.toFixed(1) : short(rate)}/s`;
}

/** A span of time for people: `340 ms`, `12 s`, `1 min 24 s`, `2 h 5 min`. */
export function time(ms: number): string {
  if (!Number.isFinite(ms) || ms < 0) return NONE;
  if (ms < 999.5) return `${String(Math.round(ms))} ms`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${String(seconds)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${String(minutes)} min ${String(seconds % 60)} s`;
  return `${whole(Math.floor(minutes / 60))} h ${String(minutes % 60)} min`;
}

const LEVELS = '▁▂▃▄▅▆▇█';

/** The newest `width` numbers as a row of bars, right-aligned; the highest bar is `most`. */
export function sparkline(numbers: readonly number[], width: number, most: number): string {
  const shown = width > 0 ? numbers.slice(-width) : [];
  const bars = shown.map((number) => {
    const share = most > 0 && Number.isFinite(number) ? Math.min(1, Math.max(0, number / most)) : 0;
    return LEVELS.charAt(Math.round(share * (LEVELS.length - 1)));
  });
  return bars.join('').padStart(width);
}

/** How many of `width` columns each number gets: those above zero one at least, all of them when there is anything. */
export function shares(numbers: readonly number[], width: number): readonly number[] {
  const sum = numbers.reduce((total, number) => total + number, 0);
  if (sum <= 0 || width <= 0) return numbers.map(() => 0);
  const parts = numbers.map((number) => (number > 0 ? Math.max(1, Math.floor((number / sum) * width)) : 0));
  const most = numbers.indexOf(Math.max(...numbers));
  const rest = width - parts.reduce((total, part) => total + part, 0);
  return parts.map((part, index) => (index === most ? Math.max(0, part + rest) : part));
}
