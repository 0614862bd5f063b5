import { type Clock, type Draw } from '../../kernel/clock.ts';
import { type Emit } from '../../kernel/emit.ts';
import { askedWaitMs, fullJitter } from '../../resilience/backoff.ts';
import { type Exchange, type SessionReport } from '../../resilience/ports.ts';
import { type Credentials } from './settings.ts';
import { lifetimeMs, readSessionToken } from './token.ts';

export type LoginResult = 'ok' | 'refused' | 'failed';

/** A token to use, or why there is none. */
export type Grant = { readonly do: 'token'; readonly token: string } | Extract<Exchange, { readonly do: 'no_session' }>;

export interface SessionParts {
  /** One login request (spec: POST /api/v2/sessions); never rejects. */
  readonly request: (authorization: string) => Promise<Exchange>;
  /** Asked again before each login, so that changed ones count; must not throw. */
  readonly credentials: () => Credentials;
  readonly clock: Clock;
  readonly draw: Draw;
  readonly emit: Emit;
}

/** Part of a token's life after which a new one is fetched; up to a tenth less by chance, so that processes do not log in together. */
const USED_SHARE = 0.8;
const USED_SHARE_SPREAD = 0.08;
const REFUSED_FIRST_MS = 30_000;
const REFUSED_MOST_MS = 900_000;
/** A service that refuses tokens as soon as it has given them would otherwise get a login for every request. */
const LOGINS_AT_ONCE = 2;
const LOGIN_EVERY_MS = 10_000;
/** So many tokens refused this soon after their login, within as long, and somebody else's logins end ours. */
const YOUNG_MS = 600_000;
const YOUNG_REFUSED = 3;
/** Each of our logins ends the other's session, too: no more of them than this, until a token has lived. */
const DISPLACED_LOGIN_EVERY_MS = 60_000;

/** A service that took a request this lately knows our sessions. */
const SERVING_MS = 10_000;
/** So many requests in a row that are refused with one token are not odd: it has ended. */
const REFUSED_BY_CHANCE = 3;

interface Token {
  readonly text: string;
  /** Monotonic, as the others. */
  readonly sinceMs: number;
  readonly useUntilMs: number;
  readonly expiresAtMs: number;
}

type Hold = Omit<Extract<Grant, { readonly do: 'no_session' }>, 'retryMs'> & { readonly untilMs: number };

/**
 * The one session of the service account. The token lives in memory only; whoever needs one waits for the same login.
 *
 * States: no token (at first, and after a 401 that ended the current one); fresh (used as it is); stale (past 80 % of its
 * life: used while a new one is fetched); held (the last login failed: none before `untilMs`, unless user name or
 * password have changed since); displaced (three young tokens were refused within 10 minutes: logins 60 s apart).
 */
export class Session {
  readonly #parts: SessionParts;
  #token: Token | null = null;
  #hold: Hold | null = null;
  #refused: Credentials | null = null;
  #failures = 0;
  #refusals = 0;
  #pending: Promise<LoginResult> | null = null;
  #allowance = LOGINS_AT_ONCE;
  #allowanceAtMs: number;
  #loggedInAtMs = -Infinity;
  /** When a request was accepted last, monotonic. */
  #acceptedAtMs = -Infinity;
  /** Requests that the current token was refused to, since one was accepted with it. */
  #refusedInARow = 0;
  /** Whether the last token that was forgotten was young, and may have been refused to one odd request only. */
  #isYoungSuspect = false;
  /** When young tokens were refused, the newest last; monotonic. */
  #youngRefusedMs: readonly number[] = [];

  constructor(parts: SessionParts) {
    this.#parts = parts;
    this.#allowanceAtMs = parts.clock.monotonicMs();
  }

