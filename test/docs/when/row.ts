import { type EventName } from '../../../src/kernel/emit.ts';
import { type FaultCode } from '../../../src/kernel/fault.ts';
import { type HoldCause, type LETTERS, type SkipRule } from '../../../src/kernel/outcome.ts';

/** What a person asks at three in the morning. */
export type Question = 'nothing_moves' | 'all_letters' | 'lag_grows' | 'webhook_refused' | 'no_start' | 'twice';

/** Something that goes wrong. Codes are those of the tables in the code: the compiler checks them. */
export interface WrongRow {
  readonly happens: string;
  readonly holds?: readonly HoldCause[];
  /** As the table has them: `status_<code>` stands for all of them. */
  readonly letters?: readonly (keyof typeof LETTERS)[];
  readonly skips?: readonly SkipRule[];
  readonly events?: readonly EventName[];
  readonly faults?: readonly FaultCode[];
  /** What else is seen; absent: nothing. */
  readonly see?: string;
  readonly does: string;
  readonly mend: string;
  readonly answers: readonly Question[];
  /** File below `test/` without `.test.ts`, and the name of the test in it. */
  readonly shown: readonly (readonly [file: string, name: string])[];
}

export interface WrongSection {
  readonly title: string;
  readonly rows: readonly WrongRow[];
}
