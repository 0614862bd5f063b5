import { isJsonObject, type JsonObject } from './json.ts';
import { timestampDefect } from './timestamp.ts';

/** A status update that keeps the rules of the spec. */
export interface StatusUpdate {
  readonly status: string;
  readonly ts: string;
  readonly hasAcqRefId: boolean;
}

/** The statuses of the spec (Transaction status). */
export const STATUSES: readonly string[] = [
  'approved',
  'approved_recurring',
  'declined',
  'declined_fraudscreening',
  'error',
  'frg_declined',
  'payment_pending',
];

const AUTHENTICATION = [
  'fully_authenticated',
  'partially_authenticated',
  'not_authenticated',
  'failed_authentication',
  'unable',
];
const EXEMPTIONS = ['out_of_scope', 'low_value', 'low_risk', 'recurring_transaction'];

const isText = (value: unknown): boolean => typeof value === 'string' && value !== '';
const isOneOf =
  (values: readonly string[]) =>
  (value: unknown): boolean =>
    typeof value === 'string' && values.includes(value);

interface FieldRow {
  readonly accepts: (value: unknown) => boolean;
  readonly must: string;
  /** The statuses the field may come with; none: every one. */
  readonly with?: readonly string[];
}

/** One row a field (spec: Sync status update); any other field breaks rule 3. */
const FIELDS: ReadonlyMap<string, FieldRow> = new Map<string, FieldRow>([
  ['status', { accepts: isOneOf(STATUSES), must: 'be one of the seven statuses' }],
  [
    'ts',
    {
      accepts: (value) => typeof value === 'string' && !value.includes('.') && timestampDefect(value) === null,
      must: 'be an RFC 3339 timestamp without milliseconds, with Z or an offset',
    },
  ],
  ['acq_ref_id', { accepts: isText, must: 'be a string' }],
  ['issuer_reason_code', { accepts: isText, must: 'be a string', with: ['declined', 'approved'] }],
  ['issuer_decline_reason', { accepts: isText, must: 'be a string', with: ['declined'] }],
  ['authentication_status', { accepts: isOneOf(AUTHENTICATION), must: 'be one of the five values' }],
  [
    'exemption_type_raised',
    {
      accepts: (value) =>
        Array.isArray(value) ? value.length > 0 && value.every(isOneOf(EXEMPTIONS)) : isOneOf(EXEMPTIONS)(value),
      must: 'be one of the four values, or a list of them',
    },
  ],
  [
    'http_status_code',
    {
      accepts: (value) => Number.isInteger(value) && Number(value) >= 100 && Number(value) <= 599,
      must: 'be a status',
    },
  ],
  ['latency', { accepts: (value) => Number.isInteger(value) && Number(value) >= 0, must: 'be whole milliseconds' }],
]);

/** What a service account may want beyond the rules that hold for all (spec: Sync status update, the conditional fields). */
export interface UpdateDemands {
  /** The closed list of issuer_reason_code, which the spec does not show; null: any text. */
  readonly reasonCodes: ReadonlySet<string> | null;
  /** The client is a chargeback protection customer, and this payment was made by credit card. */
  readonly acqRefId: boolean;
  /** A declined payment needs a reason of the issuer (rule 1); false: this account has been freed of it. */
  readonly declineReason: boolean;
}

const NO_DEMANDS: UpdateDemands = { reasonCodes: null, acqRefId: false, declineReason: true };

/** The update if it keeps the rules, else one sentence that names the field and the rule, and no data. */
export function checkUpdate(update: unknown, demands: UpdateDemands = NO_DEMANDS): StatusUpdate | string {
  if (!isJsonObject(update)) return 'an update must be an object';
  const { status, ts } = update;
  if (typeof status !== 'string') return 'status is missing';
  if (typeof ts !== 'string') return 'ts is missing';
  const hasAcqRefId = Object.hasOwn(update, 'acq_ref_id');
  return (
    fieldDefect(update, status) ??
    togetherDefect(update, status, demands) ??
    demandDefect(update, demands) ?? { status, ts, hasAcqRefId }
  );
}

function fieldDefect(update: JsonObject, status: string): string | null {
  for (const name of Object.keys(update)) {
    const row = FIELDS.get(name);
    if (row === undefined) return 'an update has a field that is not accepted';
    if (!row.accepts(update[name])) return `${name} must ${row.must}`;
    if (row.with !== undefined && !row.with.includes(status)) return `${name} must not come with this status`;
  }
  return null;
}

function togetherDefect(update: JsonObject, status: string, { declineReason }: UpdateDemands): string | null {
  const reasons =
    Number(Object.hasOwn(update, 'issuer_reason_code')) + Number(Object.hasOwn(update, 'issuer_decline_reason'));
  if (status !== 'declined' || reasons === 1 || (reasons === 0 && !declineReason)) return null;
  return declineReason
    ? 'declined needs exactly one of issuer_reason_code and issuer_decline_reason'
    : 'declined must not have both issuer_reason_code and issuer_decline_reason';
}

function demandDefect(update: JsonObject, { reasonCodes, acqRefId }: UpdateDemands): string | null {
  const code = update['issuer_reason_code'];
  if (typeof code === 'string' && reasonCodes?.has(code) === false) {
    return 'issuer_reason_code must be one of the accepted values';
  }
  if (!acqRefId || update['status'] !== 'approved' || Object.hasOwn(update, 'acq_ref_id')) return null;
  return 'approved needs acq_ref_id for a credit card under chargeback protection';
}
