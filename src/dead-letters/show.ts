import { type RecordHeaders, type SourceRecord } from '../engine/ports.ts';
import { isLetterCode, letterRow } from '../kernel/outcome.ts';
import { formatRfc3339Millis } from '../screening/rfc3339.ts';
import { printable, printableBytes } from './printable.ts';
import { type LetterFacts, readLetter } from './read-letter.ts';
import { redact, type RedactedField, shownId, withoutAddresses, withoutQuotes } from './redact.ts';

/** What a letter's value was read as. */
export type ShownValue =
  | { readonly do: 'object'; readonly from: 'JSON' | 'Avro'; readonly value: unknown }
  /** `why`: in words. */
  | { readonly do: 'unreadable'; readonly why: string };

/** One letter, with nothing in it that may not be on a screen. */
export interface ShownLetter {
  readonly topic: string;
  readonly partition: number;
  readonly offset: string;
  readonly writtenAt: string | null;
  readonly key: string;
  /** Null: the record is no letter. */
  readonly letter: ShownFacts | null;
  readonly transId: string | null;
  /** Those of the source. */
  readonly headers: readonly RedactedField[];
  readonly value: {
    readonly is: string;
    readonly bytes: number;
    readonly fields: readonly RedactedField[];
  };
}

interface ShownFacts extends Omit<LetterFacts, 'source' | 'isWithheld'> {
  readonly means: string;
  readonly mend: string;
  readonly source: string;
  readonly withheld: boolean;
}

/** Headers whose values are made by machines and say nothing of a person. */
const SHOWN_HEADERS = /^(?:traceparent|content-type|ce_\w+|x-servicewebhook-timestamp)$/;
const WITHHELD =
  'withheld: the letter is a pointer, because the value is card data or too large; the record is at its source';

/** What may be shown of a record in a dead-letter topic. `transId`: as the flow reads it; null: it cannot be told. */
export function showLetter(record: SourceRecord, value: ShownValue, transId: string | null): ShownLetter {
  const facts = readLetter(record);
  const { topic, partition, offset, timestampMs } = record;
  return {
    topic,
    partition,
    offset: String(offset),
    writtenAt: timestampMs < 0 ? null : formatRfc3339Millis(timestampMs),
    key: record.key === null ? 'none' : shownId(printableBytes(record.key)),
    letter: facts === null ? null : shownFacts(facts),
    transId: transId === null ? null : shownId(transId),
    headers: headersOf(record.headers),
    value: {
      is: kindOf(record, value, facts),
      bytes: record.value?.length ?? 0,
      fields: value.do === 'object' && record.value !== null ? redact(value.value) : [],
    },
  };
}

/** A letter as lines for people. */
export function showLines(shown: ShownLetter): readonly string[] {
  const { letter, value } = shown;
  const at = `${shown.topic} ${String(shown.partition)}:${shown.offset}`;
  const lines: string[] = [];
  const row = (name: string, text: string | null): void => {
    if (text !== null) lines.push(`${name.padEnd(14)} ${text}`);
  };
  row('letter', shown.writtenAt === null ? at : `${at}, written ${shown.writtenAt}`);
  if (letter === null) row('', 'no letter: the headers dlq.reason and dlq.source.… are not there');
  else {
    row('reason', letter.reason);
    row('means', letter.means);
    row('what to do', letter.mend);
    row('detail', letter.detail);
    row('stage', letter.stage);
    row('attempts', letter.attempts);
    row('http status', letter.httpStatus);
    row('service error', letter.serviceError);
    row('failed at', letter.failedAt);
    row('written by', [letter.connector, letter.account].filter((text) => text !== null).join(', account '));
    row('source', letter.source);
  }
  row('trans_id', shown.transId);
  row('key', shown.key);
  for (const [index, { name, is }] of shown.headers.entries()) row(index === 0 ? 'headers' : '', `${name}: ${is}`);
  row('value', value.is);
  for (const { name, is } of value.fields) row('', `${name}: ${is}`);
  return lines;
}

function shownFacts(facts: LetterFacts): ShownFacts {
  const { reason, isWithheld, source, ...texts } = facts;
  const { means, mend } = isLetterCode(reason)
    ? letterRow(reason)
    : { means: 'This version does not know the reason.', mend: 'Look it up in the version that wrote the letter.' };
  return {
    reason: printable(reason),
    detail: clean(texts.detail),
    stage: clean(texts.stage),
    attempts: clean(texts.attempts),
    httpStatus: clean(texts.httpStatus),
    serviceError: texts.serviceError === null ? null : withoutQuotes(texts.serviceError),
    failedAt: facts.failedAt === null ? null : printable(facts.failedAt),
    connector: facts.connector === null ? null : printable(facts.connector),
    account: facts.account === null ? null : printable(facts.account),
    means,
    mend,
    source: sourceText(source),
    withheld: isWithheld,
  };
}

function clean(text: string | null): string | null {
  return text === null ? null : withoutAddresses(text);
}

function sourceText(source: LetterFacts['source']): string {
  if (source.do === 'webhook') return 'a webhook';
  const { topic, partition, offset, timestampMs } = source;
  const time = timestampMs === null ? '' : ` of ${formatRfc3339Millis(timestampMs)}`;
  return `${printable(topic)} ${String(partition)}:${String(offset)}${time}`;
}

function headersOf(headers: RecordHeaders): readonly RedactedField[] {
  return Object.entries(headers)
    .filter(([name]) => !name.startsWith('dlq.'))
    .map(([name, value]) => ({ name: withoutAddresses(name), is: headerValue(name, value) }));
}

function headerValue(name: string, value: RecordHeaders[string]): string {
  const values = value === undefined ? [] : Array.isArray(value) ? value : [value];
  return values
    .map((each) => {
      if (each === null) return 'none';
      const bytes = Buffer.from(each);
      return SHOWN_HEADERS.test(name.toLowerCase())
        ? withoutAddresses(printableBytes(bytes))
        : `${String(bytes.length)} bytes, not shown`;
    })
    .join('; ');
}

function kindOf({ value: bytes }: SourceRecord, value: ShownValue, facts: LetterFacts | null): string {
  if (facts?.isWithheld === true) return WITHHELD;
  if (bytes === null) return 'none';
  const size = `${bytes.length.toLocaleString('en')} bytes`;
  return value.do === 'object' ? `${value.from}, ${size}` : `${size}, not shown: ${value.why}`;
}
