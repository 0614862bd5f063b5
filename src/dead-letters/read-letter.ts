import { type RecordHeaders, type SourceRecord } from '../engine/ports.ts';
import { parseRfc3339 } from '../screening/rfc3339.ts';

/** Where what is in a letter came from. */
export type LetterSource =
  | {
      readonly do: 'record';
      readonly topic: string;
      readonly partition: number;
      readonly offset: bigint;
      /** Milliseconds since 1970; null: the record had no time. */
      readonly timestampMs: number | null;
    }
  | { readonly do: 'webhook' };

/** What a letter says of itself, as it came: whoever may write to the topic can have written it. Null: the letter does not say. */
export interface LetterFacts {
  readonly reason: string;
  readonly detail: string | null;
  readonly stage: string | null;
  readonly attempts: string | null;
  readonly httpStatus: string | null;
  readonly serviceError: string | null;
  readonly failedAt: string | null;
  readonly connector: string | null;
  readonly account: string | null;
  readonly source: LetterSource;
  /** It is a pointer: what it is about is only at its source. */
  readonly isWithheld: boolean;
}

const PARTITION = /^\d{1,9}$/;
const OFFSET = /^\d{1,18}$/;

/** Reads the `dlq.` headers of a record; null: it is no letter. */
export function readLetter({ headers }: Pick<SourceRecord, 'headers'>): LetterFacts | null {
  const of = (name: string): string | null => headerText(headers, `dlq.${name}`);
  const reason = of('reason');
  const source = sourceOf(headers);
  if (reason === null || source === null) return null;
  return {
    reason,
    detail: of('detail'),
    stage: of('stage'),
    attempts: of('attempts'),
    httpStatus: of('http_status'),
    serviceError: of('service_error'),
    failedAt: of('failed_at'),
    connector: of('connector'),
    account: of('account'),
    source,
    isWithheld: of('value') === 'withheld',
  };
}

/** The text of a header that occurs once; null: there is none, or it has no value. */
export function headerText(headers: RecordHeaders, name: string): string | null {
  const value = Object.hasOwn(headers, name) ? headers[name] : null;
  return value === undefined || value === null || Array.isArray(value) ? null : value.toString();
}

function sourceOf(headers: RecordHeaders): LetterSource | null {
  const topic = headerText(headers, 'dlq.source.topic');
  if (topic === 'webhook') return { do: 'webhook' };
  const partition = headerText(headers, 'dlq.source.partition') ?? '';
  const offset = headerText(headers, 'dlq.source.offset') ?? '';
  if (topic === null || !PARTITION.test(partition) || !OFFSET.test(offset)) return null;
  const micros = parseRfc3339(headerText(headers, 'dlq.source.timestamp') ?? '');
  const timestampMs = micros === null ? null : Math.floor(micros / 1000);
  return { do: 'record', topic, partition: Number(partition), offset: BigInt(offset), timestampMs };
}
