import { recordBytes } from '../kernel/record-bytes.ts';
import { type HoldCause, type Letter, type Settlement } from '../kernel/outcome.ts';
import { type RecordSpan } from '../kernel/tracing.ts';
import { type Job, type SourceRecord } from './ports.ts';
import { type Partition } from './partition.ts';
import { type Tracked } from './tracker.ts';
import { type Due } from './wait-queue.ts';

/**
 * Where a record is between its reading and its end:
 * - `queued`: behind another record of its lane;
 * - `ready`: head of its lane, may start;
 * - `blocked`: head of its lane, the flow said not yet;
 * - `waiting`: head of its lane, until `dueMs`;
 * - `running`: one step of it runs.
 */
export type EntryState = 'queued' | 'ready' | 'blocked' | 'waiting' | 'running';

/** What a new entry is made of. */
export interface EntryParts {
  readonly record: SourceRecord;
  readonly item: unknown;
  readonly lane: string;
  /** By which the tracker settles it. */
  readonly tracked: Tracked;
  readonly letter: Letter | null;
  /** How many records of its assignment were read before it. */
  readonly ordinal: number;
}

/** One record that is read and not settled; the job that its flow sees. */
export class Entry implements Job<unknown, unknown>, Due {
  readonly record: SourceRecord;
  readonly item: unknown;
  readonly lane: string;
  readonly tenure: Partition;
  /** By which the tracker settles it. */
  readonly tracked: Tracked;
  readonly ordinal: number;
  readonly bytes: number;
  state: EntryState = 'ready';
  attempt = 1;
  carry: unknown = undefined;
  /** Whether what it carries was done outside already (`Flow.isAnswered`). */
  answered = false;
  /** Whether it was tried before (`Flow.isRepeat`). */
  isRepeat = false;
  span: RecordSpan | undefined = undefined;
  /** Set once the record's end is a dead letter that is not yet written. */
  letter: Letter | null;
  /** What it waits or waited for; kept through retries. */
  why: HoldCause | null = null;
  /** How often the flow has said not yet. */
  asks = 0;
  /** When its first step began, monotonic; -1: none has. */
  beganMs = -1;
  faults = 0;
  /** How many records of the flow had ended when it failed first. */
  endedAtFirstFault = 0;
  dueMs = 0;
  slot = -1;
  /** The next record of its lane. */
  next: Entry | null = null;
  /** Kept by a lane's head only: the last record of the lane. */
  tail: Entry = this;
  /** Kept by a lane's head only: how many records the lane holds, and their size. */
  laneRecords = 1;
  laneBytes: number;

  constructor(tenure: Partition, parts: EntryParts) {
    this.tenure = tenure;
    this.record = parts.record;
    this.item = parts.item;
    this.lane = parts.lane;
    this.tracked = parts.tracked;
    this.ordinal = parts.ordinal;
    this.letter = parts.letter;
    this.bytes = recordBytes(parts.record);
    this.laneBytes = this.bytes;
  }

  /** Whether Kafka alone has to take what is left of it: its dead letter, or what it carries. */
  get isToWrite(): boolean {
    return this.letter !== null || this.answered;
  }

  /** Sets whether it was tried before. */
  markRepeat(isRepeat: boolean): void {
    if (isRepeat === this.isRepeat) return;
    this.isRepeat = isRepeat;
    this.tenure.failed(
      isRepeat ? 1 : -1,
      isRepeat ? this.laneRecords : -this.laneRecords,
      isRepeat ? this.laneBytes : -this.laneBytes,
    );
  }

  /** Lets its trace, if it has one, know how it ended. */
  tellEnd(settlement: Settlement): void {
    const attempts = this.attempt;
    switch (settlement.do) {
      case 'delivered':
        return this.span?.end({ outcome: 'delivered', attempts });
      case 'skip':
        return this.span?.end({ outcome: 'skip', reason: settlement.rule, attempts });
      case 'dead_letter':
        return this.span?.end({ outcome: 'dead_letter', reason: settlement.letter.reason, attempts });
    }
  }
}
