import { type DeadLetters, type SourceRecord } from '../engine/ports.ts';
import { type HoldCause, type Letter, type LetterCode } from '../kernel/outcome.ts';
import { type Gate } from '../resilience/gate.ts';

/** What says nothing of a flood: a few records with card data, or that may have been scored before, are no sign of anything. */
const UNCOUNTED: ReadonlySet<LetterCode> = new Set(['card_data', 'ambiguous_then_refused', 'parked_by_operator']);
/** The flow has asked the floodgate already, before it decided that the record is at fault. */
const ASKED: ReadonlySet<LetterCode> = new Set([
  'status_400',
  'status_413',
  'status_422',
  'status_500',
  'error_msg',
  'rejected_by_service',
]);

/**
 * Writes letters only while the floodgate of their flow lets them through; `floodgate` while it holds, and nothing is
 * written. Each record is counted once, however often its letter is tried.
 */
export function behindFloodgates(letters: DeadLetters, gates: ReadonlyMap<string, Pick<Gate, 'letter'>>): DeadLetters {
  const admitted = new WeakSet<SourceRecord>();
  const mayWrite = (record: SourceRecord, { reason }: Letter): boolean => {
    if (UNCOUNTED.has(reason) || ASKED.has(reason) || admitted.has(record)) return true;
    if (gates.get(record.topic)?.letter() === 'hold') return false;
    admitted.add(record);
    return true;
  };
  return {
    write: async (record, letter, attempts): Promise<'written' | HoldCause> =>
      mayWrite(record, letter) ? await letters.write(record, letter, attempts) : 'floodgate',
  };
}
