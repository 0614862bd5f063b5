import { type FraudScore, type ScoreSignal, type ScoreValidationError } from './avro.generated.ts';
import { membersOf } from './members.ts';
import { readTransId } from './transaction.ts';

/** The fields of an answer that are looked at, by the service's names (spec: Transaction response). */
export type ScoreField =
  | 'frg_trans_id'
  | 'fraugster_approved'
  | 'score'
  | 'is_liable'
  | 'liability_reason'
  | 'validation'
  | 'evidence'
  | 'frg_device_id';

/** The part of a score record that comes from the answer. */
export type ScoreReading = Pick<
  FraudScore,
  | 'frg_trans_id'
  | 'decision'
  | 'decision_code'
  | 'score'
  | 'is_liable'
  | 'liability_reason'
  | 'validation_ok'
  | 'validation_errors'
  | 'signals'
  | 'frg_device_id'
  | 'extra'
>;

/** What an answer came to, and which of its fields had a value that the service's description excludes. */
export interface ReadScore {
  readonly reading: ScoreReading;
  readonly unrecognised: readonly ScoreField[];
}

const DECISIONS: readonly FraudScore['decision'][] = ['decline', 'approve', 'manual_review', 'custom'];

/** What stands for an answer where there is none: no decision, which is never an approval. */
export const NO_SCORE: ScoreReading = {
  frg_trans_id: null,
  decision: 'unknown',
  decision_code: null,
  score: null,
  is_liable: null,
  liability_reason: null,
  validation_ok: null,
  validation_errors: null,
  signals: null,
  frg_device_id: null,
  extra: '{}',
};

type JsonObject = Readonly<Record<string, unknown>>;

/**
 * Reads the answer to a scoring request; total. `body`: the JSON text that `answer` was parsed from.
 *
 * Every part is judged by itself. A part that the description excludes becomes unknown or null and names its field in
 * `unrecognised`; the whole field then stays in `extra` as it came, digit by digit, beside those that the score record
 * does not have. An empty text says nothing and becomes null. An answer that has no decision, or one that is not 0, 1,
 * 2 or 3, is `unknown`.
 */
export function readScore(answer: JsonObject, body: Buffer): ReadScore {
  const fields = new Fields(answer);
  const code = fields.take('fraugster_approved', answer['fraugster_approved'], decisionNumberOf);
  const decision = code === null ? undefined : DECISIONS[code];
  if (decision === undefined) fields.reject('fraugster_approved');
  const validation = fields.object('validation', answer['validation'], ['ok', 'errors']);
  const evidence = fields.object('evidence', answer['evidence'], ['signals']);
  const reading = {
    frg_trans_id: fields.id('frg_trans_id', answer['frg_trans_id']),
    decision: decision ?? 'unknown',
    decision_code: code,
    score: fields.take('score', answer['score'], shareOf),
    is_liable: fields.take('is_liable', answer['is_liable'], booleanOf),
    liability_reason: fields.take('liability_reason', answer['liability_reason'], textOf),
    validation_ok: fields.take('validation', validation?.['ok'], booleanOf),
    validation_errors: toValidationErrors(fields, validation),
    signals: toSignals(fields, evidence),
    frg_device_id: fields.take('frg_device_id', answer['frg_device_id'], textOf),
  };
  return { reading: { ...reading, extra: fields.extra(body) }, unrecognised: fields.unrecognised };
}

function toValidationErrors(fields: Fields, validation: JsonObject | null): ScoreReading['validation_errors'] {
  const errors = fields.objects('validation', validation?.['errors'], ['datapoint', 'msg']);
  if (errors === null) return null;
  return errors.map((error): ScoreValidationError => ({
    datapoint: fields.take('validation', error['datapoint'], textOf),
    msg: fields.take('validation', error['msg'], textOf),
  }));
}

function toSignals(fields: Fields, evidence: JsonObject | null): ScoreReading['signals'] {
  const signals = fields.objects('evidence', evidence?.['signals'], ['category', 'id', 'related_to', 'type']);
  if (signals === null) return null;
  return signals.map((signal): ScoreSignal => ({
    category: fields.take('evidence', signal['category'], textOf),
    id: fields.id('evidence', signal['id']),
    related_to: [...(fields.list('evidence', signal['related_to'], textOf) ?? [])],
    type: fields.take('evidence', signal['type'], textOf),
  }));
}

