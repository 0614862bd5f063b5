import { Buffer } from 'node:buffer';
import { type OutgoingRecord, type RecordHeaders, type SourceRecord } from '../engine/ports.ts';
import { type Letter } from '../kernel/outcome.ts';
import { maskLongNumbers } from '../screening/card-guard-numbers.ts';
import { formatRfc3339Millis } from '../screening/rfc3339.ts';

/** Headers that begin so are ours: those of an earlier letter of the record are replaced, not kept beside the new ones. */
const PREFIX = 'dlq.';
const MAX_TEXT_BYTES = 512;
/** What is not to be seen: control characters become spaces, invisible ones nothing. */
const CONTROL = /[\p{Cc}\u2028\u2029]/gu;
const INVISIBLE = /\p{Cf}/gu;
/** A JSON Web Token: all begin so. */
const TOKEN = /eyJ[\w.-]{8,}/gu;
/** As long as RFC 5321 section 4.5.3.1 lets its parts be; the bounds keep the search linear. */
const EMAIL = /[^\s@"'<>(),:;]{1,64}@[^\s@"'<>(),:;]{1,255}/gu;

/** What a letter says of who writes it, and when. */
export interface LetterStamp {
  /** Name of the service account. */
  readonly account: string;
  /** Name and version of the connector: `fraud-screening-connector/<version>`. */
  readonly connector: string;
  /** Milliseconds since 1970. */
  readonly failedAtMs: number;
}

export interface LetterOptions extends LetterStamp {
  /** What follows the source topic's name in the name of its dead-letter topic. */
  readonly suffix: string;
  /** Attempts of this run; those of an earlier letter of the record are added. */
  readonly attempts: number;
}

/** An authentic webhook that cannot be published. */
export interface ParkedWebhook {
  /** The dead-letter topic it goes to. */
  readonly topic: string;
  readonly body: Buffer;
  /** Both headers as they came, so that the signature can be verified again. */
  readonly signature: string;
  readonly timestamp: string;
  readonly signatureHeader: string;
  readonly timestampHeader: string;
  /** A stable code that says more. */
  readonly detail?: string;
}

/** The record that goes to the dead-letter topic: the source's key, bytes and headers as they were, and why it is there. */
export function toLetterRecord(record: SourceRecord, letter: Letter, options: LetterOptions): OutgoingRecord {
  const attempts = options.attempts + earlierAttempts(record.headers);
  return {
    topic: `${record.topic}${options.suffix}`,
    key: record.key,
    value: record.value,
    headers: {
      ...foreign(record.headers),
      ...reasons(letter, options),
      'dlq.attempts': String(attempts),
      'dlq.source.topic': record.topic,
      'dlq.source.partition': String(record.partition),
      'dlq.source.offset': String(record.offset),
      // Kafka says -1 of a record that has no time.
      ...(record.timestampMs < 0 ? {} : { 'dlq.source.timestamp': formatRfc3339Millis(record.timestampMs) }),
    },
  };
}

/** The same letter without anything of the source's data, saying so: for what is too large, or must not be copied. */
export function toPointerRecord(letter: OutgoingRecord): OutgoingRecord {
  const own = Object.entries(letter.headers).filter(([name]) => name.startsWith(PREFIX));
  return { topic: letter.topic, key: null, value: null, headers: { ...headersOf(own), 'dlq.value': 'withheld' } };
}

/** The record of an authentic webhook that this version does not understand: its body and what it was signed with. */
export function toParkedRecord(webhook: ParkedWebhook, stamp: LetterStamp): OutgoingRecord {
  const { detail } = webhook;
  const letter: Letter = {
    reason: 'webhook_unrecognised',
    stage: 'webhook',
    ...(detail === undefined ? {} : { detail }),
  };
  return {
    topic: webhook.topic,
    key: null,
    value: webhook.body,
    headers: {
      [webhook.signatureHeader]: webhook.signature,
      [webhook.timestampHeader]: webhook.timestamp,
      ...reasons(letter, stamp),
      'dlq.attempts': '1',
      'dlq.source.topic': 'webhook',
    },
  };
}

function reasons(letter: Letter, stamp: LetterStamp): Record<string, string> {
  const { reason, stage, detail, httpStatus, serviceError } = letter;
  return {
    'dlq.reason': reason,
    ...(detail === undefined ? {} : { 'dlq.detail': masked(detail) }),
    'dlq.stage': stage,
    ...(httpStatus === undefined ? {} : { 'dlq.http_status': String(httpStatus) }),
    ...(serviceError === undefined ? {} : { 'dlq.service_error': masked(serviceError) }),
    'dlq.failed_at': formatRfc3339Millis(stamp.failedAtMs),
    'dlq.connector': stamp.connector,
    'dlq.account': stamp.account,
  };
}

/** Masked before it is cut: a number that the cut goes through would no longer look like one. Made visible before that: what hides in a number would break it up. */
function masked(text: string): string {
  const visible = text.replaceAll(CONTROL, ' ').replaceAll(INVISIBLE, '');
  const bytes = Buffer.from(maskLongNumbers(visible.replaceAll(TOKEN, '[token]').replaceAll(EMAIL, '[e-mail]')));
  if (bytes.length <= MAX_TEXT_BYTES) return bytes.toString();
  let end = MAX_TEXT_BYTES;
  while (end > 0 && isContinuation(bytes[end])) end -= 1;
  return bytes.subarray(0, end).toString();
}

/** Of a UTF-8 sequence every byte but the first. */
function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 0x80 && byte < 0xc0;
}

function foreign(headers: RecordHeaders): RecordHeaders {
  return headersOf(Object.entries(headers).filter(([name]) => !name.startsWith(PREFIX)));
}

/** `Object.fromEntries` defines, so a header named `__proto__` stays one. */
function headersOf(entries: readonly (readonly [string, RecordHeaders[string]])[]): RecordHeaders {
  return Object.fromEntries(entries);
}

function earlierAttempts(headers: RecordHeaders): number {
  const value = headers['dlq.attempts'];
  const text = Array.isArray(value) ? undefined : value?.toString();
  return text !== undefined && /^\d{1,9}$/.test(text) ? Number(text) : 0;
}
