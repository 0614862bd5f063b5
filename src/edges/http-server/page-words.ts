const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};
const NUMBER = new Intl.NumberFormat('en');
/** Gives the date as `2026-03-01`. */
const MOMENT = new Intl.DateTimeFormat('sv-SE', { timeZone: 'UTC', dateStyle: 'short', timeStyle: 'medium' });

/** Text that can stand anywhere in a page, as it is. */
export function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? character);
}

/** A span of ms as people say it: `850 ms`, `12.5 s`, `14 min`, `3.2 h`, `2.1 d`; none: a dash. */
export function spell(ms: number | null): string {
  if (ms === null) return '–';
  if (ms < 1000) return `${String(Math.round(ms))} ms`;
  if (ms < 120_000) return `${(ms / 1000).toFixed(1)} s`;
  if (ms < 7_200_000) return `${(ms / 60_000).toFixed(0)} min`;
  return ms < 172_800_000 ? `${(ms / 3_600_000).toFixed(1)} h` : `${(ms / 86_400_000).toFixed(1)} d`;
}

/** A number with its thousands apart. */
export function grouped(number: number | bigint): string {
  return NUMBER.format(number);
}

/** A size in bytes: `512 B`, `2.4 MB`. */
export function sized(bytes: number): string {
  if (bytes < 1000) return `${String(bytes)} B`;
  return bytes < 1e6 ? `${(bytes / 1000).toFixed(1)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}

/** A moment, from ms since 1970: `2026-03-01 09:30:00 UTC`. */
export function momentOf(atMs: number): string {
  return `${MOMENT.format(atMs)} UTC`;
}

/** `1 record`, `2 records`. */
export function counted(number: number, what: string): string {
  return `${grouped(number)} ${what}${number === 1 ? '' : 's'}`;
}
