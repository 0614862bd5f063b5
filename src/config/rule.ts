import { type OptionName, type Values } from './values.ts';

/** A rule over several options: asked only when none of them has a problem of its own. Null: kept. */
export interface Rule {
  readonly over: readonly OptionName[];
  readonly judge: (values: Values) => string | null;
}
