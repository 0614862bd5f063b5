import { isUtf8 } from 'node:buffer';
import pLimit, { type LimitFunction } from 'p-limit';
import { type Clock } from '../kernel/clock.ts';
import { Fault } from '../kernel/fault.ts';
import { judgeScoring, type Verdict } from '../screening/verdict.ts';
import { type CallEnd, toSessionEnd } from './breaker.ts';
import { type Gate } from './gate.ts';
import { type Exchange, type ScreeningApi } from './ports.ts';
import { type Tally } from './suspicion.ts';

/** What one scoring attempt came to, judged. */
export type Judged =
  | {
      readonly do: 'done';
      readonly status: number;
      readonly latencyMs: number;
      readonly answer: Readonly<Record<string, unknown>>;
      /** The JSON text that it was parsed from. */
      readonly body: Buffer;
    }
  | (Exclude<Verdict, { readonly do: 'done' }> & {
      /** The service may have carried it out. */
      readonly ambiguous: boolean;
      /** Null: there was no answer. */
      readonly status: number | null;
      readonly latencyMs: number | null;
      /** The beginning of the answer's `error_msg`; null: none. May hold data of the record. */
      readonly errorMessage: string | null;
    })
  | Extract<Exchange, { readonly do: 'no_session' | 'fenced' }>;

/** A judged attempt; `restMs`: how long its record should wait at least before the next one (absent: no matter). */
export type Attempted = Judged & { readonly restMs?: number };

export interface CallerOptions {
  readonly api: Pick<ScreeningApi, 'score'>;
  /** Requests at once. */
  readonly concurrency: number;
  /** Whether calls may go out now. */
  readonly gate: Pick<Gate, 'room' | 'begin' | 'end' | 'delivered'>;
  readonly clock: Clock;
}

/** Answers after which the transaction may be scored all the same: the service, or a proxy, lost the thread while it worked. */
const MAYBE_CARRIED_OUT: ReadonlySet<number> = new Set([500, 502, 504]);
/** Far more than a letter keeps, which masks before it cuts: a cut through a card number would hide it from the mask. */
const ERROR_MESSAGE_CHARACTERS = 4096;

/** Makes scoring attempts, no more than `concurrency` at once and only while the gate lets them out, and judges each. */
export class Caller {
  readonly #options: CallerOptions;
  readonly #limit: LimitFunction;
  /** Made once, not for each record. */
  readonly #send: (body: Buffer, headers: readonly string[] | undefined) => Promise<Exchange>;
  #succeeded = 0;
  #failed = 0;

  constructor(options: CallerOptions) {
    this.#options = options;
    this.#send = (body, headers) => options.api.score(body, headers);
    this.#limit = pLimit(options.concurrency);
  }

  /** How many attempts may start now. */
  free(nowMs: number): number {
    const { concurrency, activeCount, pendingCount } = this.#limit;
    return Math.min(concurrency - activeCount - pendingCount, this.#options.gate.room(nowMs));
  }

  /** Attempts that succeeded (a refusal of the record is one: the service works) and failed, since the start. */
  get tally(): Tally {
    return { succeeded: this.#succeeded, failed: this.#failed };
  }

  /**
   * One attempt, judged; rejects only when there was no room. The limit would queue without bound and out of order, so
   * whoever starts records asks `free` first. `afterAmbiguous`: an earlier attempt of this record may have been carried out.
   * `headers`: those of the record's own, name and value by turns.
   */
  async score(body: Buffer, afterAmbiguous: boolean, headers?: readonly string[]): Promise<Attempted> {
    const { gate, clock } = this.#options;
    const nowMs = clock.monotonicMs();
    if (this.free(nowMs) <= 0)
      throw new Fault('INTERNAL', 'A scoring attempt was started although there was no room for it.');
    const pass = gate.begin(nowMs);
    const exchange = await this.#limit(this.#send, body, headers);
    const judged = judge(exchange, afterAmbiguous);
    const status = exchange.do === 'answer' ? exchange.status : null;
    const afterMs = judged.do === 'retry' ? judged.afterMs : null;
    const end = toCallEnd(judged);
    if (end === 'ok') this.#succeeded += 1;
    else if (end !== 'void') this.#failed += 1;
    const failed = exchange.do === 'failed' ? exchange.why : null;
    const restMs = gate.end(pass, end, { status, afterMs, failed });
    if (judged.do === 'done') gate.delivered(pass, 1);
    return restMs === 0 ? judged : { ...judged, restMs };
  }
}

/** What an attempt says of the service's health. */
function toCallEnd(judged: Judged): CallEnd {
  switch (judged.do) {
    case 'done':
    case 'refuse':
      return 'ok';
    case 'retry':
      return 'failed';
    case 'hold':
      return 'hold';
    case 'fenced':
      return 'void';
    case 'no_session':
      return toSessionEnd(judged.why);
  }
}

function judge(exchange: Exchange, afterAmbiguous: boolean): Judged {
  if (exchange.do === 'failed') return judgeSilence(exchange);
  if (exchange.do !== 'answer') return exchange;
  const { status, retryAfterMs, latencyMs } = exchange;
  const answer = readObject(exchange.body);
  const errorMessage = answer === null ? null : readErrorMessage(answer);
  const verdict = judgeScoring({ status, retryAfterMs, errorMessage, isObject: answer !== null, afterAmbiguous });
  if (verdict.do === 'done') return { do: 'done', status, latencyMs, answer: answer ?? {}, body: exchange.body };
  // A 2xx that we cannot read was a success to the service.
  const ambiguous = MAYBE_CARRIED_OUT.has(status) || (status < 300 && errorMessage === null);
  return { ...verdict, ambiguous, status, latencyMs, errorMessage };
}

function judgeSilence({ why, ambiguous }: Extract<Exchange, { readonly do: 'failed' }>): Judged {
  const rest = { why, ambiguous, status: null, latencyMs: null, errorMessage: null };
  // An answer beyond every bound is no answer of this service: like a body that is no object, it says nothing of the record.
  if (why === 'oversized') return { do: 'hold', ...rest };
  return { do: 'retry', afterMs: null, counts: null, ...rest };
}

/** The JSON object of a body, or null where it is none. RFC 8259 section 8.1 lets a reader pass over a byte order mark. */
function readObject(body: Buffer): Readonly<Record<string, unknown>> | null {
  const hasMark = body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf;
  const text = hasMark ? body.subarray(3) : body;
  if (!isUtf8(text)) return null;
  try {
    const value: unknown = JSON.parse(text.toString('utf8'));
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Readonly<Record<string, unknown>>)
      : null;
  } catch {
    return null;
  }
}

/** `error_msg` that says something, of whatever type; absent, null, false and empty say that there was no error. */
function readErrorMessage({ error_msg: message }: Readonly<Record<string, unknown>>): string | null {
  if (message === undefined || message === null || message === false || message === '') return null;
  return typeof message === 'string' ? message.slice(0, ERROR_MESSAGE_CHARACTERS) : '(not a text)';
}
