import { type Dispatcher, type Pool } from 'undici';
import { type Clock } from '../../kernel/clock.ts';
import { type ExchangeCounts } from '../../kernel/exchange-counts.ts';
import { type Fence } from '../../kernel/fence.ts';
import { type Exchange } from '../../resilience/ports.ts';
import { type Deadlines, type Due } from './deadlines.ts';
import { readRetryAfter } from './retry-after.ts';
import { type Session } from './session.ts';

/** One operation of the service, with connections and deadlines of its own. */
export interface Route {
  readonly method: 'POST' | 'PATCH';
  readonly path: string;
  readonly pool: Pool;
  readonly deadlines: Deadlines;
  readonly counts: ExchangeCounts;
}

/** How an attempt gets the right to be made. */
export interface Access {
  readonly session: Session;
  readonly fence: Fence;
  /** Names and values in turn. */
  readonly headersOf: (token: string) => string[];
}

export interface AttemptParts {
  readonly route: Route;
  readonly clock: Clock;
  readonly body: Buffer | null;
  /** Of this request's own, name and value by turns; null: none. */
  readonly headers: readonly string[] | null;
  /** Whether the same was sent before, by an earlier attempt. */
  readonly isRepeat: boolean;
  readonly resolve: (exchange: Exchange) => void;
}

const BODY_MOST_BYTES = 1_048_576;
const GIVEN_UP = new Error('The request was given up.');
const EMPTY = Buffer.alloc(0);

/**
 * One exchange with the service, from the first byte to the last, within one deadline: it is undici's handler, the entry
 * in the queue of deadlines and the state all in one object, since there is one for each record. Ends exactly once.
 *
 * States: waiting (for a token, or for a connection: nothing was written); started (undici has begun to write: from
 * here on the service may act on it); ended.
 */
export class Attempt implements Dispatcher.DispatchHandler, Due {
  dueMs = 0;
  earlier: Due | null = null;
  later: Due | null = null;
  readonly #parts: AttemptParts;
  readonly #access: Access | null;
  #body: Buffer | null;
  #token = '';
  /** Whether it is sent once more, after a 401. */
  #isRenewed = false;
  #ended = false;
  #controller: Dispatcher.DispatchController | null = null;
  #startedMs = 0;
  #status = 0;
  #retryAfter: string | string[] | undefined = undefined;
  #chunks: Buffer[] = [];
  #bytes = 0;

  /** `access` null: a login, which needs no token and acts for no partition. */
  constructor(parts: AttemptParts, access: Access | null) {
    this.#parts = parts;
    this.#access = access;
    this.#body = parts.body;
    parts.route.deadlines.add(this);
  }

  /** Sends with the session's token, logging in first where there is none. */
  begin(access: Access): void {
    const token = access.session.current();
    if (token === null) void this.#acquire(access);
    else this.#authorized(access, token);
  }

  send(headers: string[]): void {
    const { method, path, pool } = this.#parts.route;
    pool.dispatch({ method, path, headers, body: this.#body }, this);
  }

  /** The deadline: what was not written stays unwritten, what was is cut off. */
  expire(): void {
    this.#giveUp('timeout');
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // Thrown, not aborted: an abort would close the connection, which the next request can use.
    if (this.#ended) throw GIVEN_UP;
    if (this.#access !== null && !this.#access.fence.mayWrite()) {
      this.#end({ do: 'fenced' });
      throw GIVEN_UP;
    }
    this.#controller = controller;
    this.#parts.route.counts.active += 1;
    this.#startedMs = this.#parts.clock.monotonicMs();
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: ResponseHeaders): void {
    this.#status = status;
    this.#retryAfter = headers['retry-after'];
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#bytes += chunk.length;
    if (this.#bytes > BODY_MOST_BYTES) this.#giveUp('oversized');
    else this.#chunks.push(chunk);
  }

  onResponseEnd(): void {
    if (this.#ended) return;
    const { clock } = this.#parts;
    const tookMs = clock.monotonicMs() - this.#startedMs;
    this.#count(this.#status, tookMs);
    if (this.#access !== null) {
      if (this.#status !== 401) this.#access.session.accepted(this.#token, this.#isRenewed, clock.monotonicMs());
      else if (this.#mayRenew(this.#access)) {
        this.#renew(this.#access);
        return;
      }
    }
    this.#end({
      do: 'answer',
      status: this.#status,
      retryAfterMs: this.#retryAfter === undefined ? null : readRetryAfter(this.#retryAfter, clock.nowMs()),
      body: this.#chunks.length === 1 ? (this.#chunks[0] ?? EMPTY) : Buffer.concat(this.#chunks, this.#bytes),
      latencyMs: Math.round(tookMs),
    });
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (this.#controller === null) this.#end({ do: 'failed', why: 'connect', ambiguous: false });
    else this.#end({ do: 'failed', why: isParseError(error) ? 'protocol' : 'reset', ambiguous: true });
  }

  /**
   * A 401 was not carried out, so sending it again doubles nothing. With a fresh token it is an answer like any other,
   * unless that token had ended meanwhile. No token comes without a login, and those are few.
   */
  #mayRenew({ session }: Access): boolean {
    const token = session.refused(this.#token, this.#parts.isRepeat || this.#isRenewed);
    return token === 'old' || (token === 'ended' && !this.#isRenewed);
  }

  #renew(access: Access): void {
    this.#isRenewed = true;
    this.#controller = null;
    this.#chunks = [];
    this.#bytes = 0;
    void this.#acquire(access);
  }

  async #acquire(access: Access): Promise<void> {
    const grant = await access.session.acquire();
    if (this.#ended) return;
    if (grant.do === 'token') this.#authorized(access, grant.token);
    else this.#end(grant);
  }

  #authorized(access: Access, token: string): void {
    if (!access.fence.mayWrite()) {
      this.#end({ do: 'fenced' });
      return;
    }
    this.#token = token;
    const { headers } = this.#parts;
    this.send(headers === null ? access.headersOf(token) : [...access.headersOf(token), ...headers]);
  }

  #giveUp(why: 'timeout' | 'oversized'): void {
    const controller = this.#controller;
    this.#end({ do: 'failed', why, ambiguous: controller !== null });
    controller?.abort(GIVEN_UP);
  }

  /** One request is over: it had this status, or none, for this reason. */
  #count(how: number | string, tookMs: number): void {
    const { counts } = this.#parts.route;
    if (this.#controller !== null) counts.active -= 1;
    counts.ended(how, tookMs);
  }

  /** What was never written has waited since it was made. */
  #countFailed(why: string): void {
    const { clock, route } = this.#parts;
    const sinceMs = this.#controller === null ? this.dueMs - route.deadlines.timeoutMs : this.#startedMs;
    this.#count(why, clock.monotonicMs() - sinceMs);
  }

  #end(exchange: Exchange): void {
    if (this.#ended) return;
    this.#ended = true;
    if (exchange.do === 'failed') this.#countFailed(exchange.why);
    this.#parts.route.deadlines.remove(this);
    // undici may keep this object until its connection is there; the bodies need not stay that long.
    this.#body = null;
    this.#chunks = [];
    this.#parts.resolve(exchange);
  }
}

type ResponseHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** undici sets no code on what its parser refuses. */
function isParseError(error: Error): boolean {
  return error.name === 'HTTPParserError';
}
