import { type RecordOf } from '../../dead-letters/letter-flow.ts';
import { type LetterFacts } from '../../dead-letters/read-letter.ts';
import { type Left } from '../../dead-letters/report.ts';
import { type DeadLetters, type Flow, type SourceRecord } from '../../engine/ports.ts';
import { type Progress } from '../../replay/progress.ts';
import { type TokenBucket } from '../../resilience/token-bucket.ts';
import { type PrepareParts } from '../replay/prepare.ts';
import { type PassParts } from '../replay/run-pass.ts';
import { type LetterTopic } from './letter-topic.ts';
import { type NewerUpdates } from './newer-updates.ts';
import { type Asked } from './read-letters.ts';
import { type ReadTransId } from './read-value.ts';

/** What letters go through, anew for each pass. */
export interface LetterPath {
  readonly flow: Flow<unknown, unknown>;
  readonly deadLetters: DeadLetters;
}

export interface RedriveParts extends PassParts, PrepareParts {
  readonly topic: LetterTopic;
  readonly readTransId: ReadTransId;
  /** What an index needs to know of a letter, so that it can be told from others about something else. */
  readonly aboutOf: (letter: SourceRecord, facts: LetterFacts) => string;
  /** Whether the flow of the source could send this record. */
  readonly isSendable: (record: SourceRecord) => boolean;
  readonly newPath: (
    recordOf: RecordOf,
    /** A letter that turns out to stay; may be told of the same one again. */
    onLeft: (letter: SourceRecord, why: Left) => void,
  ) => LetterPath;
  /** Null: order does not matter to what these letters are about. */
  readonly newer: NewerUpdates | null;
  /** Letters per second, repeats included; null: no limit. */
  readonly bucket: TokenBucket | null;
  readonly tell: (progress: Progress) => void;
  /** Of records that pointers point to. */
  readonly mostFetchedBytes: number;
}

export interface RedriveRequest extends Asked {
  readonly id: string;
  /** As typed. */
  readonly from: string;
  readonly to: string;
  /** Null: no limit. */
  readonly limit: number | null;
  readonly dryRun: boolean;
}
