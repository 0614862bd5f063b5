import { type FraudScore, type ScoreSignal, type ScoreValidationError } from './avro.generated.ts';

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

/**
 * Reads the answer to a scoring request; total. A value that the description excludes becomes unknown or null, is named
 * in `unrecognised` and stays in `extra` as it came, beside the fields that the score record has not. An answer that
 * has no decision, or one that is not 0, 1, 2 or 3, is `unknown`.
 */
export function readScore(answer: Readonly<Record<string, unknown>>): ReadScore {
  const fields = new Fields(answer);
  const code = fields.take('fraugster_approved', isDecisionNumber);
  const decision = code === null ? undefined : DECISIONS[code];
  if (decision === undefined) fields.reject('fraugster_approved');
  const validation = fields.take('validation', isValidation);
  const evidence = fields.take('evidence', isEvidence);
  const reading = {
    frg_trans_id: fields.take('frg_trans_id', isText),
    decision: decision ?? 'unknown',
    decision_code: code,
    score: fields.take('score', isShare),
    is_liable: fields.take('is_liable', isBoolean),
    liability_reason: fields.take('liability_reason', isText),
    ...readValidation(validation),
    signals: evidence?.signals?.map(toSignal) ?? null,
    frg_device_id: fields.take('frg_device_id', isText),
  };
  // What the record cannot hold of a nested object is kept by keeping the whole of it.
  if (hasMore(validation, validation?.errors, { outer: ['ok', 'errors'], inner: ['datapoint', 'msg'] }))
    fields.keep('validation');
  if (hasMore(evidence, evidence?.signals, { outer: ['signals'], inner: ['category', 'id', 'related_to', 'type'] }))
    fields.keep('evidence');
  return { reading: { ...reading, extra: fields.extra() }, unrecognised: fields.unrecognised };
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

/** An answer's fields; those that a score record has not, and those that are kept, remain as `extra`. */
class Fields {
  readonly unrecognised: ScoreField[] = [];
  readonly #answer: Readonly<Record<string, unknown>>;
  readonly #kept: string[] = [];

  constructor(answer: Readonly<Record<string, unknown>>) {
    this.#answer = answer;
  }

  take<T>(name: ScoreField, isValid: (value: unknown) => value is T): T | null {
    const value = this.#answer[name];
    if (value === undefined || value === null) return null;
    if (isValid(value)) return value;
    this.reject(name);
    return null;
  }

  reject(name: ScoreField): void {
    this.keep(name);
    if (!this.unrecognised.includes(name)) this.unrecognised.push(name);
  }

  keep(name: ScoreField): void {
    this.#kept.push(name);
  }

  extra(): string {
    const names = Object.keys(this.#answer).filter((name) => !KNOWN.has(name) || this.#kept.includes(name));
    if (names.length === 0) return '{}';
    // fromEntries defines properties, so that a field named __proto__ is a field like any other.
    return JSON.stringify(Object.fromEntries(names.map((name) => [name, this.#answer[name]])));
  }
}

interface Validation {
  readonly ok?: boolean | null;
  readonly errors?: readonly Readonly<Record<string, unknown>>[] | null;
}

interface Evidence {
  readonly signals?: readonly Readonly<Record<string, unknown>>[] | null;
}

function readValidation(validation: Validation | null): Pick<ScoreReading, 'validation_ok' | 'validation_errors'> {
  return {
    validation_ok: validation?.ok ?? null,
    validation_errors: validation?.errors?.map(toValidationError) ?? null,
  };
}

function toValidationError(error: Readonly<Record<string, unknown>>): ScoreValidationError {
  return { datapoint: textOf(error['datapoint']), msg: textOf(error['msg']) };
}

function toSignal(signal: Readonly<Record<string, unknown>>): ScoreSignal {
  const related = signal['related_to'];
  return {
    category: textOf(signal['category']),
    id: textOf(signal['id']),
    related_to: Array.isArray(related) ? related.filter(isText) : [],
    type: textOf(signal['type']),
  };
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

interface KnownNames {
  readonly outer: readonly string[];
  readonly inner: readonly string[];
}

function hasMore(outer: object | null, inner: readonly object[] | null | undefined, known: KnownNames): boolean {
  if (outer === null) return false;
  return hasOther(outer, known.outer) || (inner ?? []).some((value) => hasOther(value, known.inner));
}

function hasOther(value: object, names: readonly string[]): boolean {
  return Object.keys(value).some((name) => !names.includes(name));
}

function isDecisionNumber(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value);
}

function isShare(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value <= 1;
}

/** Half of a surrogate pair has no bytes in UTF-8: Avro could not hold it, and some of its readers would fail on it. */
function isText(value: unknown): value is string {
  return typeof value === 'string' && value.isWellFormed();
}

function isBoolean(value: unknown): value is boolean {
  return typeof value === 'boolean';
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isTextOrNothing(value: unknown): boolean {
  return value === undefined || value === null || isText(value);
}

function isListOf(value: unknown, isItem: (item: Readonly<Record<string, unknown>>) => boolean): boolean {
  return (
    value === undefined ||
    value === null ||
    (Array.isArray(value) && value.every((item) => isObject(item) && isItem(item)))
  );
}

function isValidation(value: unknown): value is Validation {
  if (!isObject(value)) return false;
  const { ok, errors } = value as { ok?: unknown; errors?: unknown };
  if (ok !== undefined && ok !== null && !isBoolean(ok)) return false;
  return isListOf(errors, (error) => isTextOrNothing(error['datapoint']) && isTextOrNothing(error['msg']));
}

function isEvidence(value: unknown): value is Evidence {
  return isObject(value) && isListOf(value['signals'], isSignal);
}

function isSignal(signal: Readonly<Record<string, unknown>>): boolean {
  const related = signal['related_to'];
  if (related !== undefined && related !== null && !(Array.isArray(related) && related.every(isText))) return false;
  return isTextOrNothing(signal['category']) && isTextOrNothing(signal['id']) && isTextOrNothing(signal['type']);
}
