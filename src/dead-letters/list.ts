import { isLetterCode, letterRow } from '../kernel/outcome.ts';
import { formatRfc3339 } from '../screening/rfc3339.ts';
import { printable } from './printable.ts';

/** The letters of one reason. */
export interface ReasonGroup {
  readonly reason: string;
  readonly letters: number;
  /** Of them, pointers: what they are about is only at its source. */
  readonly withheld: number;
  /** When the first and the last were written. */
  readonly first: string;
  readonly last: string;
  /** Where the last one is, as `dlq show --offset` takes it. */
  readonly example: string;
  readonly means: string;
  readonly mend: string;
}

export interface LetterList {
  readonly topic: string;
  readonly letters: number;
  /** Records of the topic that are no letters. */
  readonly others: number;
  /** There are more: only as many as were asked for were counted. */
  readonly isCut: boolean;
  /** The most frequent first. */
  readonly reasons: readonly ReasonGroup[];
}

interface Group {
  letters: number;
  withheld: number;
  firstMs: number;
  lastMs: number;
  example: string;
}

/** What the row of a record that is no letter is called. */
const UNKNOWN = { means: 'This version does not know the reason.', mend: 'See `dlq show`.' };
const MOST_REASONS = 200;
const OTHER_REASONS = '(other)';

/** Counts letters by their reason. */
export class LetterTally {
  readonly #groups = new Map<string, Group>();
  #letters = 0;
  #others = 0;

  get letters(): number {
    return this.#letters;
  }

  /** A record that is no letter. */
  addOther(): void {
    this.#others += 1;
  }

  add(letter: {
    readonly reason: string;
    readonly isWithheld: boolean;
    readonly timestampMs: number;
    /** `partition:offset` */
    readonly place: string;
  }): void {
    const { timestampMs, isWithheld, place } = letter;
    const name = printable(letter.reason);
    const reason = this.#groups.has(name) || this.#groups.size < MOST_REASONS ? name : OTHER_REASONS;
    const group = this.#groups.get(reason) ?? {
      letters: 0,
      withheld: 0,
      firstMs: timestampMs,
      lastMs: timestampMs,
      example: place,
    };
    this.#letters += 1;
    group.letters += 1;
    if (isWithheld) group.withheld += 1;
    group.firstMs = Math.min(group.firstMs, timestampMs);
    if (timestampMs >= group.lastMs) {
      group.lastMs = timestampMs;
      group.example = place;
    }
    this.#groups.set(reason, group);
  }

  list(topic: string, isCut: boolean): LetterList {
    const reasons = [...this.#groups].map(([reason, { letters, withheld, firstMs, lastMs, example }]) => {
      const { means, mend } = isLetterCode(reason) ? letterRow(reason) : UNKNOWN;
      return { reason, letters, withheld, first: timeOf(firstMs), last: timeOf(lastMs), example, means, mend };
    });
    reasons.sort((one, other) => other.letters - one.letters || (one.reason < other.reason ? -1 : 1));
    return { topic, letters: this.#letters, others: this.#others, isCut, reasons };
  }
}

/** A list as lines for people. */
export function listLines({ topic, letters, others, isCut, reasons }: LetterList): readonly string[] {
  if (letters === 0)
    return [`No letters in ${topic} fit.`, ...(others > 0 ? [`${String(others)} records are no letters.`] : [])];
  const rows = reasons.map((group) => [
    group.reason,
    group.letters.toLocaleString('en'),
    group.first,
    group.last,
    group.example,
    group.withheld === 0 ? '' : `${group.withheld.toLocaleString('en')} withheld`,
  ]);
  const total = `${letters.toLocaleString('en')} ${letters === 1 ? 'letter' : 'letters'} in ${topic}`;
  const lines = [
    isCut ? `The first ${total}; there are more.` : `${total}.`,
    ...aligned([['reason', 'letters', 'first', 'last', 'example', ''], ...rows]),
  ];
  if (others > 0) lines.push(`${others.toLocaleString('en')} records are no letters: nothing here looks at them.`);
  lines.push('One of them in full: fraud-connector dlq show --topic T --offset EXAMPLE');
  return lines;
}

function timeOf(ms: number): string {
  return ms < 0 ? 'unknown' : formatRfc3339(ms);
}

function aligned(rows: readonly (readonly string[])[]): readonly string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map((row) =>
    row
      .map((cell, column) => (column === 1 ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0)))
      .join('  ')
      .trimEnd(),
  );
}