  /** The token to use now, without a wait; null: `acquire` one. */
  current(): string | null {
    const token = this.#token;
    if (token === null) return null;
    const nowMs = this.#parts.clock.monotonicMs();
    if (nowMs < token.useUntilMs) return token.text;
    if (nowMs >= token.expiresAtMs) return null;
    // Never rejects; its end is seen by whoever asks next.
    if (this.#held(nowMs) === null) void this.login();
    return token.text;
  }

  /** A token, after a login if that is needed and may be tried now. */
  async acquire(): Promise<Grant> {
    const known = this.current();
    if (known !== null) return { do: 'token', token: known };
    const nowMs = this.#parts.clock.monotonicMs();
    const held = this.#pending === null ? this.#held(nowMs) : null;
    if (held !== null) return { do: 'no_session', why: held.why, retryMs: held.untilMs - nowMs };
    await this.login();
    const token = this.#token;
    if (token !== null) return { do: 'token', token: token.text };
    return { do: 'no_session', why: this.#hold?.why ?? 'service_down', retryMs: this.#retryMs() };
  }

  /**
   * The service answered 401 to a request with this token. `old`: it is not the current one any more. `ended`: it was,
   * and is forgotten. `good`: others are served, so the 401 is about the request: to log in once more for one that
   * `mayBeOdd`, or when no login may be tried, would only keep everybody waiting.
   */
  refused(token: string, mayBeOdd: boolean): 'old' | 'ended' | 'good' {
    const current = this.#token;
    if (current?.text !== token) return 'old';
    const nowMs = this.#parts.clock.monotonicMs();
    this.#refusedInARow += 1;
    const isServing = nowMs - this.#acceptedAtMs <= SERVING_MS && this.#refusedInARow < REFUSED_BY_CHANCE;
    if (isServing && (mayBeOdd || this.#held(nowMs) !== null)) return 'good';
    this.#token = null;
    if (nowMs - current.sinceMs >= YOUNG_MS) return 'ended';
    // While others are served, only the success of the same request with the next token shows that this one had ended.
    if (isServing) this.#isYoungSuspect = true;
    else this.#countYoung(nowMs);
    return 'ended';
  }

  /** The service took a request with this token. `isRenewed`: it had answered 401 to the same request with an older one. */
  accepted(token: string, isRenewed: boolean, nowMs: number): void {
    if (this.#token?.text === token) {
      this.#acceptedAtMs = nowMs;
      this.#refusedInARow = 0;
    }
    if (isRenewed && this.#isYoungSuspect) this.#countYoung(nowMs);
  }

  /** Logs in now, whatever was before; joins a login that is under way. Never rejects. */
  async login(): Promise<LoginResult> {
    this.#pending ??= this.#login();
    return await this.#pending;
  }

  /** To be called when user name or password may have changed: ends the wait after a refusal at once. */
  credentialsMayHaveChanged(): void {
    // Never rejects; its end is seen by whoever asks next.
    if (this.#credentialsChanged()) void this.login();
  }

  report(): SessionReport {
    const nowMs = this.#parts.clock.monotonicMs();
    return {
      sinceMs: this.#token?.sinceMs ?? null,
      expiresAtMs: this.#token?.expiresAtMs ?? null,
      youngRefused: this.#youngRefusedMs.filter((atMs) => nowMs - atMs < YOUNG_MS).length,
    };
  }

  async #login(): Promise<LoginResult> {
    const credentials = this.#parts.credentials();
    const result = this.#judge(await this.#parts.request(toBasic(credentials)), credentials);
    this.#pending = null;
    this.#parts.emit('login', { result });
    return result;
  }

  #judge(exchange: Exchange, credentials: Credentials): LoginResult {
    const text = exchange.do === 'answer' && exchange.status === 200 ? readSessionToken(exchange.body) : null;
    if (text !== null) return this.#accept(text);
    if (exchange.do === 'answer' && (exchange.status === 401 || exchange.status === 403)) {
      this.#refused = credentials;
      this.#refusals += 1;
      const forMs = Math.min(REFUSED_MOST_MS, REFUSED_FIRST_MS * 2 ** (this.#refusals - 1));
      this.#holdFor(forMs, 'credentials_refused');
      return 'refused';
    }
    this.#refused = null;
    this.#failures += 1;
    const { draw } = this.#parts;
    if (exchange.do !== 'answer') this.#holdFor(fullJitter(this.#failures, draw), 'service_down');
    else if (exchange.status === 408 || exchange.status === 429 || exchange.status >= 500)
      this.#holdFor(askedWaitMs(exchange.retryAfterMs, draw) ?? fullJitter(this.#failures, draw), 'service_down');
    else this.#holdFor(fullJitter(this.#failures, draw), 'service_refuses');
    return 'failed';
  }

  #accept(text: string): LoginResult {
    const { clock, draw } = this.#parts;
    const nowMs = clock.monotonicMs();
    const lifeMs = lifetimeMs(text, clock.nowMs());
    const usedShare = USED_SHARE - draw() * USED_SHARE_SPREAD;
    this.#loggedInAtMs = nowMs;
    this.#refusedInARow = 0;
    this.#token = { text, sinceMs: nowMs, useUntilMs: nowMs + lifeMs * usedShare, expiresAtMs: nowMs + lifeMs };
    this.#hold = null;
    this.#refused = null;
    this.#failures = 0;
    this.#refusals = 0;
    this.#refill(nowMs);
    this.#allowance = Math.max(0, this.#allowance - 1);
    return 'ok';
  }

  #holdFor(forMs: number, why: Hold['why']): void {
    this.#hold = { do: 'no_session', why, untilMs: this.#parts.clock.monotonicMs() + forMs };
  }

  /** Why no login may be tried now; null: it may. */
  #held(nowMs: number): Hold | null {
    const hold = this.#hold;
    if (hold !== null && nowMs < hold.untilMs && !this.#credentialsChanged()) return hold;
    const displacedUntilMs = this.#loggedInAtMs + DISPLACED_LOGIN_EVERY_MS;
    if (this.#isDisplaced(nowMs) && nowMs < displacedUntilMs)
      return { do: 'no_session', why: 'sessions_displace_each_other', untilMs: displacedUntilMs };
    this.#refill(nowMs);
    if (this.#allowance >= 1) return null;
    const untilMs = this.#allowanceAtMs + (1 - this.#allowance) * LOGIN_EVERY_MS;
    return { do: 'no_session', why: 'service_refuses', untilMs };
  }

  #credentialsChanged(): boolean {
    if (this.#refused === null) return false;
    const { username, password } = this.#parts.credentials();
    return username !== this.#refused.username || password !== this.#refused.password;
  }

  #countYoung(nowMs: number): void {
    this.#isYoungSuspect = false;
    this.#youngRefusedMs = [...this.#youngRefusedMs, nowMs].slice(-YOUNG_REFUSED);
  }

  #isDisplaced(nowMs: number): boolean {
    const [first] = this.#youngRefusedMs;
    return this.#youngRefusedMs.length === YOUNG_REFUSED && first !== undefined && nowMs - first < YOUNG_MS;
  }

  #refill(nowMs: number): void {
    this.#allowance = Math.min(LOGINS_AT_ONCE, this.#allowance + (nowMs - this.#allowanceAtMs) / LOGIN_EVERY_MS);
    this.#allowanceAtMs = nowMs;
  }

  #retryMs(): number {
    return this.#hold === null ? 0 : Math.max(0, this.#hold.untilMs - this.#parts.clock.monotonicMs());
  }
}

/** RFC 7617, with the character set it advises. */
export function toBasic({ username, password }: Credentials): string {
  return `Basic ${Buffer.from(`${username}:${password}`, 'utf8').toString('base64')}`;
}
