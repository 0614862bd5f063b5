/** A certificate, with those that lead to its authority behind it, and its key: both in PEM, and they fit each other. */
export interface Certificate {
  readonly certificate: string;
  readonly key: string;
  /** Milliseconds since 1970. */
  readonly expiresAtMs: number;
}
