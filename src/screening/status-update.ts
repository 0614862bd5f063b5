/**
 * The service's rules for status updates (spec: Sync status update, rules 1 to 3; Transaction status): what of an event
 * goes out under its trans_id, in which shape, and which events cannot be sent at all.
 */
import { type UpdateNote } from '../kernel/emit.ts';
import { type Letter } from '../kernel/outcome.ts';
import { formatRfc3339, parseRfc3339 } from './rfc3339.ts';

const STATUSES = [
  'approved',
  'approved_recurring',
  'declined',
  'declined_fraudscreening',
  'error',
  'frg_declined',
  'payment_pending',
] as const;

/** The seven statuses of the spec. */
export type TransactionStatus = (typeof STATUSES)[number];

/** Where the optional fields belong ("when status is approved or declined"; a recurring approval is one). */
const DECIDED: ReadonlySet<string> = new Set(['approved', 'approved_recurring', 'declined']);

const AUTHENTICATION_STATUSES: ReadonlySet<string> = new Set([
  'fully_authenticated',
  'partially_authenticated',
  'not_authenticated',
  'failed_authentication',
  'unable',
]);

const EXEMPTION_TYPES: ReadonlySet<string> = new Set([
  'out_of_scope',
  'low_value',
  'low_risk',
  'recurring_transaction',
]);

/** Read here, not sent: the key of the update, and a local field that tells card payments apart. */
const LOCAL_FIELDS: ReadonlySet<string> = new Set(['trans_id', 'pmt_method']);

const FIELDS = [
  'status',
  'ts',
  'acq_ref_id',
  'issuer_reason_code',
  'issuer_decline_reason',
  'authentication_status',
  'exemption_type_raised',
  'http_status_code',
  'latency',
] as const;

/** A field of an update, by the spec's name. */
export type UpdateField = (typeof FIELDS)[number];

/** What was left out of an update: a field of the spec, the former nested `extra`, or any other name (`unknown`). */
export type DroppedField = UpdateField | 'extra' | 'unknown';

/** What the operator says of the account; the spec leaves these to the client. */
export interface UpdateRules {
  /** Whether the account is under chargeback protection: then an approved card payment needs `acq_ref_id`. */
  readonly chargebackProtection: boolean;
  /** The values of `pmt_method` that are cards; empty: every method counts as one. */
  readonly cardMethods: readonly string[];
  /**
   * What an update without `pmt_method` counts as: a card, unless this process scored the payment and remembers another
   * method; or no card, whatever it remembers, so that the same update always ends alike.
   */
  readonly unknownMethod: 'card' | 'send';
  /** Which declined payments need a reason of the issuer (rule 1). */
  readonly declineReasonRequired: 'always' | 'card' | 'never';
  /** The closed list of `issuer_reason_code`, which the spec does not show; null: any. */
  readonly reasonCodes: ReadonlySet<string> | null;
  /** Send several `exemption_type_raised` as an array, not the first one alone. */
  readonly exemptionAsArray: boolean;
}

/** What is known here of the call that scored the transaction. */
export interface ScoringCall {
  readonly httpStatus: number;
  readonly latencyMs: number;
  readonly paymentMethod: string | null;
}

export type FieldValue = string | number | readonly string[];

/** The fields of one update in the order of the spec. */
export type UpdateFields = readonly (readonly [UpdateField, FieldValue])[];

export type WireUpdate =
  | {
      readonly do: 'send';
      readonly fields: UpdateFields;
      readonly dropped: readonly DroppedField[];
      readonly notes: readonly UpdateNote[];
    }
  | { readonly do: 'refuse'; readonly letter: Letter };

type MissingField = 'acq_ref_id' | 'issuer_reason_code';

/** An update as far as its event alone decides it. */
export interface DraftUpdate {
  readonly do: 'draft';
  readonly fields: ReadonlyMap<UpdateField, FieldValue>;
  readonly dropped: readonly DroppedField[];
  readonly notes: readonly UpdateNote[];
  /** Why it cannot be sent if it was paid by card, where only the score's payment method can tell; null: it can. */
  readonly missingIfCard: MissingField | null;
}

/** The update of an event, ready to be sent, or why it never can be. Pure; the same event always gives the same update. */
export function toWireUpdate(
  event: Readonly<Record<string, unknown>>,
  context: UpdateRules & { readonly scored: ScoringCall | null },
): WireUpdate {
  const draft = draftUpdate(event, context);
  return draft.do === 'refuse' ? draft : completeUpdate(draft, context, context.scored);
}

