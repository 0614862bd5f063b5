/** A token that cannot be put into a header is no token. */
const TOKEN = /^[\x21-\x7e]{1,8192}$/;
const DAY_MS = 86_400_000;
/** For a token that does not say how long it lives. Logging in once an hour costs nothing. */
const UNSTATED_MS = 3_600_000;
/** A token that expires at once by our clock: then our clock or theirs is wrong, and the service has the last word. */
const LEAST_MS = 60_000;

/** The token in the answer to a login; null where there is none that can be sent (spec: Session). */
export function readSessionToken(body: Buffer): string | null {
  try {
    const answer: unknown = JSON.parse(body.toString('utf8'));
    if (typeof answer !== 'object' || answer === null || !('sessionToken' in answer)) return null;
    const { sessionToken } = answer;
    return typeof sessionToken === 'string' && TOKEN.test(sessionToken) ? sessionToken : null;
  } catch {
    return null;
  }
}

/** How long a token lives by its own word, from a minute to 24 hours. `nowMs`: milliseconds since 1970. The word is a hint: it is not verified. */
export function lifetimeMs(token: string, nowMs: number): number {
  const expiresAtMs = readExpiry(token);
  return expiresAtMs === null ? UNSTATED_MS : Math.min(DAY_MS, Math.max(LEAST_MS, expiresAtMs - nowMs));
}

/** RFC 7519: the claim `exp`, in seconds since 1970. */
function readExpiry(token: string): number | null {
  const claims = token.split('.')[1];
  if (claims === undefined) return null;
  try {
    const value: unknown = JSON.parse(Buffer.from(claims, 'base64url').toString('utf8'));
    if (typeof value !== 'object' || value === null || !('exp' in value)) return null;
    return typeof value.exp === 'number' && Number.isFinite(value.exp) ? value.exp * 1_000 : null;
  } catch {
    return null;
  }
}
