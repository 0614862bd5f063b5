import { Buffer } from 'node:buffer';
import { type buildConnector, Pool } from 'undici';
import { type Clock, within } from '../../kernel/clock.ts';
import { ExchangeCounts, type ExchangeReport } from '../../kernel/exchange-counts.ts';
import { nameOf } from '../../kernel/fault.ts';

/** Where the registry is, and who asks. */
export interface RegistrySettings {
  /** Its path is kept (`/apis/ccompat/v7`); user info in it counts only where `username` is not given. */
  readonly url: string;
  readonly username?: string | undefined;
  /** Asked for every request, so that a changed one counts; null: none. */
  readonly password?: (() => string | null) | undefined;
  /** For one request, connecting included; 3000 unless told. */
  readonly timeoutMs?: number | undefined;
  readonly clientId: string;
  /** Opens the connections; absent: undici does, with what Node trusts. */
  readonly connect?: buildConnector.connector | undefined;
}

/** One exchange. `body` is the parsed JSON; undefined: it is none. */
export type RegistryAnswer =
  | { readonly do: 'answer'; readonly status: number; readonly body: unknown }
  | { readonly do: 'failed'; readonly error: string };

type Method = 'GET' | 'POST' | 'PUT';

export interface RegistryTransport {
  /** `path` below the URL's own. Never rejects, always ends. */
  request(method: Method, path: string, body?: object): Promise<RegistryAnswer>;
  /** What was asked, by kind of request. */
  exchanges(): readonly ExchangeReport[];
  close(): Promise<void>;
}

const TIMEOUT_MS = 3000;
const CONNECTIONS = 4;
const MAX_BODY_BYTES = 4 * 1024 * 1024;
const MEDIA_TYPE = 'application/vnd.schemaregistry.v1+json';

/** What is asked of a registry, with names for what changes; what is none of these counts as the last. */
const TEMPLATES: readonly (readonly [RegExp, string])[] = [
  [/^\/schemas\/ids\//, '/schemas/ids/{id}'],
  [/^\/schemas\/types$/, '/schemas/types'],
  [/^\/subjects\/[^/]+\/versions/, '/subjects/{subject}/versions'],
  [/^\/subjects\/[^/]+$/, '/subjects/{subject}'],
  [/^\/subjects$/, '/subjects'],
  [/^/, '_OTHER'],
];

/** Speaks HTTP with the registry; errors hold names and codes, never the URL or a body. */
export function createTransport(settings: RegistrySettings, clock: Clock): RegistryTransport {
  const url = new URL(settings.url);
  const base = url.pathname.replace(/\/+$/, '');
  const timeoutMs = settings.timeoutMs ?? TIMEOUT_MS;
  const pool = new Pool(url.origin, {
    connections: CONNECTIONS,
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
    connect: settings.connect ?? { timeout: timeoutMs },
  });

  async function exchange(method: Method, path: string, abort: AbortSignal, body?: object): Promise<RegistryAnswer> {
    const headers = headersOf(settings, url);
    const answer = await pool.request({
      method,
      path: `${base}${path}`,
      headers: body === undefined ? headers : { ...headers, 'content-type': MEDIA_TYPE },
      body: body === undefined ? null : JSON.stringify(body),
      signal: abort,
    });
    const chunks: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of answer.body) {
      chunks.push(chunk as Buffer);
      bytes += (chunk as Buffer).length;
      if (bytes > MAX_BODY_BYTES) return { do: 'failed', error: 'oversized' };
    }
    return { do: 'answer', status: answer.statusCode, body: parsed(Buffer.concat(chunks).toString()) };
  }

  const kinds = new Map<string, ExchangeCounts>();
  const countsOf = (method: string, path: string): ExchangeCounts => {
    const template = TEMPLATES.find(([pattern]) => pattern.test(path))?.[1] ?? '';
    const name = `${method} ${template}`;
    const counts = kinds.get(name) ?? new ExchangeCounts({ method, template, origin: url.origin });
    kinds.set(name, counts);
    return counts;
  };

  async function request(method: Method, path: string, body?: object): Promise<RegistryAnswer> {
    const abort = new AbortController();
    try {
      const answer = await within(clock, timeoutMs, exchange(method, path, abort.signal, body));
      if (answer !== 'late') return answer;
      abort.abort();
      return { do: 'failed', error: 'timeout' };
    } catch (error) {
      return { do: 'failed', error: nameOf(error) };
    }
  }

  return {
    request: async (method, path, body) => {
      const counts = countsOf(method, path);
      const sinceMs = clock.monotonicMs();
      counts.active += 1;
      const answer = await request(method, path, body);
      counts.active -= 1;
      counts.ended(answer.do === 'answer' ? answer.status : answer.error, clock.monotonicMs() - sinceMs);
      return answer;
    },
    exchanges: () => [...kinds.values()].map((counts) => counts.report()),
    close: async () => {
      await pool.destroy();
    },
  };
}

function headersOf(settings: RegistrySettings, url: URL): Record<string, string> {
  const username = settings.username ?? decodeURIComponent(url.username);
  const password = settings.password?.() ?? decodeURIComponent(url.password);
  const credentials = Buffer.from(`${username}:${password}`).toString('base64');
  return {
    accept: `${MEDIA_TYPE}, application/json`,
    'user-agent': settings.clientId,
    ...(username === '' ? {} : { authorization: `Basic ${credentials}` }),
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
