import { type DeadLetters, type SourceRecord } from '../engine/ports.ts';
import { type HoldCause, isStatusCode, type Letter, type LetterCode } from '../kernel/outcome.ts';
import { type Gate } from '../resilience/gate.ts';

/** No sign of more to come: a few records with card data, or that may have been scored before, or that an operator named. */
const FREE: ReadonlySet<LetterCode> = new Set(['card_data', 'ambiguous_then_refused', 'parked_by_operator']);
/** The flow asked the guard before it decided that the record is at fault. */
const DECIDED: ReadonlySet<LetterCode> = new Set([
  'error_msg',
  'unusable_answer',
  'timed_out',
  'connection_failed',
  'rejected_by_service',
]);

/**
 * Writes dead letters only while the guard of their flow permits them; else `dead_letter_guard`, and nothing is written.
 * Each record spends once, however often its dead letter is tried; all records of a batch that could not be read spend
 * once together.
 */
export function guarded(
  letters: DeadLetters,
  gates: ReadonlyMap<string, Pick<Gate, 'permitsDeadLetter'>>,
): DeadLetters {
  const permitted = new WeakSet<SourceRecord>();
  /** The last batch of each partition of which nothing could be read. */
  const permittedBatches = new Map<string, bigint>();
  const mayWrite = (record: SourceRecord, { reason }: Letter): boolean => {
    if (FREE.has(reason) || DECIDED.has(reason) || isStatusCode(reason) || permitted.has(record)) return true;
    const batch = record.unread?.batch ?? null;
    const partition = `${record.topic}:${String(record.partition)}`;
    if (batch !== null && permittedBatches.get(partition) === batch) return true;
    if (gates.get(record.topic)?.permitsDeadLetter() === false) return false;
    if (batch !== null) permittedBatches.set(partition, batch);
    permitted.add(record);
    return true;
  };
  return {
    write: async (record, letter, attempts): Promise<'written' | HoldCause> =>
      mayWrite(record, letter) ? await letters.write(record, letter, attempts) : 'dead_letter_guard',
  };
}
