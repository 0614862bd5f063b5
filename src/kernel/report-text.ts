/** Adds one line of a report: what it counts, how many, and what there is to say of it. */
export type ReportRow = (name: string, count: number, note?: string) => void;

/** How many in all. */
export function sumOf(counts: Readonly<Partial<Record<string, number>>>): number {
  return Object.values(counts).reduce<number>((total, each) => total + (each ?? 0), 0);
}

/** Writes rows of a report below one another: names on the left, numbers under each other, with commas. */
export function rowsInto(lines: string[]): ReportRow {
  return (name, count, note = '') => {
    lines.push(`  ${name.padEnd(26)} ${count.toLocaleString('en').padStart(13)}${note === '' ? '' : `  ${note}`}`);
  };
}

/** The last line of a report: how long it took, and whether its numbers are all there is. */
export function tookLine({ durationMs, resumed }: { readonly durationMs: number; readonly resumed: boolean }): string {
  const seconds = (durationMs / 1000).toLocaleString('en', { maximumFractionDigits: 1 });
  return `  took ${seconds} s${resumed ? '; resumed: the numbers are of this start' : ''}`;
}

/** What was asked for, and how it ended. */
export interface Ended {
  readonly id: string;
  readonly topic: string;
  /** As typed. */
  readonly from: string;
  readonly to: string;
  readonly result: 'done' | 'stopped' | 'dry_run' | 'empty';
}

/** The first line of a report: `command` as a sentence begins with it, `of` the things that the range would hold. */
export function headlineOf({ id, topic, from, to, result }: Ended, command: string, of: string): string {
  const range = `${topic} from ${from} to ${to}`;
  switch (result) {
    case 'done':
      return `${command} ${id} of ${range} is done.`;
    case 'stopped':
      return `${command} ${id} of ${range} was stopped before its end.`;
    case 'dry_run':
      return `Dry run of ${range}: nothing was sent.`;
    case 'empty':
      return `The range is empty: ${range} holds no ${of} now. Nothing was sent.`;
  }
}

/** Counts in one short text, for an audit line: `read 10, sent 7`. */
export function countsText(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .map(([name, count]) => `${name} ${String(count)}`)
    .join(', ');
}