/** What a score record has a field for, and what says that there is no score. */
const KNOWN: ReadonlySet<string> = new Set<ScoreField | 'error_msg'>([
  'error_msg',
  'frg_trans_id',
  'fraugster_approved',
  'score',
  'is_liable',
  'liability_reason',
  'validation',
  'evidence',
  'frg_device_id',
]);

/** An answer's fields. `name`: the field of the answer that a value stands in, at whatever depth. */
class Fields {
  readonly unrecognised: ScoreField[] = [];
  readonly #kept: Set<string>;

  constructor(answer: JsonObject) {
    this.#kept = new Set(Object.keys(answer).filter((name) => !KNOWN.has(name)));
    if (!isNothing(answer['error_msg'])) this.#kept.add('error_msg');
  }

  /** The value as it is read; null where there is none, or it is rejected because `read` answers null. */
  take<T>(name: ScoreField, value: unknown, read: (value: unknown) => T | null): T | null {
    if (isNothing(value)) return null;
    const taken = read(value);
    if (taken === null) this.reject(name);
    return taken;
  }

  /** As the other flows read ids: a whole number is its digits. The description has texts alone, so it is kept as it came, too. */
  id(name: ScoreField, value: unknown): string | null {
    if (typeof value === 'number') this.reject(name);
    return this.take(name, value, idOf);
  }

  /** An object; what it has beside the `known` names is kept. */
  object(name: ScoreField, value: unknown, known: readonly string[]): JsonObject | null {
    const object = this.take(name, value, objectOf);
    if (object !== null && Object.keys(object).some((each) => !known.includes(each))) this.#kept.add(name);
    return object;
  }

  /** The entries of a list that can be read; the others are rejected, each by itself. */
  list<T>(name: ScoreField, value: unknown, read: (value: unknown) => T | null): readonly T[] | null {
    const entries = this.take(name, value, listOf);
    if (entries === null) return null;
    return entries.flatMap((entry) => {
      const taken = read(entry);
      if (taken === null) this.reject(name);
      return taken === null ? [] : [taken];
    });
  }

  objects(name: ScoreField, value: unknown, known: readonly string[]): readonly JsonObject[] | null {
    return this.list(name, value, (entry) => (objectOf(entry) === null ? null : this.object(name, entry, known)));
  }

  reject(name: ScoreField): void {
    this.#kept.add(name);
    if (!this.unrecognised.includes(name)) this.unrecognised.push(name);
  }

  /** What the score record does not hold, as text of a JSON object: each member as it came. */
  extra(body: Buffer): string {
    if (this.#kept.size === 0) return '{}';
    const kept = Array.from(membersOf(body.toString('utf8'))).filter(([name]) => this.#kept.has(name));
    return `{${kept.map(([name, text]) => `${JSON.stringify(name)}:${text}`).join(',')}}`;
  }
}

/** Says nothing: the description has texts where a field may have nothing to say. */
function isNothing(value: unknown): boolean {
  return value === undefined || value === null || value === '';
}

function decisionNumberOf(value: unknown): number | null {
  return typeof value === 'number' && Number.isSafeInteger(value) ? value : null;
}

function shareOf(value: unknown): number | null {
  return typeof value === 'number' && value >= 0 && value <= 1 ? value : null;
}

function booleanOf(value: unknown): boolean | null {
  return typeof value === 'boolean' ? value : null;
}

/** Half of a surrogate pair has no bytes in UTF-8: Avro could not hold it, and some of its readers would fail on it. */
function textOf(value: unknown): string | null {
  return typeof value === 'string' && value.isWellFormed() ? value : null;
}

function idOf(value: unknown): string | null {
  return textOf(readTransId(value));
}

function objectOf(value: unknown): JsonObject | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : null;
}

function listOf(value: unknown): readonly unknown[] | null {
  return Array.isArray(value) ? value : null;
}
