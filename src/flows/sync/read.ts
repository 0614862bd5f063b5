import { type Reading, type SourceRecord } from '../../engine/ports.ts';
import { draftUpdate, type DraftUpdate, type UpdateRules } from '../../screening/status-update.ts';
import { readTransId } from '../../screening/transaction.ts';
import { decodeRecord, type RecordReader } from '../decode.ts';

/** A status update as read: what of it can be sent is decided but for what its score adds. */
export interface Update {
  readonly transId: string;
  readonly draft: DraftUpdate;
  /** When it was read here; monotonic. */
  readonly arrivedMs: number;
  /** For how long scoring had been held in all when it was read here. */
  readonly heldBeforeMs: number;
}

/** The moment of a reading. */
export interface ReadAt {
  /** Monotonic. */
  readonly nowMs: number;
  /** For how long scoring has been held in all. */
  readonly heldMs: number;
}

export interface UpdateReader extends RecordReader {
  readonly rules: UpdateRules;
}

/** Reads a record as a status update, or says how it ends: what can never be sent becomes a letter here. */
export function readUpdate(record: SourceRecord, reader: UpdateReader, at: ReadAt): Reading<Update> {
  const decoded = decodeRecord(record, reader);
  if (decoded.do !== 'object') return decoded;
  const { value } = decoded;
  const transId = Object.hasOwn(value, 'trans_id') ? readTransId(value['trans_id']) : null;
  if (transId === null)
    return { do: 'dead_letter', letter: { reason: 'trans_id_missing', stage: 'read', detail: '/trans_id' } };
  const draft = draftUpdate(value, reader.rules);
  if (draft.do === 'refuse') return { do: 'dead_letter', letter: draft.letter };
  return { do: 'item', item: { transId, draft, arrivedMs: at.nowMs, heldBeforeMs: at.heldMs } };
}
