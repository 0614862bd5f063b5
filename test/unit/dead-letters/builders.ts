import { toLetterRecord } from '../../../src/dead-letters/letter.ts';
import { type Candidate } from '../../../src/dead-letters/letter-index.ts';
import { type SourceRecord } from '../../../src/engine/ports.ts';
import { type Letter } from '../../../src/kernel/outcome.ts';

export const SOURCE = 'payments.created';
export const FAILED_MS: number = Date.UTC(2026, 0, 2);

/** A record of the source topic; a test breaks one thing. */
export function sourceRecord(change: Partial<SourceRecord> = {}): SourceRecord {
  return {
    topic: SOURCE,
    partition: 3,
    offset: 42n,
    timestampMs: Date.UTC(2026, 0, 1),
    key: Buffer.from('k1'),
    value: Buffer.from('{"trans_id":"t-1"}'),
    headers: { traceparent: '00-1-2-03' },
    ...change,
  };
}

/** Its letter, as it is read from its topic. */
export function letterOf(
  record: SourceRecord = sourceRecord(),
  letter: Letter = { reason: 'status_400', stage: 'score', httpStatus: 400 },
  change: Partial<SourceRecord> = {},
): SourceRecord {
  const options = {
    suffix: '.dlq',
    account: 'test',
    connector: 'fraud-screening-connector/1.2.3',
    attempts: 2,
    failedAtMs: FAILED_MS,
  };
  const { topic, key, value, headers } = toLetterRecord(record, letter, options);
  return { topic, partition: 0, offset: 7n, timestampMs: FAILED_MS, key, value, headers, ...change };
}

/** A letter that was chosen; a test breaks one thing. */
export function candidate(change: Partial<Candidate> = {}): Candidate {
  return {
    partition: 0,
    offset: 7n,
    timestampMs: FAILED_MS,
    reason: 'status_400',
    source: { do: 'record', topic: SOURCE, partition: 3, offset: 42n, timestampMs: Date.UTC(2026, 0, 1) },
    about: '3:42',
    transId: 't-1',
    isWithheld: false,
    isSendable: true,
    ...change,
  };
}
