import {
  type DeadLetters,
  type OutgoingRecord,
  type RecordWriter,
  type SourceRecord,
  type WriteOutcome,
} from '../engine/ports.ts';
import { type Clock } from '../kernel/clock.ts';
import { type Emit, type EventFields } from '../kernel/emit.ts';
import { type HoldCause, type Letter } from '../kernel/outcome.ts';
import { recordBytes } from '../kernel/record-bytes.ts';
import { type CardGuard } from '../screening/card-guard.ts';
import { toLetterRecord, toPointerRecord } from './letter.ts';

/** Brokers cut the connection on requests over their `socket.request.max.bytes`, and a slow link ends a write of many megabytes: neither comes back as a refusal. */
const MAX_BYTES = 16 * 1024 * 1024;

export interface DeadLetterParts {
  readonly writer: RecordWriter;
  /** What follows the source topic's name in the name of its dead-letter topic. */
  readonly suffix: string;
  readonly account: string;
  /** `fraud-screening-connector/<version>`. */
  readonly connector: string;
  readonly guard: Pick<CardGuard, 'isIn'>;
  readonly clock: Clock;
  readonly emit: Emit;
  /** For one write; the engine tries again afterwards. */
  readonly deadlineMs: number;
}

type Refused = Extract<WriteOutcome, { readonly do: 'refused' }>;

/**
 * Writes letters, each acknowledged by Kafka before it counts. A letter of a record with card data, or of one that was too
 * large to be read, is a pointer: it has nothing of the record. One that Kafka refuses becomes a pointer, so that no record stands in the way for ever; where
 * the pointer is refused as well, the record waits. A repeat after an unknown outcome may be there twice.
 */
export function createDeadLetters(parts: DeadLetterParts): DeadLetters {
  const { writer, suffix, account, connector, guard, clock, emit, deadlineMs } = parts;

  async function attempt(record: OutgoingRecord): Promise<'written' | Refused | HoldCause> {
    const outcome = await writer.write(record, deadlineMs);
    switch (outcome.do) {
      case 'written':
        return 'written';
      case 'refused':
        return outcome;
      case 'unavailable':
        return 'dead_letter_topic';
    }
  }

  async function writePointer(
    whole: OutgoingRecord,
    why: EventFields['letter_withheld']['why'],
  ): Promise<'written' | HoldCause> {
    const { topic } = whole;
    const end = await attempt(toPointerRecord(whole));
    if (end === 'written') emit('letter_withheld', { topic, why });
    return typeof end === 'string' ? end : 'dead_letter_topic';
  }

  async function writeWhole(whole: OutgoingRecord): Promise<'written' | HoldCause> {
    if (recordBytes(whole) > MAX_BYTES) return await writePointer(whole, 'too_large');
    const end = await attempt(whole);
    return typeof end === 'string' ? end : await writePointer(whole, end.why);
  }

  return {
    write: async (record: SourceRecord, letter: Letter, attempts: number): Promise<'written' | HoldCause> => {
      const stamp = { suffix, account, connector, attempts, failedAtMs: clock.nowMs() };
      const whole = toLetterRecord(record, letter, stamp);
      const why = withheldFor(record, letter, guard);
      const end = why === null ? await writeWhole(whole) : await writePointer(whole, why);
      if (end === 'written') emit('letter_written', { topic: whole.topic, reason: letter.reason });
      return end;
    },
  };
}

/** Why nothing of the record may be in its letter; null: all of it may. */
function withheldFor(
  record: SourceRecord,
  letter: Letter,
  guard: Pick<CardGuard, 'isIn'>,
): 'unread' | 'card_data' | null {
  if (record.unread !== undefined || letter.reason === 'record_too_large') return 'unread';
  return holdsCardData(record, letter, guard) ? 'card_data' : null;
}

/**
 * The guard of the flows has not seen what could not be read, nor what a mapping leaves out: so every letter is looked
 * at. Not Avro that was read: within its bytes an id, which may look like anything, cannot be told from other fields.
 */
function holdsCardData({ value }: SourceRecord, { reason, stage }: Letter, guard: Pick<CardGuard, 'isIn'>): boolean {
  if (reason === 'card_data') return true;
  if (value === null || (value[0] === 0 && stage !== 'read')) return false;
  return guard.isIn(value);
}
