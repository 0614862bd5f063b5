import { addressDefect } from './addresses.ts';
import { COUNTRIES, CURRENCIES } from './code-sets.ts';
import { DATAPOINTS, type DatapointKind, ITEM_FIELDS, type MoreDatapoint } from './datapoints.ts';
import { isJsonObject, type JsonObject } from './json.ts';
import { dateDefect, timestampDefect, type TimestampDefect } from './timestamp.ts';

/** The messages of `validation.errors` (spec: Errors). They name a rule, never the value. */
export const VALIDATION_MESSAGES = {
  invalid_data_type: 'Invalid data type: the value has an invalid type',
  invalid_country: 'Invalid country: must be an ISO 3166-1 alpha-2 code',
  invalid_timestamp: 'Invalid timestamp: must be an RFC 3339 UTC timestamp; timezone Z or an offset such as +02:00',
  invalid_date: 'Invalid date: must be the date part of an RFC 3339 timestamp with timezone, form 2006-01-02Z',
  missing_timezone: 'Missing timezone: form 2006-01-02Z07:00 expected',
  invalid_ip: 'Invalid IP: cannot be parsed as IPv4 or IPv6',
  reserved_ip: 'Reserved IP: the address is reserved for special use by IETF and IANA',
  excess_ip_info: 'Excess IP info: the address contains unnecessary characters',
  null_string: 'Null string: use the null literal or a meaningful string',
  unknown_datapoint: 'Unknown datapoint: it is not defined',
  unknown_value: 'Unknown value: the datapoint accepts a closed set of values',
} as const;

export type ValidationCode = keyof typeof VALIDATION_MESSAGES;

export interface ValidationError {
  readonly datapoint: string;
  readonly msg: string;
}

/** More say nothing new, and an answer must not grow with the request. */
const MAX_ERRORS = 100;

type Check = (value: unknown) => ValidationCode | null;

const ofText =
  (check: (text: string) => ValidationCode | null): Check =>
  (value) => {
    if (typeof value !== 'string') return 'invalid_data_type';
    return value.toLowerCase() === 'null' ? 'null_string' : check(value);
  };

const isNumber: Check = (value) => (typeof value === 'number' ? null : 'invalid_data_type');

/** One row a kind: what is wrong with a value that is not null. */
const CHECKS: Readonly<Record<DatapointKind, Check>> = {
  string: ofText(() => null),
  number: isNumber,
  decimal: (value) => {
    if (typeof value !== 'string') return isNumber(value);
    return ofText((text) => (/^-?\d+(\.\d+)?$/u.test(text) ? null : 'invalid_data_type'))(value);
  },
  country: ofText((text) => (COUNTRIES.has(text) ? null : 'invalid_country')),
  currency: ofText((text) => (CURRENCIES.has(text) ? null : 'unknown_value')),
  timestamp: ofText((text) => timeCode(timestampDefect(text), 'invalid_timestamp')),
  // Month and year; the interface has no message of its own for them.
  expiry: ofText((text) => (/^(0[1-9]|1[0-2])(20)?\d\d$/u.test(text) ? null : 'unknown_value')),
  date: ofText((text) => timeCode(dateDefect(text), 'invalid_date')),
  ip: ofText((text) => {
    const defect = addressDefect(text);
    if (defect === null) return null;
    return defect === 'malformed' ? 'invalid_ip' : defect === 'excess' ? 'excess_ip_info' : 'reserved_ip';
  }),
  items: (value) => (Array.isArray(value) && value.every(isJsonObject) ? null : 'invalid_data_type'),
};

function timeCode(defect: TimestampDefect, malformed: ValidationCode): ValidationCode | null {
  if (defect === null) return null;
  return defect === 'zone_missing' ? 'missing_timezone' : malformed;
}

/** The check of a datapoint; undefined: it is not known. */
function checkOf(kind: MoreDatapoint | undefined): Check | undefined {
  if (kind === undefined || typeof kind === 'string') return kind === undefined ? undefined : CHECKS[kind];
  return ofText((text) => (kind.includes(text) ? null : 'unknown_value'));
}

type Known = (name: string) => MoreDatapoint | undefined;

/**
 * What is wrong with the datapoints of a transaction, in their order, at most 100 (spec: validation). Null is never
 * wrong. `more`: datapoints beyond those that the spec shows, which win over them.
 */
export function validate(
  transaction: JsonObject,
  more: ReadonlyMap<string, MoreDatapoint> = new Map(),
): readonly ValidationError[] {
  const errors: ValidationError[] = [];
  validateFields(transaction, (name) => more.get(name) ?? DATAPOINTS.get(name), '', errors);
  const items = transaction['items'];
  if (!Array.isArray(items)) return errors;
  for (const item of items) {
    if (isJsonObject(item)) validateFields(item, (name) => ITEM_FIELDS.get(name), 'items.', errors);
  }
  return errors;
}

function validateFields(fields: JsonObject, known: Known, prefix: string, errors: ValidationError[]): void {
  for (const name of Object.keys(fields)) {
    if (errors.length >= MAX_ERRORS) return;
    const check = checkOf(known(name));
    const value = fields[name];
    const code = check === undefined ? 'unknown_datapoint' : value === null ? null : check(value);
    if (code !== null) errors.push({ datapoint: prefix + name, msg: VALIDATION_MESSAGES[code] });
  }
}
