import { afterEach } from 'vitest';
import {
  type ScreeningService,
  type ScreeningServiceOptions,
  startScreeningService,
} from '../../../../src/sandbox/service/screening-service.ts';
import { RawConnection } from '../../../support/raw-http.ts';

/** What the tests of one file opened; ended after each of them. */
export const releases: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const release of releases.splice(0).toReversed()) await release();
});

export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly json: Record<string, unknown>;
}

/** A screening service of one test, with a session. */
export async function start(options: ScreeningServiceOptions = {}) {
  const service = await startScreeningService({ seed: 1, ...options });
  releases.push(async () => {
    await service.close();
  });
  const call = async (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) => {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    const response = await fetch(service.baseUrl + path, {
      method,
      headers,
      ...(body === undefined ? {} : { body: text }),
    });
    const reply: Reply = {
      status: response.status,
      headers: response.headers,
      json: (await response.json()) as Record<string, unknown>,
    };
    return reply;
  };
  const login = async () => await call('POST', '/api/v2/sessions', undefined, basic(service));
  const { json } = await login();
  let session = { authorization: `SessionToken ${String(json['sessionToken'])}` };
  const api = async (method: string, body: unknown) => await call(method, '/api/v2/transaction', body, session);
  const renew = async () => {
    session = { authorization: `SessionToken ${String((await login()).json['sessionToken'])}` };
  };
  /** A request byte by byte, on a connection of its own that the test reads. */
  const raw = async (method: 'POST' | 'PATCH', body: unknown) => {
    const text = JSON.stringify(body);
    const connection = await RawConnection.open(service.baseUrl);
    releases.push(async () => {
      connection.socket.destroy();
      await Promise.resolve();
    });
    connection.write(
      `${method} /api/v2/transaction HTTP/1.1\r\nhost: sandbox\r\nauthorization: ${session.authorization}\r\ncontent-length: ${Buffer.byteLength(text)}\r\n\r\n${text}`,
    );
    return connection;
  };
  return {
    service,
    call,
    login,
    renew,
    raw,
    session: () => session,
    post: async (b: unknown) => await api('POST', b),
    patch: async (b: unknown) => await api('PATCH', b),
  };
}

/** The header of a login. */
export function basic({ user, password }: Pick<ScreeningService, 'user' | 'password'>): Record<string, string> {
  return { authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}` };
}

/** A valid transaction, changed. */
export const payment = (change: Record<string, unknown> = {}) => ({
  trans_id: 't-1',
  cust_id: 'c-1',
  order_id: 'c-1-1',
  trans_amt: 40,
  trans_currency: 'EUR',
  cust_email: 'ada@example.com',
  ...change,
});

/** A valid status update. */
export const approved = { status: 'approved', ts: '2026-03-01T09:30:00Z', acq_ref_id: 'arn-1' };
