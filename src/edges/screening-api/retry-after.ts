import { parseRfc3339 } from '../../screening/rfc3339.ts';

const MOST_MS = 300_000;
const FIFTY_YEARS_MS = 50 * 31_557_600_000;
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
/** RFC 9110 section 5.6.7: the form to be sent, and the two that are still to be understood. */
const IMF_FIXDATE =
  /^[A-Z][a-z]{2}, (?<day>\d{2}) (?<month>[A-Z][a-z]{2}) (?<year>\d{4}) (?<time>\d{2}:\d{2}:\d{2}) GMT$/;
const RFC_850 = /^[A-Z][a-z]+day, (?<day>\d{2})-(?<month>[A-Z][a-z]{2})-(?<year>\d{2}) (?<time>\d{2}:\d{2}:\d{2}) GMT$/;
const ASCTIME = /^[A-Z][a-z]{2} (?<month>[A-Z][a-z]{2}) (?<day>[ \d]\d) (?<time>\d{2}:\d{2}:\d{2}) (?<year>\d{4})$/;

/**
 * How long `Retry-After` asks to wait, from 0 to 5 minutes; null where there is none or it cannot be read.
 * Seconds or a date (RFC 9110 section 10.2.3); of several the first. `nowMs`: milliseconds since 1970.
 */
export function readRetryAfter(header: string | readonly string[] | undefined, nowMs: number): number | null {
  const text = (typeof header === 'string' ? header : header?.[0])?.trim();
  if (text === undefined || text === '') return null;
  if (/^\d+$/.test(text)) return Math.min(MOST_MS, Number(text) * 1_000);
  const atMs = readHttpDate(text, nowMs);
  return atMs === null ? null : Math.min(MOST_MS, Math.max(0, atMs - nowMs));
}

/** A date of HTTP in any of its three forms as milliseconds since 1970; null: none of them. */
export function readHttpDate(text: string, nowMs: number): number | null {
  const parts = (IMF_FIXDATE.exec(text) ?? RFC_850.exec(text) ?? ASCTIME.exec(text))?.groups;
  const { day, month, year, time } = parts ?? {};
  if (day === undefined || month === undefined || year === undefined || time === undefined) return null;
  const monthNumber = String(MONTHS.indexOf(month) + 1).padStart(2, '0');
  const micros = parseRfc3339(`${year.padStart(4, '20')}-${monthNumber}-${day.replace(' ', '0')}T${time}Z`);
  if (micros === null) return null;
  // Two digits that seem to be more than 50 years ahead mean the last century: a time gone by, whichever exactly.
  return year.length === 2 && micros / 1_000 - nowMs > FIFTY_YEARS_MS ? nowMs : micros / 1_000;
}
