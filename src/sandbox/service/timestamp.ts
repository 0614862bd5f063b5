/** What is wrong with a text that should be an RFC 3339 time; null: nothing. */
export type TimestampDefect = 'malformed' | 'zone_missing' | null;

const SHAPE = /^(\d{4})-(\d{2})-(\d{2})[Tt](\d{2}):(\d{2}):(\d{2})(\.\d+)?([Zz]|[+-](\d{2}):(\d{2}))?$/;

/** Judges a text by RFC 3339, with a zone (`Z` or an offset) as the service wants it. */
export function timestampDefect(text: string): TimestampDefect {
  const found = SHAPE.exec(text);
  if (found === null) return 'malformed';
  const part = (index: number): number => Number(found[index] ?? 0);
  const day = new Date(Date.UTC(part(1), part(2) - 1, part(3)));
  const isDay = day.getUTCMonth() === part(2) - 1 && day.getUTCDate() === part(3);
  const isTime = part(4) <= 23 && part(5) <= 59 && part(6) <= 60;
  if (!isDay || !isTime || part(9) > 23 || part(10) > 59) return 'malformed';
  return found[8] === undefined ? 'zone_missing' : null;
}

const DATE = /^(\d{4}-\d{2}-\d{2})(Z|[+-]\d{2}:\d{2})?$/;

/** Judges a text as the date part of an RFC 3339 time with a zone: `2006-01-02Z`, `2006-01-02+02:00`. */
export function dateDefect(text: string): TimestampDefect {
  const [, day, zone] = DATE.exec(text) ?? [];
  return day === undefined ? 'malformed' : timestampDefect(`${day}T00:00:00${zone ?? ''}`);
}

/** Milliseconds since 1970 as RFC 3339 in UTC, to the second: the form of the spec's own examples. */
export function formatSeconds(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}