/** The part of `toWireUpdate` that needs nothing but the event, so that what can never be right ends when it is read. */
export function draftUpdate(
  event: Readonly<Record<string, unknown>>,
  rules: UpdateRules,
): DraftUpdate | Extract<WireUpdate, { do: 'refuse' }> {
  const status = readStatus(event['status']);
  if (status === null) return refuse('status_unknown', '/status');
  const micros = typeof event['ts'] === 'string' ? parseRfc3339(event['ts']) : null;
  if (micros === null) return refuse('ts_invalid', '/ts');

  const draft = new Draft(event);
  draft.set('status', status);
  draft.set('ts', formatRfc3339(Math.floor(micros / 1000)));
  draft.take('acq_ref_id', toText);
  takeReason(draft, status, rules.reasonCodes);
  takeDecided(draft, status, rules.exemptionAsArray);
  draft.take('http_status_code', toHttpStatus);
  draft.take('latency', toLatency);
  draft.dropOthers();

  const { fields, dropped, notes } = draft;
  const missing = missingOf(draft, status);
  if (missing === null) return { do: 'draft', fields, dropped, notes, missingIfCard: null };
  const end = endWithout(missing, toText(draft.given('pmt_method')), rules);
  if (end === 'refused') return refuseWithout(missing);
  notes.push(missing === 'acq_ref_id' ? 'approved_without_acq_ref_id' : 'declined_without_reason');
  return { do: 'draft', fields, dropped, notes, missingIfCard: end === 'refused_if_card' ? missing : null };
}

/** What an update does not have that its status may need (spec: Sync status update, `acq_ref_id` and rule 1). */
function missingOf({ fields }: Draft, status: TransactionStatus): MissingField | null {
  if (status === 'approved') return fields.has('acq_ref_id') ? null : 'acq_ref_id';
  if (status !== 'declined' || fields.has('issuer_reason_code') || fields.has('issuer_decline_reason')) return null;
  return 'issuer_reason_code';
}

/** What the event alone says of an update without such a field. `method`: null: the event has none. */
function endWithout(
  missing: MissingField,
  method: string | null,
  rules: UpdateRules,
): 'sent' | 'refused' | 'refused_if_card' {
  const ofApproved = rules.chargebackProtection ? 'card' : 'never';
  const needed = missing === 'acq_ref_id' ? ofApproved : rules.declineReasonRequired;
  if (needed === 'never') return 'sent';
  if (needed === 'always') return 'refused';
  if (method === null && rules.unknownMethod === 'card' && rules.cardMethods.length > 0) return 'refused_if_card';
  return isCard(rules, method) ? 'refused' : 'sent';
}

/** Adds to a draft what is known of the scoring call: the event's own `http_status_code` and `latency` win. */
export function completeUpdate(draft: DraftUpdate, rules: UpdateRules, scored: ScoringCall | null): WireUpdate {
  if (draft.missingIfCard !== null && isCard(rules, scored?.paymentMethod ?? null))
    return refuseWithout(draft.missingIfCard);
  const all = new Map(draft.fields);
  const [status, latency] = [toHttpStatus(scored?.httpStatus), toLatency(scored?.latencyMs)];
  if (!all.has('http_status_code') && status !== null) all.set('http_status_code', status);
  if (!all.has('latency') && latency !== null) all.set('latency', latency);
  const fields = FIELDS.flatMap((name) => {
    const value = all.get(name);
    return value === undefined ? [] : [[name, value] as const];
  });
  return { do: 'send', fields, dropped: draft.dropped, notes: draft.notes };
}

/** The fields gathered from one event. A null or an empty text is a field that was not given. */
class Draft {
  readonly fields = new Map<UpdateField, FieldValue>();
  readonly dropped: DroppedField[] = [];
  readonly notes: UpdateNote[] = [];
  readonly #event: Readonly<Record<string, unknown>>;

  constructor(event: Readonly<Record<string, unknown>>) {
    this.#event = event;
  }

