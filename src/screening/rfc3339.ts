/** RFC 3339 section 5.6, `date-time`: the zone is mandatory, `T` and `Z` may be small letters, a space is not a `T`. */
const DATE_TIME = /^\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:[Zz]|[+-]\d{2}:\d{2})$/;
/** Where the parts of one stand: `YYYY-MM-DDTHH:MM:SS`, then the fraction with its dot, then the zone. */
const AT = { year: 0, month: 5, day: 8, hour: 11, minute: 14, second: 17, fraction: 20 } as const;
const MICRO_DIGITS = 6;
/** The character code of `0`. */
const ZERO = 0x30;

const MONTH_DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] as const;
const DAY_MS = 86_400_000;
/** The last millisecond of the year 9999, the last that four digits can say. */
const LAST_MS = 253_402_300_799_999;

/**
 * Reads an RFC 3339 time, or says that it is none. Whole microseconds since 1970 (UTC), always a safe integer, so the
 * times it takes end in June 2255; digits beyond the sixth are cut. A leap second (`:60`) is the second that follows it,
 * since UNIX time has none; no list says which minutes had one, so any may. Refused: days that no calendar has, 24:00,
 * and what lies before 1970.
 */
export function parseRfc3339(text: string): number | null {
  if (!DATE_TIME.test(text)) return null;
  const year = 100 * two(text, AT.year) + two(text, AT.year + 2);
  const month = two(text, AT.month);
  const day = two(text, AT.day);
  if (day < 1 || day > monthDays(year, month)) return null;
  const hour = two(text, AT.hour);
  const minute = two(text, AT.minute);
  const second = two(text, AT.second);
  const zoneSeconds = zoneSecondsOf(text);
  if (hour > 23 || minute > 59 || second > 60 || zoneSeconds === null) return null;
  const seconds = daysSince1970(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second - zoneSeconds;
  const micros = seconds * 1_000_000 + fractionMicros(text);
  return micros >= 0 && Number.isSafeInteger(micros) ? micros : null;
}

/** Null: no zone is so far from UTC. */
function zoneSecondsOf(text: string): number | null {
  const sign = text.at(-'+HH:MM'.length);
  // `+` and `-` stand there only where the zone is not `Z`: a fraction of digits, or a time, cannot hold them.
  if (sign !== '+' && sign !== '-') return 0;
  const hours = two(text, text.length - 'HH:MM'.length);
  const minutes = two(text, text.length - 'MM'.length);
  if (hours > 23 || minutes > 59) return null;
  return (hours * 3600 + minutes * 60) * (sign === '-' ? -1 : 1);
}

function fractionMicros(text: string): number {
  if (text[AT.fraction - 1] !== '.') return 0;
  let micros = 0;
  let at: number = AT.fraction;
  for (; at < AT.fraction + MICRO_DIGITS; at += 1) {
    const digit = text.charCodeAt(at) - ZERO;
    if (!(digit >= 0 && digit <= 9)) break;
    micros = 10 * micros + digit;
  }
  return micros * 10 ** (AT.fraction + MICRO_DIGITS - at);
}

/** The number that two digits say. */
function two(text: string, at: number): number {
  return 10 * (text.charCodeAt(at) - ZERO) + text.charCodeAt(at + 1) - ZERO;
}

/** Prints `YYYY-MM-DDTHH:MM:SSZ`, the second that `epochMs` lies in. `epochMs`: milliseconds from 1970 to the end of 9999; what lies outside is moved to the nearest end. */
export function formatRfc3339(epochMs: number): string {
  return `${toTheSecond(inRange(epochMs))}Z`;
}

/** Prints `YYYY-MM-DDTHH:MM:SS.mmmZ`. `epochMs` as for `formatRfc3339`; parts of a millisecond are cut. */
export function formatRfc3339Millis(epochMs: number): string {
  const ms = inRange(epochMs);
  return `${toTheSecond(ms)}.${padded(ms % 1000, 3)}Z`;
}

/** The second that was printed last: times come in order, thousands to a second. */
let last = { second: -1, text: '' };

function toTheSecond(epochMs: number): string {
  const second = Math.floor(epochMs / 1000);
  if (second !== last.second) last = { second, text: printed(epochMs) };
  return last.text;
}

function printed(epochMs: number): string {
  const { year, month, day } = dateOf(Math.floor(epochMs / DAY_MS));
  const ofDay = Math.floor((epochMs % DAY_MS) / 1000);
  const date = `${padded(year, 4)}-${padded(month, 2)}-${padded(day, 2)}`;
  const time = `${padded(Math.floor(ofDay / 3600), 2)}:${padded(Math.floor(ofDay / 60) % 60, 2)}:${padded(ofDay % 60, 2)}`;
  return `${date}T${time}`;
}

function inRange(epochMs: number): number {
  return Math.min(LAST_MS, Math.max(0, Math.floor(epochMs)));
}

function isLeap(year: number): boolean {
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
}

/** 0 for a month that there is not, so no day fits into it. */
function monthDays(year: number, month: number): number {
  return month === 2 && isLeap(year) ? 29 : (MONTH_DAYS[month - 1] ?? 0);
}

/** Leap days from the year 1 to the end of `year`. */
function leapDays(year: number): number {
  return Math.floor(year / 4) - Math.floor(year / 100) + Math.floor(year / 400);
}

function yearStart(year: number): number {
  return (year - 1970) * 365 + leapDays(year - 1) - leapDays(1969);
}

function daysSince1970(year: number, month: number, day: number): number {
  let days = yearStart(year) + day - 1;
  for (let before = 1; before < month; before += 1) days += monthDays(year, before);
  return days;
}

function dateOf(days: number): { readonly year: number; readonly month: number; readonly day: number } {
  // A first guess that is at most one year early or late, because leap days come at 97 in 400 years.
  let year = 1970 + Math.floor(days / 365.2425);
  while (yearStart(year) > days) year -= 1;
  while (yearStart(year + 1) <= days) year += 1;
  let left = days - yearStart(year);
  let month = 1;
  for (; left >= monthDays(year, month); month += 1) left -= monthDays(year, month);
  return { year, month, day: left + 1 };
}

function padded(value: number, length: number): string {
  return String(value).padStart(length, '0');
}
