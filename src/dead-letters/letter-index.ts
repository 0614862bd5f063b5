import { Fault } from '../kernel/fault.ts';
import { placeOf } from './fetch-records.ts';
import { type LetterSource } from './read-letter.ts';

/** A letter that fits what was asked for. */
export interface Candidate {
  readonly partition: number;
  readonly offset: bigint;
  /** When the letter was written; milliseconds since 1970. */
  readonly timestampMs: number;
  readonly reason: string;
  readonly source: LetterSource;
  /** What tells what the letter is about from everything else: letters of the same have the same. */
  readonly about: string;
  /** Null: it cannot be told. */
  readonly transId: string | null;
  readonly isWithheld: boolean;
  /** What it is about can be read, so that it may go out. */
  readonly isSendable: boolean;
}

/** How many letters one redrive keeps in mind. */
export const MOST_LETTERS = 1_000_000;

/** The letters that a redrive was asked to send. */
export class LetterIndex {
  readonly #most: number;
  /** By what they are about: the newest. */
  readonly #newest = new Map<string, Candidate>();
  #repeated = 0;

  constructor(most: number = MOST_LETTERS) {
    this.#most = most;
  }

  /** Letters about something that a newer letter is about as well. */
  get repeated(): number {
    return this.#repeated;
  }

  /** Throws `INDEX_FULL` beyond the limit. Showing it a letter twice changes nothing. */
  add(candidate: Candidate): void {
    const known = this.#newest.get(candidate.about);
    if (known === undefined) {
      if (this.#newest.size >= this.#most)
        throw new Fault(
          'INDEX_FULL',
          `More than ${this.#most.toLocaleString('en')} letters fit, which is as many as are kept in mind. Send them in parts: --from and --to.`,
        );
      this.#newest.set(candidate.about, candidate);
      return;
    }
    const order = byAge(known, candidate);
    if (order === 0) return;
    this.#repeated += 1;
    if (order < 0) this.#newest.set(candidate.about, candidate);
  }

  /** The oldest of them, as many as were asked for; null: all. The same letters each time the same ones were added. */
  oldest(limit: number | null): readonly Candidate[] {
    const all = [...this.#newest.values()].sort(byAge);
    return limit === null ? all : all.slice(0, limit);
  }

  /** How many there are without a limit. */
  get size(): number {
    return this.#newest.size;
  }
}

/** Candidates by where they are. */
export function byPlace(candidates: readonly Candidate[]): ReadonlyMap<string, Candidate> {
  return new Map(candidates.map((candidate) => [placeOf(candidate), candidate]));
}

/** By the time of writing; letters of the same time by their place. */
function byAge(one: Candidate, other: Candidate): number {
  if (one.timestampMs !== other.timestampMs) return one.timestampMs - other.timestampMs;
  if (one.partition !== other.partition) return one.partition - other.partition;
  return one.offset < other.offset ? -1 : Number(one.offset > other.offset);
}
