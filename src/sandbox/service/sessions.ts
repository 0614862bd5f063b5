import { createHmac, randomBytes } from 'node:crypto';
import { type Clock } from '../../kernel/clock.ts';
import { formatSeconds } from './timestamp.ts';

export interface SessionOptions {
  readonly user: string;
  readonly password: string;
  readonly lifetimeMs: number;
  /** A login ends the older token of the user. */
  readonly onePerUser: boolean;
  readonly clock: Clock;
}

/** What is odd about a token. `past`: its `exp` is an hour ago, and it works; `opaque`: it is no JWT, and works; `dead`: it never works. */
export type TokenOddity = 'past' | 'opaque' | 'dead';

const SWEEP_FROM = 1_000;
const HOUR_MS = 3_600_000;

/** Session tokens: made for the right credentials, known until they expire (spec: Authentication, API). */
export class Sessions {
  readonly #options: SessionOptions;
  readonly #signingKey = randomBytes(32);
  /** By the whole Authorization header, so that a request costs one look-up. */
  readonly #expiryMs = new Map<string, number>();
  #made = 0;

  constructor(options: SessionOptions) {
    this.#options = options;
  }

  /** A token for an `Authorization: Basic` header with the right credentials (RFC 7617), else null. */
  login(authorization: string | undefined, oddity: TokenOddity | null = null): string | null {
    const { user, password, lifetimeMs, onePerUser, clock } = this.#options;
    const found = /^Basic +([A-Za-z0-9+/=]+)$/iu.exec(authorization ?? '');
    const credentials = found?.[1];
    if (credentials === undefined) return null;
    if (Buffer.from(credentials, 'base64').toString('utf8') !== `${user}:${password}`) return null;
    if (onePerUser) this.#expiryMs.clear();
    const nowMs = clock.nowMs();
    if (this.#expiryMs.size >= SWEEP_FROM) this.#sweep(nowMs);
    const claimedMs = oddity === 'past' ? nowMs - HOUR_MS : nowMs + lifetimeMs;
    const token = oddity === 'opaque' ? randomBytes(32).toString('hex') : this.#token(nowMs, claimedMs);
    if (oddity !== 'dead') this.#expiryMs.set(`SessionToken ${token}`, nowMs + lifetimeMs);
    return token;
  }

  /** Is this `Authorization` header that of a session that lives? */
  holds(authorization: string | undefined): boolean {
    if (authorization === undefined) return false;
    const expiryMs = this.#expiryMs.get(authorization);
    return expiryMs !== undefined && this.#options.clock.nowMs() < expiryMs;
  }

  /** Ends the token of this `Authorization` header. */
  end(authorization: string | undefined): void {
    this.#expiryMs.delete(authorization ?? '');
  }

  /** Ends every token now. */
  expireAll(): void {
    this.#expiryMs.clear();
  }

  #token(nowMs: number, expiryMs: number): string {
    const claims = {
      sub: this.#options.user,
      iat: Math.floor(nowMs / 1_000),
      exp: Math.floor(expiryMs / 1_000),
      jti: `${formatSeconds(nowMs)}-${(this.#made += 1)}`,
    };
    const signed = `${part({ alg: 'HS256', typ: 'JWT' })}.${part(claims)}`;
    return `${signed}.${createHmac('sha256', this.#signingKey).update(signed).digest('base64url')}`;
  }

  #sweep(nowMs: number): void {
    for (const [header, expiryMs] of this.#expiryMs) if (expiryMs <= nowMs) this.#expiryMs.delete(header);
  }
}

function part(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}
