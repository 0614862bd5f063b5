/**
 * The transaction's id as text, exactly as the client gave it; null where there is none. Never trimmed or folded, since
 * updates are linked by it (spec: Sync status update, rule 2). A number counts only where JavaScript holds it exactly.
 */
export function readTransId(value: unknown): string | null {
  if (typeof value === 'string') return value === '' ? null : value;
  return typeof value === 'number' && Number.isSafeInteger(value) ? String(value) : null;
}

/**
 * The request's JSON text for datapoints that did not come as JSON. Fields without a value are left out: a schema's
 * default null says "not given", while a null literal would say "known to be empty" (spec: Errors, Null string).
 */
export function toTransactionJson(datapoints: Readonly<Record<string, unknown>>): string {
  return JSON.stringify(datapoints, (_name, value: unknown) => (isAbsent(value) ? undefined : value));
}

/** JSON has no NaN and no infinity; `JSON.stringify` would turn them into null literals. */
function isAbsent(value: unknown): boolean {
  return value === null || (typeof value === 'number' && !Number.isFinite(value));
}
