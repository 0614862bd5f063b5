import { type RecordHeaders, type SourceRecord } from '../engine/ports.ts';
import { type LetterSource } from './read-letter.ts';

/** Kafka's word for a record without a time. */
const NO_TIME_MS = -1;

/**
 * The record that a letter is about, as it was read at its source: a flow makes of it what it would have made of that. It
 * keeps `dlq.attempts`, so that a new letter counts on. `found`: what a pointer points to.
 */
export function toSourceRecord(
  letter: SourceRecord,
  source: Extract<LetterSource, { do: 'record' }>,
  found: SourceRecord | null = null,
): SourceRecord {
  const { topic, partition, offset, timestampMs } = source;
  if (found !== null) return { ...found, headers: { ...found.headers, ...attemptsOf(letter.headers) } };
  const { key, value, headers } = letter;
  return { topic, partition, offset, timestampMs: timestampMs ?? NO_TIME_MS, key, value, headers };
}

function attemptsOf(headers: RecordHeaders): RecordHeaders {
  const attempts = headers['dlq.attempts'];
  return attempts === undefined ? {} : { 'dlq.attempts': attempts };
}
