import { type BenchArguments } from './arguments.ts';

/** What a job found. */
export interface BenchResult {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** The figures in full, for a file. */
  readonly figures: unknown;
  /** A sentence for each bar that was missed. */
  readonly missed: readonly string[];
}

/** One measurement; ends by itself, and earlier when the signal says so. */
export type Job = (
  options: BenchArguments,
  world: { readonly say: (line: string) => void; readonly signal: AbortSignal },
) => Promise<BenchResult>;

/** The rows as a table for people, the first column to the left. */
export function tableLines({ columns, rows }: Pick<BenchResult, 'columns' | 'rows'>): readonly string[] {
  const widths = columns.map((name, column) => Math.max(name.length, ...rows.map((row) => row[column]?.length ?? 0)));
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0)))
      .join('  ')
      .trimEnd();
  return [line(columns), ...rows.map((row) => line(row))];
}