  /** The field as given, or undefined. */
  given(name: string): unknown {
    const value = Object.hasOwn(this.#event, name) ? this.#event[name] : undefined;
    return value === null || value === '' ? undefined : value;
  }

  set(name: UpdateField, value: FieldValue): void {
    this.fields.set(name, value);
  }

  /** Keeps the field if it is given and readable; drops it if it is given and not. */
  take(name: UpdateField, read: (value: unknown) => FieldValue | null): void {
    const given = this.given(name);
    if (given === undefined) return;
    const value = read(given);
    if (value === null) this.dropped.push(name);
    else this.set(name, value);
  }

  /** Leaves the field out, and says so if it was given. */
  drop(name: UpdateField): void {
    if (this.given(name) !== undefined) this.dropped.push(name);
  }

  dropOthers(): void {
    for (const name of Object.keys(this.#event)) {
      if (this.given(name) === undefined || LOCAL_FIELDS.has(name) || isField(name)) continue;
      this.dropped.push(name === 'extra' ? 'extra' : 'unknown');
    }
  }
}

/**
 * Rule 1: on declined at most one of the two; the code may also go with approved. Not with approved_recurring: the spec
 * permits it for two statuses only, and a service that held to that would refuse the whole update.
 */
function takeReason(draft: Draft, status: TransactionStatus, codes: ReadonlySet<string> | null): void {
  if (status !== 'declined') {
    if (status === 'approved') draft.take('issuer_reason_code', (value) => listed(toText(value), codes));
    else draft.drop('issuer_reason_code');
    draft.drop('issuer_decline_reason');
    return;
  }
  const code = toText(draft.given('issuer_reason_code'));
  const text = toText(draft.given('issuer_decline_reason'));
  const accepted = listed(code, codes);
  if (accepted !== null) {
    draft.set('issuer_reason_code', accepted);
    draft.drop('issuer_decline_reason');
  } else if (text !== null) {
    draft.set('issuer_decline_reason', text);
    draft.drop('issuer_reason_code');
  } else if (code !== null) {
    draft.set('issuer_decline_reason', code);
    draft.notes.push('reason_code_as_text');
  } else {
    draft.drop('issuer_reason_code');
    draft.drop('issuer_decline_reason');
  }
}

function takeDecided(draft: Draft, status: TransactionStatus, asArray: boolean): void {
  if (!DECIDED.has(status)) {
    draft.drop('authentication_status');
    draft.drop('exemption_type_raised');
    return;
  }
  draft.take('authentication_status', (value) =>
    listed(typeof value === 'string' ? value : null, AUTHENTICATION_STATUSES),
  );
  const given = draft.given('exemption_type_raised');
  if (given === undefined) return;
  const values: readonly unknown[] = Array.isArray(given) ? given : [given];
  const known = [
    ...new Set(values.filter((value) => typeof value === 'string' && EXEMPTION_TYPES.has(value))),
  ] as string[];
  const [first] = known;
  if (first !== undefined) draft.set('exemption_type_raised', asArray && known.length > 1 ? known : first);
  const sent = asArray ? known.length : Math.min(1, known.length);
  if (sent < values.length) draft.dropped.push('exemption_type_raised');
}

function isCard({ cardMethods, unknownMethod }: UpdateRules, method: string | null): boolean {
  if (method === null) return unknownMethod === 'card';
  return cardMethods.length === 0 || cardMethods.includes(method);
}

function readStatus(value: unknown): TransactionStatus | null {
  return STATUSES.find((status) => status === value) ?? null;
}

function isField(name: string): boolean {
  return FIELDS.some((field) => field === name);
}

/** A non-empty text; a whole number that is exact becomes its digits, because producers write codes and references both ways. */
function toText(value: unknown): string | null {
  if (typeof value === 'string') return value === '' ? null : value;
  return typeof value === 'number' && Number.isSafeInteger(value) ? String(value) : null;
}

function listed(value: string | null, list: ReadonlySet<string> | null): string | null {
  return value !== null && (list === null || list.has(value)) ? value : null;
}

function toHttpStatus(value: unknown): number | null {
  return typeof value === 'number' && Number.isInteger(value) && value >= 100 && value <= 599 ? value : null;
}

/** Whole milliseconds. */
function toLatency(value: unknown): number | null {
  if (typeof value !== 'number' || !(value >= 0)) return null;
  const whole = Math.round(value);
  return Number.isSafeInteger(whole) ? whole : null;
}

function refuseWithout(missing: MissingField): Extract<WireUpdate, { do: 'refuse' }> {
  const reason = missing === 'acq_ref_id' ? 'acq_ref_id_missing' : 'decline_reason_missing';
  return refuse(reason, `/${missing}`);
}

function refuse(reason: Letter['reason'], detail: string): Extract<WireUpdate, { do: 'refuse' }> {
  return { do: 'refuse', letter: { reason, stage: 'rules', detail } };
}
