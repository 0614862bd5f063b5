import { type buildConnector, Pool } from 'undici';
import { type Clock, within } from '../../kernel/clock.ts';
import { nameOf } from '../../kernel/fault.ts';
import { readHttpDate } from './retry-after.ts';
import { toBasic } from './session.ts';
import { type Credentials, toEndpoint } from './settings.ts';
import { readSessionToken } from './token.ts';

/** What one login came to. */
export type LoginTried =
  | {
      readonly do: 'answer';
      readonly status: number;
      /** Whether there was a token in it that can be used. */
      readonly hasToken: boolean;
      /** How far the service's clock (its `Date` header, to the second) is ahead of ours; null: it does not say. */
      readonly aheadMs: number | null;
    }
  | { readonly do: 'failed'; readonly error: string };

export interface LoginSettings {
  readonly baseUrl: string;
  readonly userAgent: string;
  readonly limitMs: number;
  /** Opens the connection; null: undici does, with what Node trusts. */
  readonly connect?: buildConnector.connector | null;
}

const BODY_MOST_BYTES = 65_536;

/**
 * Logs in once (spec: POST /api/v2/sessions) and forgets the token: to see whether that works, without a session to keep.
 * Never rejects; ends within `limitMs`, all included.
 */
export async function tryLogin(
  { baseUrl, userAgent, limitMs, connect = null }: LoginSettings,
  credentials: Credentials,
  clock: Clock,
): Promise<LoginTried> {
  const { origin, basePath } = toEndpoint(baseUrl);
  const pool = new Pool(origin, { connections: 1, allowH2: false, connect: connect ?? { timeout: limitMs } });
  const exchange = async (): Promise<LoginTried> => {
    const sentMs = clock.nowMs();
    const { statusCode, headers, body } = await pool.request({
      method: 'POST',
      path: `${basePath}/api/v2/sessions`,
      headers: { authorization: toBasic(credentials), accept: 'application/json', 'user-agent': userAgent },
    });
    const aheadMs = aheadOf(headers['date'], (sentMs + clock.nowMs()) / 2);
    const chunks: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of body) {
      chunks.push(chunk as Buffer);
      bytes += (chunk as Buffer).length;
      if (bytes > BODY_MOST_BYTES) return { do: 'failed', error: 'oversized' };
    }
    const hasToken = statusCode === 200 && readSessionToken(Buffer.concat(chunks)) !== null;
    return { do: 'answer', status: statusCode, hasToken, aheadMs };
  };
  try {
    const tried = await within(clock, limitMs, exchange());
    return tried === 'late' ? { do: 'failed', error: 'timeout' } : tried;
  } catch (error) {
    return { do: 'failed', error: nameOf(error) };
  } finally {
    await pool.destroy();
  }
}

function aheadOf(date: string | string[] | undefined, nowMs: number): number | null {
  const theirsMs = typeof date === 'string' ? readHttpDate(date, nowMs) : null;
  // The header is cut to the second: half of one is the best guess of what was cut.
  return theirsMs === null ? null : theirsMs + 500 - nowMs;
}
