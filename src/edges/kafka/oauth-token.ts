import { Buffer } from 'node:buffer';
import kafkajs from 'kafkajs';
import { Pool } from 'undici';
import { type Clock, within } from '../../kernel/clock.ts';

/** Where tokens are asked for, and by whom (RFC 6749, section 4.4: client credentials). */
export interface TokenEndpoint {
  /** As it is, with its query. */
  readonly url: string;
  readonly clientId: string;
  /** Asked for each request, so that a changed one counts. */
  readonly clientSecret: () => string;
  /** Null: none is asked for. */
  readonly scope: string | null;
  readonly userAgent: string;
}

interface Token {
  readonly value: string;
  /** On the monotonic clock: after this another one is asked for, and after that it is not shown any more. */
  readonly renewAtMs: number;
  readonly expiresAtMs: number;
}

/** For one request, connecting included. kafkajs gives an authentication 10 s. */
const LIMIT_MS = 5000;
const BODY_MOST_BYTES = 65_536;
const RENEWED_AT = 0.8;
/** Brokers end a connection with its token, and kafkajs renews 10 s before that: so much should be left of one. */
const LEFT_MS = 15_000;
/** For a token that does not say how long it lives (RFC 6749, section 5.1, recommends that it does). */
const UNSTATED_SECONDS = 300;
/** After a failed renewal the token that is still good is shown for so long, before the next. */
const RETRY_MS = 5000;
/** What can stand in SASL's message (RFC 6750, section 2.1, and RFC 7628, section 3.1). */
const VALUE = /^[\x21-\x7e]{1,65536}$/;

/**
 * Tokens for SASL OAUTHBEARER (KIP-255, KIP-768): one is kept until 80 % of its life, and one request is made for all who
 * wait. When the server is away, a token is shown as long as it is good. Errors are kafkajs' of a connection, with
 * a code: `OAUTH_TOKEN_REFUSED`, `OAUTH_TOKEN_UNREACHABLE`, `OAUTH_TOKEN_UNUSABLE`; they hold nothing of what was sent.
 */
export class OauthTokens {
  readonly #endpoint: TokenEndpoint;
  readonly #clock: Clock;
  #token: Token | null = null;
  #asking: Promise<string> | null = null;

  constructor(endpoint: TokenEndpoint, clock: Clock) {
    this.#endpoint = endpoint;
    this.#clock = clock;
  }

  /** A token that may be shown now. Rejects where there is none. */
  async token(): Promise<string> {
    const { value, renewAtMs } = this.#token ?? { value: '', renewAtMs: Number.NEGATIVE_INFINITY };
    if (this.#clock.monotonicMs() < renewAtMs) return value;
    this.#asking ??= this.#renew().finally(() => {
      this.#asking = null;
    });
    return await this.#asking;
  }

  /** A broker has refused this one: another is asked for. */
  drop(value: string): void {
    if (this.#token?.value === value) this.#token = null;
  }

  async #renew(): Promise<string> {
    const askedMs = this.#clock.monotonicMs();
    try {
      const { value, lifeMs } = await this.#ask();
      const renewAtMs = askedMs + Math.min(RENEWED_AT * lifeMs, Math.max(lifeMs / 2, lifeMs - LEFT_MS));
      this.#token = { value, renewAtMs, expiresAtMs: askedMs + lifeMs };
      return value;
    } catch (error) {
      const old = this.#token;
      const nowMs = this.#clock.monotonicMs();
      if (old === null || nowMs >= old.expiresAtMs) throw error;
      this.#token = { ...old, renewAtMs: Math.min(old.expiresAtMs, nowMs + RETRY_MS) };
      return old.value;
    }
  }

  async #ask(): Promise<{ readonly value: string; readonly lifeMs: number }> {
    const url = new URL(this.#endpoint.url);
    const pool = new Pool(url.origin, { connections: 1, allowH2: false, connect: { timeout: LIMIT_MS } });
    try {
      const answer = await within(this.#clock, LIMIT_MS, exchange(pool, url, this.#endpoint));
      if (answer === 'late') throw failure('OAUTH_TOKEN_UNREACHABLE');
      return answer;
    } catch (error) {
      throw error instanceof kafkajs.KafkaJSConnectionError ? error : failure('OAUTH_TOKEN_UNREACHABLE');
    } finally {
      await pool.destroy();
    }
  }
}

async function exchange(
  pool: Pool,
  url: URL,
  endpoint: TokenEndpoint,
): Promise<{ readonly value: string; readonly lifeMs: number }> {
  const { clientId, clientSecret, scope, userAgent } = endpoint;
  const asked = new URLSearchParams({ grant_type: 'client_credentials', ...(scope === null ? {} : { scope }) });
  const { statusCode, body } = await pool.request({
    method: 'POST',
    path: `${url.pathname}${url.search}`,
    headers: {
      authorization: `Basic ${Buffer.from(`${encoded(clientId)}:${encoded(clientSecret())}`).toString('base64')}`,
      accept: 'application/json',
      'content-type': 'application/x-www-form-urlencoded',
      'user-agent': userAgent,
    },
    body: asked.toString(),
  });
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    chunks.push(chunk as Buffer);
    bytes += (chunk as Buffer).length;
    if (bytes > BODY_MOST_BYTES) throw failure('OAUTH_TOKEN_UNUSABLE');
  }
  if (statusCode >= 500 || statusCode === 429) throw failure('OAUTH_TOKEN_UNREACHABLE');
  if (statusCode !== 200) throw failure('OAUTH_TOKEN_REFUSED');
  const read = readToken(Buffer.concat(chunks));
  if (read === null) throw failure('OAUTH_TOKEN_UNUSABLE');
  return read;
}

/** As a form has it: RFC 6749, section 2.3.1, wants both so before they are joined. */
function encoded(text: string): string {
  return new URLSearchParams([['', text]]).toString().slice(1);
}

/** What an answer of the token server says (RFC 6749, section 5.1); null: nothing that can be used. */
export function readToken(body: Buffer): { readonly value: string; readonly lifeMs: number } | null {
  let answer: unknown;
  try {
    answer = JSON.parse(body.toString('utf8'));
  } catch {
    return null;
  }
  if (typeof answer !== 'object' || answer === null) return null;
  const value: unknown = Reflect.get(answer, 'access_token');
  if (typeof value !== 'string' || !VALUE.test(value)) return null;
  // Some servers write the number as a text.
  const seconds = Number(Reflect.get(answer, 'expires_in') ?? UNSTATED_SECONDS);
  return { value, lifeMs: 1000 * (Number.isFinite(seconds) && seconds > 0 ? seconds : UNSTATED_SECONDS) };
}

function failure(code: 'OAUTH_TOKEN_REFUSED' | 'OAUTH_TOKEN_UNREACHABLE' | 'OAUTH_TOKEN_UNUSABLE'): Error {
  return new kafkajs.KafkaJSConnectionError('There is no token for SASL OAUTHBEARER.', { code });
}
