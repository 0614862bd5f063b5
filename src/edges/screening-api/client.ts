import { Pool } from 'undici';
import { type Clock, type Draw } from '../../kernel/clock.ts';
import { type Emit } from '../../kernel/emit.ts';
import { ExchangeCounts, type ExchangeReport } from '../../kernel/exchange-counts.ts';
import { type Fence } from '../../kernel/fence.ts';
import { type Exchange, type ScreeningApi, type SessionReport } from '../../resilience/ports.ts';
import { type Access, Attempt, type Route } from './attempt.ts';
import { Deadlines } from './deadlines.ts';
import { callHeaders, TRANSACTION_PATH, userAgentOf } from './request.ts';
import { Session, type LoginResult } from './session.ts';
import { type Credentials, type ScreeningApiSettings, toEndpoint } from './settings.ts';

export interface ScreeningApiDeps {
  readonly clock: Clock;
  readonly draw: Draw;
  readonly emit: Emit;
  /** Asked before a scoring request or a batch is handed to a connection, and again when its first byte is about to be written. */
  readonly fence: Fence;
  /** Asked before each login, so that changed ones count; must not throw. */
  readonly credentials: () => Credentials;
}

/** The screening service behind its port, with what its owner needs beside it. */
export interface ScreeningApiEdge extends ScreeningApi {
  /** Logs in now, whatever was before, or joins a login under way. Never rejects. */
  login(): Promise<LoginResult>;
  /** To be called when `credentials` answers something else: where they were refused, it logs in at once. */
  credentialsChanged(): void;
  /** How the session stands. */
  session(): SessionReport;
  /** What was asked of the service, by kind of request. */
  exchanges(): readonly ExchangeReport[];
  /** Closes every connection; requests still open fail. */
  close(): Promise<void>;
}

/**
 * Builds the client of the screening service (spec: Endpoints); nothing is sent before the first call.
 *
 * Scoring, status updates and logins have connections of their own to the one origin: slow batches take none from
 * scoring, scoring none from batches, and a login never queues behind the requests that wait for its token.
 */
export function createScreeningApi(settings: ScreeningApiSettings, deps: ScreeningApiDeps): ScreeningApiEdge {
  return new Client(settings, deps);
}

class Client implements ScreeningApiEdge {
  readonly #clock: Clock;
  readonly #scoring: Route;
  readonly #sync: Route;
  readonly #login: Route;
  readonly #session: Session;
  readonly #access: Access;
  readonly #userAgent: string;
  #headers: { readonly token: string; readonly list: string[] } = { token: '', list: [] };

  constructor(settings: ScreeningApiSettings, deps: ScreeningApiDeps) {
    const { clock, draw, emit, fence, credentials } = deps;
    const { origin, basePath } = toEndpoint(settings.baseUrl);
    const route = (method: Route['method'], path: string, connections: number, timeoutMs: number): Route => ({
      method,
      path: `${basePath}${path}`,
      pool: toPool(origin, connections, settings),
      deadlines: new Deadlines(clock, timeoutMs),
      counts: new ExchangeCounts({ method, template: path, origin }),
    });
    this.#clock = clock;
    this.#userAgent = userAgentOf(settings.version);
    this.#scoring = route('POST', TRANSACTION_PATH, settings.scoringConnections, settings.timeoutMs);
    this.#sync = route('PATCH', TRANSACTION_PATH, settings.syncConnections, settings.syncTimeoutMs);
    this.#login = route('POST', '/api/v2/sessions', 1, settings.timeoutMs);
    const request = async (authorization: string): Promise<Exchange> => await this.#requestLogin(authorization);
    this.#session = new Session({ request, credentials, clock, draw, emit });
    this.#access = { session: this.#session, fence, headersOf: (token) => this.#headersOf(token) };
  }

  score(body: Buffer, headers: readonly string[] | null = null, isRepeat = false): Promise<Exchange> {
    return this.#exchange(this.#scoring, body, headers, isRepeat);
  }

  sync(body: Buffer, headers: readonly string[] | null = null, isRepeat = false): Promise<Exchange> {
    return this.#exchange(this.#sync, body, headers, isRepeat);
  }

  async login(): Promise<LoginResult> {
    return await this.#session.login();
  }

  credentialsChanged(): void {
    this.#session.credentialsMayHaveChanged();
  }

  session(): SessionReport {
    return this.#session.report();
  }

  exchanges(): readonly ExchangeReport[] {
    return [this.#scoring, this.#sync, this.#login].map(({ counts }) => counts.report());
  }

  async close(): Promise<void> {
    const routes = [this.#scoring, this.#sync, this.#login];
    await Promise.all(routes.map(async ({ pool }) => await pool.destroy()));
    for (const { deadlines } of routes) deadlines.close();
  }

  #exchange(route: Route, body: Buffer, headers: readonly string[] | null, isRepeat: boolean): Promise<Exchange> {
    return new Promise<Exchange>((resolve) => {
      new Attempt({ route, clock: this.#clock, body, headers, isRepeat, resolve }, this.#access).begin(this.#access);
    });
  }

  /** Spec: basic credentials, no body. */
  async #requestLogin(authorization: string): Promise<Exchange> {
    const headers = ['authorization', authorization, 'accept', 'application/json', 'user-agent', this.#userAgent];
    return await new Promise<Exchange>((resolve) => {
      new Attempt(
        { route: this.#login, clock: this.#clock, body: null, headers: null, isRepeat: false, resolve },
        null,
      ).send(headers);
    });
  }

  /** Made once for each token; undici reads the list and keeps nothing of it. */
  #headersOf(token: string): string[] {
    if (this.#headers.token !== token) this.#headers = { token, list: callHeaders(token, this.#userAgent) };
    return this.#headers.list;
  }
}

/**
 * HTTP/1.1 and one request a connection at a time, so that connections are the ceiling of requests and one slow answer
 * delays no other; undici's own time-outs are off, since its body time-out starts anew with each chunk and ours does not.
 */
function toPool(origin: string, connections: number, { connect, connectTimeoutMs }: ScreeningApiSettings): Pool {
  return new Pool(origin, {
    connections,
    pipelining: 1,
    allowH2: false,
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: connect ?? { timeout: connectTimeoutMs },
  });
}
