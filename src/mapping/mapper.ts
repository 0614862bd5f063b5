import { type Letter } from '../kernel/outcome.ts';

/** What a mapping made of one record. Values are JSON; numbers may be tokens (tokens.ts). */
export type Mapped =
  | { readonly do: 'mapped'; readonly value: Readonly<Record<string, unknown>> }
  | { readonly do: 'skip'; readonly rule: 'skip_when' }
  | { readonly do: 'dead_letter'; readonly letter: Letter };

/** The compiled mapping of one flow. */
export interface RecordMapper {
  /** Makes datapoints of a record; pure, never throws. */
  map(record: Readonly<Record<string, unknown>>): Mapped;
  /** Where each datapoint comes from, in the words of the mapping file; for people. */
  readonly origins: ReadonlyMap<string, string>;
}

/** A whole mapping file. A flow that is not in it has null: its records go out as they come. */
export interface Mapping {
  readonly scoring: RecordMapper | null;
  readonly sync: RecordMapper | null;
}
