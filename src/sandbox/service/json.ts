/** A JSON object as it was parsed; its keys are whatever the sender wrote. */
export type JsonObject = Readonly<Record<string, unknown>>;

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The object these bytes hold, or null when they are not JSON or not an object. */
export function parseObject(body: Buffer): JsonObject | null {
  try {
    const value: unknown = JSON.parse(body.toString('utf8'));
    return isJsonObject(value) ? value : null;
  } catch {
    return null;
  }
}

/** An id as text; a whole number counts as its digits, since the same id is an object's key in a status update. */
export function idOf(value: unknown): string | null {
  if (typeof value === 'string' && value !== '') return value;
  return Number.isSafeInteger(value) ? String(value) : null;
}
